"""solve, inv, slogdet and cholesky as the Python array API standard has them, for arrays of NumPy and of any other library.

Raises numpy.linalg.LinAlgError where there is no answer, ValueError and TypeError as `lasolve.solve`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import _arrays, _errors, _solve
from ._core import Factorization

__all__ = ["cholesky", "inv", "slogdet", "solve"]


class SlogdetResult(NamedTuple):
    sign: Any
    logabsdet: Any


def solve(x1: Any, x2: Any, /) -> Any:
    """X with x1 X = x2. x1: (..., n, n); x2: (n,) or (..., n, k)."""
    return _solve.solve(x1, x2)


def inv(x: Any, /) -> Any:
    """The inverse. x: (..., n, n). To solve with a matrix, `solve` it: that is faster and more accurate."""
    x = _arrays.matrix(x)
    return _solve.solve(x, _arrays.like(x, np.eye(x.shape[-1])))


def _each(f, x):
    """f of each matrix of a batch: arrays of the kind of x, of one each that f gives."""
    x = _arrays.matrix(x)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"lasolve: a matrix is to be square, and has the shape {tuple(x.shape)}")
    batch = tuple(x.shape[:-2])
    made = [f(x[(*i, ...)]) for i in np.ndindex(batch)]
    return [_arrays.like(x, np.stack(parts).reshape(batch + np.shape(parts[0]))) for parts in zip(*made)]


def slogdet(x: Any, /) -> SlogdetResult:
    """(sign, logabsdet): det x = sign exp(logabsdet). x: (..., n, n)."""
    return SlogdetResult(*_each(lambda a: Factorization(a, copy=False, check=False, condition=False).logdet, x))


def cholesky(x: Any, /, *, upper: bool = False) -> Any:
    """L with x = L L.T, or, with `upper`, U with x = U.T U, from the same triangle of x. x: (..., n, n), positive definite."""

    def factor(a):
        f = Factorization(a, copy=False, factorization="cholesky", triangle="upper" if upper else "lower", check=False)
        if f.report.outcome != "solved":
            _errors.tell(f.report)
        return (f.U if upper else f.L,)

    return _each(factor, x)[0]
