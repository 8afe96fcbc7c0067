"""lasolve.jax.solve: JAX arrays, with jax.grad from the same factors. It runs as it is called: not within jax.jit."""

import jax
import numpy as np

from . import _solve

__all__ = ["solve"]


@jax.custom_vjp
def solve(a: jax.Array, b: jax.Array) -> jax.Array:
    """x with a x = b, and its gradients by a and b.

    Parameters
    ----------
    a : (n, n) array of float64 or float32
    b : (n,) or (n, k) array

    Returns
    -------
    x : jax.Array

    Raises
    ------
    numpy.linalg.LinAlgError
        `a` is singular.
    """
    return _solve.solve(a, b)


def _forward(a, b):
    factors = _solve.lu_factor(np.asarray(a))
    x = jax.numpy.asarray(_solve.lu_solve(factors, np.asarray(b)))
    return x, (factors, x)


def _backward(kept, gradient):
    """g = a⁻ᵀ gradient is the one by b, −g xᵀ the one by a."""
    factors, x = kept
    g = jax.numpy.asarray(_solve.lu_solve(factors, np.asarray(gradient), trans=1))
    return -(jax.numpy.outer(g, x) if x.ndim == 1 else g @ x.T), g


solve.defvjp(_forward, _backward)
