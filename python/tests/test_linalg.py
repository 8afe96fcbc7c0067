"""lasolve.linalg beside numpy.linalg and array-api-strict's own."""

import numpy as np
import pytest

from lasolve import linalg

rng = np.random.default_rng(5)


def matrices():
    for shape in ((1, 1), (4, 4), (60, 60), (2, 3, 5, 5)):
        for dtype in (np.float64, np.float32):
            a = (rng.random(shape) + shape[-1] * np.eye(shape[-1]) / 4).astype(dtype)
            yield a, (a @ a.swapaxes(-1, -2)).astype(dtype)


def agree(namespace, own):
    def close(x, right):
        assert x.dtype == right.dtype and type(x) is type(right)
        tolerance = 5e-3 if "32" in str(x.dtype) else 1e-9
        np.testing.assert_allclose(np.asarray(x), np.asarray(right), rtol=tolerance, atol=tolerance)

    for general, spd in matrices():
        n = general.shape[-1]
        a, s = namespace.asarray(general), namespace.asarray(spd)
        for shape in ((n,), (n, 2)):
            b = namespace.asarray(rng.random(shape).astype(general.dtype))
            if general.ndim == 2 or len(shape) > 1:  # batches of vectors: libraries differ
                close(linalg.solve(a, b), own.solve(a, b))
        close(linalg.inv(a), own.inv(a))
        for x, right in zip(linalg.slogdet(a), own.slogdet(a)):
            close(x, right)
        close(linalg.cholesky(s), own.cholesky(s))
        close(linalg.cholesky(s, upper=True), own.cholesky(s, upper=True))
    assert float(linalg.slogdet(namespace.zeros((2, 2))).logabsdet) == -np.inf
    for f in (linalg.inv, linalg.cholesky):
        with pytest.raises(np.linalg.LinAlgError):
            f(namespace.zeros((3, 3)))
    for f in (linalg.inv, linalg.cholesky, linalg.slogdet):
        with pytest.raises(ValueError, match="square"):
            f(namespace.ones((3, 2)))


def test_numpy():
    agree(np, np.linalg)


def test_array_api_strict():
    strict = pytest.importorskip("array_api_strict")
    agree(strict, strict.linalg)
