"""Files, matrices from formulas, plans and comparisons."""

import shutil
import subprocess
import sys
import xml.dom.minidom

import numpy as np
import pytest

import lasolve
from lasolve import _core


def test_reads_what_it_writes(tmp_path):
    a = np.random.default_rng(4).random((7, 3))
    for suffix in ("mtx", "npy", "csv", "tsv", "txt", "mtx.gz"):
        lasolve.write(tmp_path / f"a.{suffix}", a)
        np.testing.assert_array_equal(lasolve.read(tmp_path / f"a.{suffix}"), a)
    lasolve.write(tmp_path / "b.npy", a[:, 0])
    np.testing.assert_array_equal(lasolve.read(tmp_path / "b.npy"), a[:, 0])
    (tmp_path / "comma.csv").write_text("1,5;2\n3;4\n")
    np.testing.assert_array_equal(lasolve.read(tmp_path / "comma.csv", decimal_comma=True), [[1.5, 2], [3, 4]])


def test_says_where_a_file_is_wrong(tmp_path):
    (tmp_path / "bad.csv").write_text("1,2\n3,x\n")
    with pytest.raises(ValueError, match=r"bad\.csv:2:3"):
        lasolve.read(tmp_path / "bad.csv")
    with pytest.raises(FileNotFoundError, match="none.csv"):
        lasolve.read(tmp_path / "none.csv")
    with pytest.raises(ValueError, match="suffix"):
        lasolve.write(tmp_path / "a.foo", np.eye(2))


@pytest.mark.skipif(not shutil.which("nm"), reason="nm is of the binutils")
def test_shares_no_name_with_other_modules():
    names = subprocess.run(["nm", "-D", "--defined-only", _core.__file__], capture_output=True, text=True, check=True).stdout
    assert [line.split()[-1] for line in names.splitlines()] == ["PyInit__core"]


def test_generates():
    a = lasolve.generate("spd", n=30, seed=3)
    np.testing.assert_array_equal(a, lasolve.generate("spd:n=30,seed=3"))
    np.testing.assert_array_equal(a, a.T)
    with pytest.raises(ValueError, match="no generator 'foo'"):
        lasolve.generate("foo", n=3)


def test_plans():
    plan = lasolve.plan(600, block_size=200, schedule="left-looking")
    assert "left-looking" in repr(plan) and len(plan.tasks) > 5
    assert xml.dom.minidom.parseString(plan.svg).documentElement.tagName == "svg" and plan._repr_svg_() == plan.svg
    with pytest.raises(ValueError, match="no option '--foo'"):
        lasolve.plan(600, foo=1)


def test_compares():
    def mine(A, B, C, alpha, beta):
        C[...] = alpha * (A @ B) + (beta * C if beta else 0)

    table = lasolve.compare(["naive", "tiled", lasolve.gemm(mine)], n=[64, 128], repeat=2)
    assert len(table) == 6 and table["gemm"] == ["naive", "tiled", "mine"] * 2 and set(table["outcome"]) == {"solved"}
    assert table["speedup"][0] == 1 and all(row["seconds"] > 0 for row in table)
    assert repr(table).count("\n") == 6
    assert set(lasolve.backends()) >= {"naive", "tiled", "packed"} and "packed" not in lasolve.backends("cuda")
    with pytest.raises(ValueError, match="tild"):
        lasolve.compare(["tild"], n=64)


def test_compares_recipes():
    table = lasolve.compare(["tiled", "packed"], n=96, repeat=1, schedule=["right-looking", "crout"], block_size=[16, 32], check=True)
    assert table.columns[:4] == ["n", "gemm", "schedule", "block_size"] and "check" not in table.columns
    assert [(row["gemm"], row["schedule"], row["block_size"]) for row in table][1:4] == [
        ("packed", "right-looking", 16), ("tiled", "right-looking", 32), ("packed", "right-looking", 32)]  # fmt: skip
    assert len(table) == 8 and set(table["outcome"]) == {"solved"} and table["speedup"][0] == 1
    with pytest.raises(ValueError, match="Cholesky has no schedule 'crout'"):
        lasolve.compare(["tiled"], n=64, matrix="spd", factorization=["lu", "cholesky"], schedule="crout")


def test_a_table_is_drawn():
    pytest.importorskip("matplotlib")
    table = lasolve.compare(["naive", "tiled"], n=[64, 128], repeat=1)
    assert len(table.plot().lines) == 2
    assert len(lasolve.compare(["tiled", "packed"], n=64, repeat=1, schedule=["left-looking", "crout"]).plot().lines) == 4
    assert "<svg" in table._repr_html_()


def test_a_table_is_one_of_pandas():
    pandas = pytest.importorskip("pandas")
    assert isinstance(lasolve.Table([{"n": 1, "gemm": "a"}]).to_pandas(), pandas.DataFrame)


def test_is_the_tool():
    said = subprocess.run([sys.executable, "-m", "lasolve", "--version"], capture_output=True, text=True)
    assert lasolve.__version__ in said.stdout
