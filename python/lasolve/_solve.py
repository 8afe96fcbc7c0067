"""solve() and the functions beside it, with the signatures of scipy.linalg."""

import numpy as np

from . import _core

# What SciPy's words for the structure of a matrix ask for: options, and which part of it is read.
_STRUCTURES = {
    "general": ({"factorization": "lu"}, None),
    "symmetric": ({"triangle": ...}, None),
    "hermitian": ({"triangle": ...}, None),
    "positive definite": ({"factorization": "cholesky", "triangle": ...}, None),
    "banded": ({"factorization": "lu"}, None),
    "upper triangular": ({"factorization": "lu"}, np.triu),
    "lower triangular": ({"factorization": "lu"}, np.tril),
    "diagonal": ({"factorization": "lu"}, lambda a: np.triu(np.tril(a))),
    "tridiagonal": ({"factorization": "lu"}, lambda a: np.triu(np.tril(a, 1), -1)),
}
_STRUCTURES |= {s: _STRUCTURES[w] for s, w in
                {"gen": "general", "sym": "symmetric", "her": "hermitian", "pos": "positive definite"}.items()}  # fmt: skip


def _assume(assume_a, lower, a, options):
    """a, and the options, with what is known of its structure."""
    if assume_a not in _STRUCTURES:
        raise ValueError(f"{assume_a} is not a recognized matrix structure: {', '.join(_STRUCTURES)}")
    asked, part = _STRUCTURES[assume_a]
    asked = {k: ("lower" if lower else "upper") if v is ... else v for k, v in asked.items()}
    return (a if part is None else part(a)), asked | options


def solve(a, b, lower=False, overwrite_a=False, overwrite_b=False, check_finite=True, assume_a=None, transposed=False,
          *, gemm="auto", precision=None, accuracy=None, device=None, return_report=False, **options):  # fmt: skip
    """Solve a x = b, and check the solution. The first eight parameters are those of `scipy.linalg.solve`.

    Parameters
    ----------
    a : (..., n, n) array
        Any strides. float64 and float32 are taken as they are, on the host or, by DLPack, on a CUDA device; integers,
        float16 and lists are converted.
    b : (n,) or (..., n, k) array
        Batches are broadcast against those of `a`.
    lower : bool
        Which triangle is read where `assume_a` is "sym", "her" or "pos".
    overwrite_a : bool
        Permission to overwrite `a`, which is not made use of.
    overwrite_b : bool
        Write x to the memory of b, where b is a column, or stored by columns.
    check_finite : bool
        Refuse NaN and infinities.
    assume_a : str, optional
        "gen", "sym", "her", "pos", "diagonal", "tridiagonal", "banded", "upper triangular", "lower triangular", or
        SciPy's longer words for them. None: Cholesky where `a` is symmetric with a positive diagonal, else LU.
    transposed : bool
        Solve a.T x = b.
    gemm : str or function
        The backend that makes the products, or a function that `lasolve.gemm` has made one of.
    precision : {"fp64", "fp32", "tf32", "fp16", "bf16"}, optional
        Of the factors; coarser ones are refined to the accuracy of `a`.
    accuracy : float, optional
        The backward error that x must have. What takes least time to it is chosen.
    device : str, optional
        "cpu", "cuda", "cuda:1". None: where the data are; else CUDA where there is a device.
    return_report : bool
        Return (x, report), of a batch (x, list of reports).
    **options
        What else `lasolve.keywords()` lists: refine, threads, block_size, bounds, condition, progress and so on.

    Returns
    -------
    x : array of the kind, device and shape of b
    report : lasolve.Report

    Raises
    ------
    numpy.linalg.LinAlgError
        `a` is singular, or not positive definite where `assume_a` says so.
    ValueError
        Shapes that do not agree, unknown words, NaN or infinities.
    TypeError
        Complex elements, unknown keywords.

    Warns
    -----
    scipy.linalg.LinAlgWarning
        `a` is singular to the precision, or x misses its accuracy.
    """
    if assume_a is not None:
        a, options = _assume(assume_a, lower, a, options)
    return _core.solve(
        a, b, overwrite_b, check_finite, transposed, gemm, precision, accuracy, device, return_report, options or None
    )
