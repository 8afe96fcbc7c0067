"""Factors: SciPy's functions, and Factorization."""

import signal
import threading
import time

import numpy as np
import pytest

import lasolve

rng = np.random.default_rng(2)
LinAlgError = np.linalg.LinAlgError


@pytest.mark.parametrize("n", [0, 1, 3, 40, 200])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", "CF")
def test_lu_is_that_of_getrf(n, dtype, order):
    a = np.array(rng.random((n, n)) + n * np.eye(n) / 20, dtype=dtype, order=order)
    lu, piv = lasolve.lu_factor(a)
    assert lu.dtype == dtype and piv.dtype == np.int32
    pa = a.copy()
    for k, p in enumerate(piv):
        pa[[k, p]] = pa[[p, k]]
    tolerance = 1e-4 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose((np.tril(lu, -1) + np.eye(n)) @ np.triu(lu), pa, atol=n * tolerance)
    for stored in (lu, np.ascontiguousarray(lu), np.asfortranarray(lu)):
        for trans, op in ((0, a), (1, a.T), ("T", a.T)):
            for b in (rng.random(n), rng.random((n, 3))):
                x = lasolve.lu_solve((stored, piv), b, trans)
                np.testing.assert_allclose(op @ x, b, atol=max(n, 1) * 10 * tolerance)


def test_takes_factors_of_scipy():
    linalg = pytest.importorskip("scipy.linalg")
    a = rng.random((50, 50))
    spd, b = a @ a.T + np.eye(50), rng.random((50, 4))
    np.testing.assert_allclose(
        lasolve.lu_solve(linalg.lu_factor(a), b, 1), linalg.lu_solve(linalg.lu_factor(a), b, 1), rtol=1e-8
    )
    np.testing.assert_allclose(linalg.lu_solve(lasolve.lu_factor(a), b), np.linalg.solve(a, b), rtol=1e-8)
    for lower in (False, True):
        np.testing.assert_allclose(
            lasolve.cho_solve(linalg.cho_factor(spd, lower), b), np.linalg.solve(spd, b), rtol=1e-8
        )
        np.testing.assert_allclose(
            linalg.cho_solve(lasolve.cho_factor(spd, lower), b), np.linalg.solve(spd, b), rtol=1e-8
        )


@pytest.mark.parametrize("n", [0, 1, 3, 40, 200])
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("order", "CF")
def test_cholesky_reads_one_triangle(n, lower, order):
    a = rng.random((n, n))
    a = a @ a.T + np.eye(n)
    part = np.tril if lower else np.triu
    c, its = lasolve.cho_factor(np.array(part(a) + np.where(part(np.ones((n, n))) == 0, 7, 0), order=order), lower)
    assert its == lower
    c = part(c)
    np.testing.assert_allclose(c @ c.T if lower else c.T @ c, a, rtol=1e-10)
    b = rng.random((n, 2))
    for stored in (np.ascontiguousarray(c), np.asfortranarray(c)):
        np.testing.assert_allclose(a @ lasolve.cho_solve((stored, lower), b), b, atol=1e-8)


def test_batches_of_factors():
    a = rng.random((2, 3, 5, 5)) + 3 * np.eye(5)
    spd = a @ a.swapaxes(-1, -2)
    for b in (rng.random(5), rng.random((5, 2)), rng.random((2, 3, 5, 2))):
        right = np.linalg.solve(a, b[:, None])[..., 0] if b.ndim == 1 else np.linalg.solve(a, b)
        np.testing.assert_allclose(lasolve.lu_solve(lasolve.lu_factor(a), b), right, rtol=1e-8)
        right = np.linalg.solve(spd, b[:, None])[..., 0] if b.ndim == 1 else np.linalg.solve(spd, b)
        np.testing.assert_allclose(lasolve.cho_solve(lasolve.cho_factor(spd), b), right, rtol=1e-6)


def test_refuses_what_cannot_be_factored():
    with pytest.raises(LinAlgError, match="singular"):
        lasolve.lu_factor(np.zeros((3, 3)))
    with pytest.raises(LinAlgError, match="positive definite"):
        lasolve.cho_factor(-np.eye(3))
    for f in (lasolve.lu_factor, lasolve.cho_factor, lasolve.Factorization):
        with pytest.raises(ValueError, match="square"):
            f(np.ones((2, 3)))
    for f in (lasolve.lu_factor, lasolve.cho_factor):
        with pytest.raises(ValueError, match="infs or NaNs"):
            f(np.eye(3) * np.nan)
    with pytest.raises(ValueError):
        lasolve.lu_solve((np.eye(3), np.arange(3)), np.ones(4))
    with pytest.raises(ValueError, match="pivots"):
        lasolve.lu_solve((np.eye(3), [0, 1, 7]), np.ones(3))
    with pytest.raises(ValueError, match="trans"):
        lasolve.lu_solve((np.eye(3), [0, 1, 2]), np.ones(3), trans=4)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_factorization(dtype):
    a = np.asfortranarray(rng.random((90, 90)), dtype=dtype)
    f = lasolve.Factorization(a, gemm="tiled", block_size=16)
    kept = a.copy()
    a[:] = 0  # a copy was kept
    for b in (rng.random(90), rng.random((90, 3)), rng.random((2, 90, 3))):
        for trans, op in ((0, kept), ("T", kept.T)):
            x = f.solve(b, trans=trans)
            assert x.shape == b.shape and x.dtype == dtype
            np.testing.assert_allclose(op @ x, b, atol=1e-2 if dtype == np.float32 else 1e-10)
    sign, log = np.linalg.slogdet(kept)
    assert f.logdet[0] == sign and abs(f.logdet[1] - log) < 1e-2
    true = 1 / np.linalg.cond(kept.astype(float), 1)
    assert 0.5 * true < f.rcond < 3 * true
    assert f.report.outcome == "solved" and f.report.gemm == "tiled" and "block_size" in repr(f)
    pa = kept.copy()
    for k, p in enumerate(f.pivots):
        pa[[k, p]] = pa[[p, k]]
    np.testing.assert_allclose(f.L @ f.U, pa, atol=1e-4)
    np.testing.assert_array_equal(np.triu(f.lu), f.U)
    with pytest.raises(ValueError, match="rows"):
        f.solve(np.ones(3))
    with pytest.raises(TypeError, match="complex"):
        f.solve(np.ones(90) * 1j)
    with pytest.raises(TypeError, match="no keyword"):
        lasolve.Factorization(kept, foo=1)


def test_a_singular_matrix_has_a_report_and_no_solution():
    f = lasolve.Factorization([[1, 2], [2, 4]])
    assert f.report.outcome == "singular" and f.rcond == 0 and f.logdet == (0, -np.inf)
    with pytest.raises(LinAlgError, match="singular"):
        f.solve([1, 2])


def test_threads_share_a_factorization():
    a = rng.random((100, 100))
    f = lasolve.Factorization(a)
    wrong = []

    def work(seed):
        for b in np.random.default_rng(seed).random((20, 100)):
            if not np.allclose(a @ f.solve(b), b):
                wrong.append(b)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not wrong


def test_a_signal_ends_a_long_factorization():
    a = rng.random((6000, 6000), dtype=np.float32)  # for seconds with this backend
    threading.Thread(target=lambda: (time.sleep(0.2), signal.raise_signal(signal.SIGINT)), daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        lasolve.Factorization(a, gemm="naive", copy=False, check=False, device="cpu")
