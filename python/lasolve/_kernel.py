"""A kernel in C, C++ or CUDA as a GEMM backend: the tool compiles and tries it, the library brings it up to the contract."""

from __future__ import annotations

import os
import pathlib
import tempfile

from . import _core
from ._gemm import Gemm
from ._tool import _run

_SUFFIXES = {"c": ".c", "c++": ".cpp", "cuda": ".cu"}


def kernel(
    source: str | os.PathLike, *, name: str | None = None, language: str | None = None, patience: int = 60
) -> Gemm:
    """Make a GEMM backend of a kernel in C, C++ or CUDA, which is compiled and tried.

    The source includes `lasolve/kernel.h`, which is found, and has a function `lasolve_plugin_kernel()`. That returns a record, with what
    the kernel leaves out of the contract. `python -m lasolve new-kernel mine.c` writes one to begin with.

    Parameters
    ----------
    source : str or path
        A text of several lines, or a file: .c, .cpp, .cu, or a library, .so.
    name : str, optional
        For reports, and wherever a backend has a name. None: the one in the record.
    language : {"c", "c++", "cuda"}, optional
        Of a text. None: "cuda" where it has `__global__` or `LASOLVE_CUDA`, else "c++".
    patience : int
        Seconds, after which a kernel that does not come back from a small product is wrong.

    Returns
    -------
    Gemm
        To be given as gemm=… to `solve` and others; its name can be given as well.

    Raises
    ------
    FileNotFoundError
    ValueError
        It does not compile, or a product is wrong; the message names the element. The name is that of another backend.
    RuntimeError
        There is no compiler, or no CUDA device.
    """
    with tempfile.TemporaryDirectory() as folder:
        library = pathlib.Path(folder) / "kernel.so"
        _run("try-kernel", _file(source, language, pathlib.Path(folder)), "--output", library, "--patience", patience)
        return Gemm(_core.Kernel(str(library), name or ""))


def _file(source, language, folder):
    if isinstance(source, os.PathLike) or "\n" not in source:
        if language is not None:
            raise ValueError("lasolve: language= is of a text; the end of a file's name says its own")
        path = pathlib.Path(source).absolute()
        if not path.is_file():
            raise FileNotFoundError(f"{source}: no such file, and no text of several lines")
        return path
    if language is None:
        language = "cuda" if "__global__" in source or "LASOLVE_CUDA" in source else "c++"
    if language not in _SUFFIXES:
        raise ValueError(f"lasolve: the language '{language}' is unknown; known: {', '.join(_SUFFIXES)}")
    file = folder / ("kernel" + _SUFFIXES[language])
    file.write_text(source)
    return file
