"""The page on Python, followed as it stands, and the examples."""

import ast
import contextlib
import io
import json
import pathlib
import re
import warnings

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


def run_cell(text, where, names):
    """As Jupyter does it: what stands last is shown."""
    tree = ast.parse(text)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, where, "exec"), names)
    if last:
        value = eval(compile(ast.Expression(last.value), where, "eval"), names)
        getattr(value, "_repr_html_", value.__repr__)()


@pytest.mark.parametrize("notebook", sorted((root / "examples/python").glob("*.ipynb")), ids=lambda path: path.stem)
def test_the_notebooks_run(notebook, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("agg")
    monkeypatch.chdir(tmp_path)
    cells = [cell for cell in json.loads(notebook.read_text())["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 5 and not any(cell["outputs"] or cell["execution_count"] for cell in cells)
    names = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number, cell in enumerate(cells):
            run_cell("".join(cell["source"]), f"{notebook.name}, cell {number}", names)
    for picture in tmp_path.glob("*.png"):
        assert picture.stat().st_size > 5000
    assert len(list(tmp_path.glob("*.png"))) == 2
