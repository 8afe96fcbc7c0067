"""What the tool does, in a process: files, matrices from formulas, plans. It is in the package, and runs as `python -m lasolve`."""

from __future__ import annotations

import json
import pathlib
import subprocess
import tempfile
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

PROGRAM = pathlib.Path(__file__).with_name("bin") / "lasolve"
#: What its exit codes mean here; others are faults.
_ERRORS = {2: ValueError, 3: ValueError, 5: ValueError, 6: RuntimeError}


def _run(*arguments):
    """What the tool prints. Its message is the error where it fails."""
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        message = done.stderr.strip().removeprefix("lasolve: ")
        error = (
            FileNotFoundError
            if message.endswith("No such file or directory")
            else _ERRORS.get(done.returncode, RuntimeError)
        )
        raise error(message)
    return done.stdout


def _options(options):
    for name, value in options.items():
        yield from ("--" + name.replace("_", "-"), value)


def _array(*arguments):
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder) / "made.npy"
        _run(*arguments, "--quiet", "--output", made)
        return np.load(made)


def read(path: str | pathlib.Path, *, decimal_comma: bool = False, allow_nonfinite: bool = False) -> np.ndarray:
    """The matrix in a file: Matrix Market, .npy, FILE.npz:NAME, CSV, TSV or text, also compressed by gzip.

    Parameters
    ----------
    path : str or path
    decimal_comma : bool
        Read 1,5 as 1.5 in tables of text.
    allow_nonfinite : bool
        Take NaN and infinities.

    Returns
    -------
    a : (m, n) or (m,) array of float64

    Raises
    ------
    FileNotFoundError
    ValueError
        The file is wrong; the message has its line and column.
    """
    flags = ["--decimal-comma"] * decimal_comma + ["--allow-nonfinite"] * allow_nonfinite
    return _array("convert", path, *flags)


def write(path: str | pathlib.Path, a: ArrayLike) -> None:
    """Write a matrix to a file, which appears when it is complete: its suffix is .mtx, .npy, .csv, .tsv or .txt, also .gz.

    Raises
    ------
    ValueError
        Another suffix, or NaN in a format that has none.
    """
    with tempfile.TemporaryDirectory() as folder:
        given = pathlib.Path(folder) / "given.npy"
        np.save(given, np.asarray(a, dtype=np.float64))
        _run("convert", given, "--allow-nonfinite", "--quiet", "--output", path)


def generate(generator: str, **parameters: Any) -> np.ndarray:
    """A matrix from a formula, the same bits everywhere: generate("uniform", n=1000, seed=1) or generate("uniform:n=1000").

    Parameters
    ----------
    generator : {"uniform", "spd", "randsvd", "diagdom", "growth", "graded", "hilbert", "bem"}
    **parameters
        n, and seed; kappa of randsvd, bits of graded.

    Returns
    -------
    a : (n, n) array of float64, by columns

    Raises
    ------
    ValueError
        There is no such generator, or parameter.
    """
    if parameters:
        generator += ":" + ",".join(f"{name}={value}" for name, value in parameters.items())
    return _array("generate", generator)


class Plan:
    """What a schedule does when: printed a table, in Jupyter a picture."""

    def __init__(self, text: str, svg: str, data: dict):
        self.text, self.svg, self.data = text, svg, data

    @property
    def tasks(self) -> list[dict]:
        """Its tasks, in order."""
        return self.data["tasks"]

    def __repr__(self):
        return self.text

    def _repr_svg_(self):
        return self.svg

    def save(self, path: str | pathlib.Path) -> None:
        """Write the picture to an .svg file."""
        pathlib.Path(path).write_text(self.svg)


def plan(matrix: int | str, **options: Any) -> Plan:
    """The schedule of a factorization, before anything is computed.

    Parameters
    ----------
    matrix : int or str
        n, or a generator such as "spd:n=4096".
    **options
        Of `lasolve plan`: step, lanes, card, cards, and those of a solve that decide on its recipes.

    Returns
    -------
    Plan
        With .svg, .tasks, .data; print it for a table.
    """
    name = f"uniform:n={matrix}" if isinstance(matrix, int) else matrix
    with tempfile.TemporaryDirectory() as folder:
        svg, data = (pathlib.Path(folder) / file for file in ("plan.svg", "plan.json"))
        text = _run("plan", name, *_options(options), "--svg", svg)
        _run("plan", name, *_options(options), "--quiet", "--json", data)
        return Plan(text, svg.read_text(), json.loads(data.read_text()))
