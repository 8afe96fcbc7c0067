"""solve() and the functions beside it, with the signatures of scipy.linalg."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from . import _arrays, _core, _errors, _there
from ._core import Factorization
from ._gemm import Gemm

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


def solve(a: ArrayLike, b: ArrayLike, lower: bool = False, overwrite_a: bool = False, overwrite_b: bool = False,
          check_finite: bool = True, assume_a: str | None = None, transposed: bool = False, *, gemm: str | Gemm = "auto",
          precision: str | None = None, accuracy: float | None = None, device: str | None = None,
          return_report: bool = False, **options: Any) -> Any:  # fmt: skip
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
        Overwrite `a` with its factors, so that no copy of it is made. Honoured where `a` is one writable matrix of float64 or float32, with its
        columns or its rows in one piece, apart from b; and where nothing asks for `a` again: a coarser `precision`, `accuracy`,
        `refine`, `bounds`, or a structure "sym". One on the host is solved there with device="cpu", or where there is no GPU. Then x
        is not checked by its residual, which a note in the report says, and LU is the method but with "pos".
    overwrite_b : bool
        Write x to the memory of b. Honoured where b has the type and the shape of x, and is a column in one piece, or has its columns so.
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
        a, b, overwrite_a, overwrite_b, check_finite, transposed, gemm, precision, accuracy, device, return_report, options or None
    )


def solve_ex(
    a: ArrayLike,
    b: ArrayLike,
    *,
    factorization: str = "lu",
    transposed: bool = False,
    device: str | None = None,
    **options: Any,
) -> tuple[Any, Any]:
    """Solve a x = b without a look at how it ends: `info` says so, and nothing is raised, checked or refined.

    On a CUDA device the call gives its work to the current stream and returns: it does not wait, and `info` is there too.

    Parameters
    ----------
    a : (..., n, n) array; on CUDA (n, n)
    b : (n,) or (..., n, k) array
    factorization : {"lu", "cholesky"}
    transposed : bool
        Solve a.T x = b.
    **options
        As of `solve`.

    Returns
    -------
    x : array of the kind, device and shape of b
        NaN where `a` could not be factored.
    info : array of int64 on the device of b, of the shape of the batch
        -1: solved. Else the column (row-major: the row) of `a` whose pivot is zero, from 0, or the order of the leading
        minor that is not positive.

    Raises
    ------
    ValueError, TypeError
        As `solve`, but NaN and infinities are not looked for.
    """
    options |= {"factorization": factorization, "device": device}
    return _core.solve_ex(a, b, transposed, options)


def _finite(check, *arrays):
    if check and not all(np.isfinite(x).all() for x in arrays):
        raise ValueError("lasolve: array must not contain infs or NaNs")


def _square(a, check_finite):
    a = np.asarray(_arrays.matrix_on_host(a))
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"lasolve: a is to be square, and has the shape {tuple(a.shape)}")
    _finite(check_finite, a)
    return a


def lu_factor(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Any, Any]:
    """P A = L U, as `scipy.linalg.lu_factor` gives it, for `lu_solve`, SciPy's too.

    Parameters
    ----------
    a : (..., n, n) array
        Of torch or CuPy on a CUDA device, its factors are arrays of that library on the same device; the host waits to learn whether there
        are any.
    overwrite_a : bool
        Give lu in the memory of `a`. Honoured where `a` is one writable matrix of float64 or float32 with its columns in one piece.
    check_finite : bool
        Refuse NaN and infinities.

    Returns
    -------
    lu : (..., n, n) array
        L below the diagonal, whose ones are not stored, and U.
    piv : (..., n) array of int32
        Row k was exchanged with row piv[k].

    Raises
    ------
    numpy.linalg.LinAlgError
        `a` is singular. (SciPy warns, and gives factors that cannot be used.)
    ValueError
        `a` is not square, or not finite.
    """
    if _there.is_there(a):
        return _there.lu_factor(a, overwrite_a, check_finite)
    a = _square(a, check_finite)
    if a.ndim > 2:
        return np.vectorize(
            lambda a: lu_factor(a, False, False), otypes=[a.dtype, np.int32], signature="(n,n)->(n,n),(n)"
        )(a)
    if not a.size:
        return np.empty_like(a), np.empty(0, np.int32)
    lu = a if overwrite_a and a.flags.f_contiguous and a.flags.writeable else np.array(a, order="F")
    factors = Factorization(
        lu, copy=False, overwrite_a=True, factorization="lu", check=False, allow_nonfinite=True
    )
    if factors.report.outcome != "solved":
        _errors.tell(factors.report)
    return (lu if factors.overwrote_a else factors.lu), factors.pivots


def _by_columns(b, check_finite, overwrite_b):
    """A copy of b by columns, or b where it may be overwritten and is so."""
    _finite(check_finite, b)
    b = b if b.ndim == 2 else b[:, None]
    return b if overwrite_b and b.flags.f_contiguous and b.flags.writeable else np.array(b, order="F")


def _solve_with(factor, *cores):
    """f(factor, more, b) -> x over batches, with b a vector or a matrix."""

    def over_batches(first, *rest):
        *more, b = rest
        b = np.asarray(_arrays.rhs(b, first.dtype == np.float64))
        if first.ndim == 2 and b.ndim <= 2:
            return factor(first, *more, b)
        column = "" if b.ndim == 1 else ",k"
        return np.vectorize(factor, otypes=[first.dtype], signature=f"{','.join(cores)},(n{column})->(n{column})")(
            first, *more, b
        )

    return over_batches


def lu_solve(
    lu_and_piv: tuple[ArrayLike, ArrayLike], b: ArrayLike, trans: Literal[0, 1, 2, "N", "T", "C"] = 0, overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:  # fmt: skip
    """x with op(A) x = b from `lu_factor`, or SciPy's.

    Parameters
    ----------
    lu_and_piv : tuple of (..., n, n) and (..., n) arrays
        Or of torch or CuPy on a CUDA device, as `lu_factor` or cupyx.scipy.linalg.lu_factor gives them. With check_finite=False the host
        waits for nothing; x is NaN where piv has a number out of range.
    b : (n,), (n, k) or (..., n, k) array, on the device of the factors
    trans : {0, 1, 2, "N", "T", "C"}
        0 or "N": A; else its transpose.
    overwrite_b : bool
        Write x to the memory of b. Honoured where b has the type of the factors, and is a column or has its columns in one piece.
    check_finite : bool
        Refuse NaN and infinities.

    Returns
    -------
    x : array of the shape of b

    Raises
    ------
    ValueError
        Shapes that do not agree, another `trans`, NaN or infinities.
    """
    if _there.is_there(lu_and_piv[0]):
        return _there.lu_solve(lu_and_piv, b, trans, check_finite)
    lu, piv = _arrays.matrix(lu_and_piv[0]), np.asarray(lu_and_piv[1])

    def one(lu, piv, b):
        x = _by_columns(b, check_finite, overwrite_b)
        if len(x) != len(lu):
            raise ValueError(f"lasolve: Shapes of lu {lu.shape} and b {b.shape} are incompatible")
        if x.size:
            _core.lu_solve(
                lu if 1 in (lu.strides[0] // lu.itemsize, lu.strides[1] // lu.itemsize) else lu.copy(),
                piv.tolist(),
                x,
                trans,
            )
        return x.reshape(b.shape)

    _finite(check_finite, lu)
    return _solve_with(one, "(n,n)", "(n)")(lu, piv, b)


def cho_factor(
    a: ArrayLike, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Any, bool]:
    """A = C Cᵀ with lower=True, else A = Cᵀ C, as `scipy.linalg.cho_factor`; one triangle of `a` is read.

    Parameters
    ----------
    a : (..., n, n) array
        Of torch or CuPy on a CUDA device, c is an array of that library on the same device.
    lower : bool
        Which triangle is read, and given.
    overwrite_a : bool
        Give c in the memory of `a`, by rows or by columns as the triangle asks for; the other triangle is then not meaningful. Honoured
        where `a` is one writable matrix of float64 or float32 with its columns or its rows in one piece; on a device of lower triangles by
        columns and of upper ones by rows.
    check_finite : bool
        Refuse NaN and infinities.

    Returns
    -------
    c : (..., n, n) array
        With zeros in the other triangle, unless `a` was overwritten.
    lower : bool

    Raises
    ------
    numpy.linalg.LinAlgError
        `a` is not positive definite.
    ValueError
        `a` is not square, or not finite.
    """
    if _there.is_there(a):
        return _there.cho_factor(a, lower, overwrite_a, check_finite), lower
    a = _square(a, check_finite)
    in_place = overwrite_a and a.ndim == 2

    def one(a):
        if not a.size:
            return np.empty_like(a)
        factors = Factorization(a, copy=False, overwrite_a=in_place, factorization="cholesky", triangle="lower" if lower else "upper",
                                check=False, allow_nonfinite=True)  # fmt: skip
        if factors.report.outcome != "solved":
            _errors.tell(factors.report)
        if factors.overwrote_a:  # by L, as its memory lies by columns
            by_columns = a if a.strides[0] == a.itemsize else a.T
            return by_columns if lower else by_columns.T
        return factors.L if lower else factors.U

    return (one(a) if a.ndim == 2 else np.vectorize(one, otypes=[a.dtype], signature="(n,n)->(n,n)")(a)), lower


def cho_solve(
    c_and_lower: tuple[ArrayLike, bool], b: ArrayLike, overwrite_b: bool = False, check_finite: bool = True
) -> Any:
    """x with A x = b from `cho_factor`, or SciPy's.

    Parameters
    ----------
    c_and_lower : tuple of (..., n, n) array and bool
        Or an array of torch or CuPy on a CUDA device, as for `lu_solve`.
    b : (n,), (n, k) or (..., n, k) array
    overwrite_b : bool
        Write x to the memory of b. Honoured where b has the type of the factors, and is a column or has its columns in one piece.
    check_finite : bool
        Refuse NaN and infinities.

    Returns
    -------
    x : array of the shape of b

    Raises
    ------
    ValueError
        Shapes that do not agree, NaN or infinities.
    """
    if _there.is_there(c_and_lower[0]):
        return _there.cho_solve(c_and_lower, b, check_finite)
    c, lower = _square(c_and_lower[0], False), bool(c_and_lower[1])

    def one(c, b):
        x = _by_columns(b, check_finite, overwrite_b)
        if len(x) != len(c):
            raise ValueError(f"lasolve: incompatible dimensions ({c.shape} and {b.shape})")
        if x.size:
            _core.cho_solve(c, lower, x)
        return x.reshape(b.shape)

    return _solve_with(one, "(n,n)")(c, b)
