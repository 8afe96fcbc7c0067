"""lasolve.torch.solve: torch tensors with gradients, from the same factors.

It is registered as the operator lasolve::solve, so torch.compile takes it whole. Its gradients are those of lasolve::solve_with,
which are solves with the same factors again, to any order.
"""

import numpy as np
import torch

from . import _solve
from ._core import Factorization

__all__ = ["solve"]


def _of_each(a, *arrays):
    """The matrices of a, and with each its part of the other arrays, whose batches are the same."""
    for i in np.ndindex(*a.shape[:-2]):
        yield (a[i], *(x[i] for x in arrays))


def _stacked(parts, batch):
    return torch.stack(list(parts)).reshape(*batch, *parts[0].shape)


def _factored(a, b):
    """x, and the factors, of arrays on the host. a: (n, n), b: (n, k)."""
    factors = Factorization(np.asfortranarray(a.numpy()), copy=False, factorization="lu")
    x = factors.solve(b.numpy())  # raises where a is singular
    return tuple(torch.from_numpy(np.ascontiguousarray(part)) for part in (x, factors.lu, factors.pivots))


@torch.library.custom_op("lasolve::solve", mutates_args=())
def _op(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    a, b = a.detach(), b.detach()
    if a.is_cuda:
        lu, pivots = _solve.lu_factor(a)
        return _solve.lu_solve((lu, pivots), b, check_finite=False).contiguous(), lu, pivots
    made = [_factored(*parts) for parts in _of_each(a, b)]
    if not made:
        return _op_fake(a, b)
    return tuple(_stacked(parts, a.shape[:-2]) for parts in zip(*made))


@_op.register_fake
def _op_fake(a, b):
    lu = a.new_empty(a.shape)
    return (
        b.new_empty(b.shape),
        lu.mT if a.is_cuda else lu,  # on a device it is by columns
        torch.empty(a.shape[:-1], dtype=torch.int32, device=a.device),
    )


@torch.library.custom_op("lasolve::solve_with", mutates_args=())
def _with(a: torch.Tensor, lu: torch.Tensor, pivots: torch.Tensor, b: torch.Tensor, transposed: bool) -> torch.Tensor:
    a, lu, pivots, b = (x.detach() for x in (a, lu, pivots, b))
    if a.is_cuda:
        return _solve.lu_solve((lu, pivots), b, int(transposed), check_finite=False).contiguous()
    made = [
        torch.from_numpy(
            np.ascontiguousarray(_solve.lu_solve((lu.numpy(), pivots.numpy()), b.numpy(), int(transposed)))
        )
        for lu, pivots, b in _of_each(lu, pivots, b)
    ]
    return _stacked(made, b.shape[:-2]) if made else b.new_empty(b.shape)


@_with.register_fake
def _with_fake(a, lu, pivots, b, transposed):
    return b.new_empty(b.shape)


def _keep(ctx, a, lu, pivots, x, transposed):
    ctx.save_for_backward(a, lu, pivots, x)
    ctx.transposed = transposed


def _gradients(ctx, gradient):
    """Of x = op(a)⁻¹ b: the one by b is g = op(a)⁻ᵀ gradient, the one by op(a) is −g xᵀ."""
    a, lu, pivots, x = ctx.saved_tensors
    g = _with(a, lu, pivots, gradient, not ctx.transposed)
    by_a = -(x @ g.mT) if ctx.transposed else -(g @ x.mT)
    return by_a, g


def _solve_setup(ctx, inputs, output):
    x, lu, pivots = output
    ctx.mark_non_differentiable(lu, pivots)
    _keep(ctx, inputs[0], lu, pivots, x, False)


def _with_setup(ctx, inputs, output):
    a, lu, pivots, _, transposed = inputs
    _keep(ctx, a, lu, pivots, output, transposed)


def _with_backward(ctx, gradient):
    by_a, by_b = _gradients(ctx, gradient)
    return by_a, None, None, by_b, None


_op.register_autograd(lambda ctx, gradient, *_: _gradients(ctx, gradient), setup_context=_solve_setup)
_with.register_autograd(_with_backward, setup_context=_with_setup)


def solve(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """x with a x = b, and its gradients by a and b, which take two triangular solves each and no second factorization.

    Of tensors on a CUDA device x is not checked by its residual, and nothing warns that `a` is ill-conditioned.

    Parameters
    ----------
    a : (..., n, n) tensor of float64 or float32
    b : (n,) or (..., n, k) tensor of the same type and device
        Batches are broadcast.

    Returns
    -------
    x : tensor

    Raises
    ------
    numpy.linalg.LinAlgError
        `a` is singular.
    ValueError, TypeError
        Shapes or types that do not agree.
    """
    if a.dtype != b.dtype or a.dtype not in (torch.float64, torch.float32):
        raise TypeError(f"lasolve: a and b are to be of one type, float64 or float32, and are {a.dtype} and {b.dtype}")
    is_column = b.ndim == 1
    rhs = b[:, None] if is_column else b
    if a.ndim < 2 or a.shape[-1] != a.shape[-2] or rhs.shape[-2] != a.shape[-1]:
        raise ValueError(f"lasolve: a and b do not go together: their shapes are {tuple(a.shape)} and {tuple(b.shape)}")
    batch = torch.broadcast_shapes(a.shape[:-2], rhs.shape[:-2])
    x = _op(a.expand(*batch, *a.shape[-2:]), rhs.expand(*batch, *rhs.shape[-2:]))[0]
    return x[..., 0] if is_column else x
