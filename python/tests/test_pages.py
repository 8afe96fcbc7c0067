"""The page on Python, followed as it stands, and the examples."""

import contextlib
import io
import pathlib
import re
import runpy
import sys

import pytest

import lasolve

root = pathlib.Path(__file__).parents[2]


def test_each_member_of_options_is_a_keyword():
    text = (root / "include/lasolve/lasolve.hpp").read_text()
    members = re.search(r"^struct Options \{\n(.*?)^\};", text, re.M | re.S)[1]
    names = re.findall(r"^  [\w:<>(), ]+ (\w+) = .*;", members, re.M)
    assert len(names) > 15 and set(names) - {"cards"} == set(lasolve.keywords())  # device names them


def test_the_page_can_be_followed(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```(python|text)\n(.*?)^```", (root / "docs/use-from-python.md").read_text(), re.M | re.S)
    names, said = {}, io.StringIO()
    for kind, text in blocks:
        if kind == "text":
            assert said.getvalue() == text
            continue
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(text, "use-from-python.md", "exec"), names)
    assert (tmp_path / "compare.png").stat().st_size > 5000 and "<svg" in (tmp_path / "plan.svg").read_text()


@pytest.mark.parametrize("example", sorted((root / "examples/python").glob("*.py")), ids=lambda path: path.stem)
def test_the_examples_run(example, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", [str(example), str(tmp_path)])
    runpy.run_path(str(example), run_name="__main__")
