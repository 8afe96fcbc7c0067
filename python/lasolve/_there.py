"""lu_factor and the functions beside it, for arrays of torch and CuPy on a CUDA device, whose factors stay there.

The host waits for one number: whether there are factors, which it has to raise an error for.
"""

import numpy as np

from . import _arrays, _core, _errors

_CUDA = 2  # as DLPack numbers devices


def is_there(x):
    """Whether an array is in the memory of a CUDA device, in a library whose arrays can be written to."""
    if not _arrays.is_foreign(x) or x.__dlpack_device__()[0] != _CUDA:
        return False
    if _arrays.library_of(x).__name__ in ("torch", "cupy"):
        return True
    raise TypeError("lasolve: factors of an array on a CUDA device are made for torch and CuPy; lasolve.Factorization takes others")


def _square(a, check_finite):
    a = _arrays.matrix(a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"lasolve: a is to be square, and has the shape {tuple(a.shape)}")
    _finite(check_finite, a)
    return a


def _finite(check, *arrays):
    if check and not all(bool(_arrays.library_of(x).isfinite(x).all()) for x in arrays):
        raise ValueError("lasolve: array must not contain infs or NaNs")


def _is_double(a):
    return a.itemsize == 8


def _turned(a):
    return a.swapaxes(-1, -2)


def _to_factor(a, overwrite):
    """a by columns, in memory that may be overwritten."""
    if overwrite and a.ndim == 2 and _arrays.is_by_columns(a):
        return a
    made = _arrays.empty_like(a, tuple(a.shape), _is_double(a))
    made[...] = a
    return made


def _factor(a, method, pivots=None):
    """Overwrites the matrices of a, which are by columns."""
    told = [(i, _core.factor_there(a[i], method, None if pivots is None else pivots[i])) for i in np.ndindex(*a.shape[:-2])]
    for batch, (_, info) in enumerate(told):
        if (at := int(info)) >= 0:
            _errors.raise_failure(method, at, batch if a.ndim > 2 else None)


def lu_factor(a, overwrite_a, check_finite):
    a = _square(a, check_finite)
    lu = _to_factor(a, overwrite_a)
    pivots = _arrays.empty_numbers(a, tuple(a.shape[:-1]), "int64")
    if a.shape[-1]:
        _factor(lu, "lu", pivots)
    return lu, _arrays.as_numbers(pivots, "int32")


def cho_factor(a, lower, overwrite_a, check_finite):
    a = _square(a, check_finite)
    stored = a if lower else _turned(a)  # a lower triangle
    c = _to_factor(stored, overwrite_a)
    if a.shape[-1]:
        _factor(c, "cholesky")
    if c is not stored:
        c[...] = _arrays.library_of(c).tril(c)
    return c if lower else _turned(c)


def _solve(factors, method, pivots, b, trans, check_finite):
    b = _arrays.rhs(b, _is_double(factors))
    _finite(check_finite, b)
    is_column = b.ndim == 1
    rhs = b[:, None] if is_column else b
    n = factors.shape[-1]
    if rhs.shape[-2] != n:
        raise ValueError(f"lasolve: Shapes of factors {tuple(factors.shape)} and b {tuple(b.shape)} are incompatible")
    if not is_there(b) or b.device != factors.device:
        raise ValueError("lasolve: the factors and b are on different devices")
    batch = np.broadcast_shapes(factors.shape[:-2], rhs.shape[:-2])
    x = _arrays.empty_like(b, (*batch, *rhs.shape[-2:]), _is_double(b))
    library = _arrays.library_of(b)
    factors = library.broadcast_to(factors, (*batch, n, n))
    rhs = library.broadcast_to(rhs, (*batch, *rhs.shape[-2:]))
    if pivots is not None:
        pivots = library.broadcast_to(pivots, (*batch, n))
    if 0 not in rhs.shape:
        for i in np.ndindex(*batch):
            its = factors[i] if _arrays.is_by_columns(factors[i]) else _to_factor(factors[i], False)
            _core.solve_there(its, method, None if pivots is None else pivots[i], rhs[i], x[i], trans)
    return x[..., 0] if is_column else x


def lu_solve(lu_and_piv, b, trans, check_finite):
    lu = _arrays.matrix(lu_and_piv[0])
    pivots = _arrays.as_numbers(lu_and_piv[1], "int64")
    if tuple(pivots.shape) != tuple(lu.shape[:-1]):
        raise ValueError("lasolve: pivots are n row numbers from 0")
    _finite(check_finite, lu)
    return _solve(lu, "lu", pivots, b, trans, check_finite)


def cho_solve(c_and_lower, b, check_finite):
    c, lower = _arrays.matrix(c_and_lower[0]), bool(c_and_lower[1])
    return _solve(c if lower else _turned(c), "cholesky", None, b, 0, check_finite)
