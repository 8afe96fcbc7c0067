"""lasolve.torch: gradients, the operator, torch.compile."""

import numpy as np
import pytest

import lasolve

torch = pytest.importorskip("torch")
from lasolve.torch import solve  # noqa: E402

SHAPES = [
    ((4, 4), (4,)),
    ((4, 4), (4, 2)),
    ((3, 4, 4), (4, 2)),
    ((4, 4), (2, 4, 1)),
    ((2, 1, 3, 3), (4, 3, 2)),
    ((2, 3, 3), (3,)),
]


def test_views_of_another_sign_and_where_it_failed():
    a, b = (x.detach() for x in tensors((3, 3), (3,)))
    negated = torch.complex(b, b).conj().imag  # -b, by a flag
    assert negated.is_neg()
    expected = torch.linalg.solve(a, -b)
    torch.testing.assert_close(lasolve.solve(a, negated), expected)
    torch.testing.assert_close(lasolve.solve(a, negated, overwrite_b=True), expected)
    x, info = lasolve.solve_ex(a, b)
    assert isinstance(info, torch.Tensor) and int(info) == -1


def tensors(a_shape, b_shape, dtype=torch.float64):
    generator = torch.Generator().manual_seed(1)
    a = torch.rand(a_shape, dtype=dtype, generator=generator) + 2 * torch.eye(a_shape[-1], dtype=dtype)
    return a.requires_grad_(), torch.rand(b_shape, dtype=dtype, generator=generator).requires_grad_()


@pytest.mark.parametrize("shapes", SHAPES)
def test_gradients_of_both_orders(shapes):
    a, b = tensors(*shapes)
    x = solve(a, b)
    right = torch.linalg.solve(a, b[:, None])[..., 0] if b.ndim == 1 else torch.linalg.solve(a, b)
    torch.testing.assert_close(x, right)
    assert torch.autograd.gradcheck(solve, (a, b))
    assert torch.autograd.gradgradcheck(solve, (a, b))
    assert torch.autograd.gradcheck(lambda a, b: solve(a.mT, b), (a, b))


def test_the_gradient_uses_the_same_factors(monkeypatch):
    made = []
    monkeypatch.setattr("lasolve.torch.Factorization", lambda *a, **k: made.append(1) or lasolve.Factorization(*a, **k))
    a, b = tensors((20, 20), (20, 2))
    solve(a, b).sum().backward()
    assert len(made) == 1


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_the_operator_is_one(dtype):
    a, b = tensors((5, 5), (5, 2), dtype)
    torch.library.opcheck(torch.ops.lasolve.solve.default, (a, b))
    x, lu, pivots = torch.ops.lasolve.solve(a.detach(), b.detach())
    torch.library.opcheck(torch.ops.lasolve.solve_with.default, (a, lu, pivots, b, True))


def test_refuses():
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        solve(torch.zeros(3, 3), torch.ones(3))
    with pytest.raises(TypeError, match="one type"):
        solve(torch.eye(3), torch.ones(3, dtype=torch.float64))
    with pytest.raises(ValueError, match="go together"):
        solve(torch.eye(3), torch.ones(4))


def test_is_compiled_whole():
    a, b = tensors((6, 6), (6, 2))

    def loss(a, b):
        return (solve(a * 2, b) ** 2).sum()

    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(a, b), loss(a, b))
    torch.testing.assert_close(torch.autograd.grad(compiled(a, b), a), torch.autograd.grad(loss(a, b), a))
