"""overwrite_a, overwrite_b: what is written to, and what is copied."""

import subprocess
import sys

import numpy as np
import pytest

import lasolve

pytestmark = pytest.mark.skipif(bool(lasolve.backends("cuda")), reason="what is on the host is copied to the device")
rng = np.random.default_rng(5)


def system(n, dtype, order, k=None):
    a = rng.random((n, n)) + n * np.eye(n) / 8
    return np.array(a, dtype, order=order), rng.random(n if k is None else (n, k)).astype(dtype)


def close(a, x, b):
    tolerance = 1e-4 if x.dtype == np.float32 else 1e-10
    np.testing.assert_allclose(a @ x, b, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("n", [1, 3, 50, 300])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("transposed", [False, True])
def test_a_becomes_its_factors(n, dtype, order, transposed):
    a, b = system(n, dtype, order)
    kept, rhs = a.copy(), b.copy()
    x, report = lasolve.solve(a, b, overwrite_a=True, overwrite_b=True, transposed=transposed, return_report=True)
    close(kept.T if transposed else kept, x, rhs)
    assert np.shares_memory(x, b) and x.ctypes.data == b.ctypes.data
    assert report.backward_error is None and any("A was overwritten" in note for note in report.notes)
    factored = a.T if order == "C" else a
    lu, _ = lasolve.lu_factor(kept.T if order == "C" else kept)
    np.testing.assert_allclose(factored, lu, rtol=1e-3 if dtype == np.float32 else 1e-9, atol=1e-5 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("lower", [False, True])
def test_one_triangle_is_read(order, lower):
    a = rng.random((60, 60))
    spd = a @ a.T + np.eye(60)
    part = np.tril if lower else np.triu
    given = np.array(np.where(part(np.ones((60, 60))) == 1, spd, np.nan), order=order)
    b = rng.random((60, 2))
    close(spd, lasolve.solve(given, b, lower=lower, overwrite_a=True, assume_a="pos"), b)
    assert not np.array_equal(part(given), part(spd))
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        lasolve.solve(np.array(-spd, order=order), b, lower=lower, overwrite_a=True, assume_a="pos")


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("n", [1, 3, 60, 300])
def test_cho_factor_overwrites(order, lower, n):
    a = rng.random((n, n))
    spd = a @ a.T + np.eye(n)
    given, b = np.array(spd, order=order), rng.random((n, 2))
    c, its = lasolve.cho_factor(given, lower, overwrite_a=True)
    assert its == lower and np.shares_memory(c, given)
    part = (np.tril if lower else np.triu)(c)
    np.testing.assert_allclose(part @ part.T if lower else part.T @ part, spd, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(spd @ lasolve.cho_solve((c, lower), b), b, atol=1e-7)
    kept = np.array(spd, order=order)
    assert not np.shares_memory(lasolve.cho_factor(kept, lower)[0], kept)
    np.testing.assert_array_equal(kept, spd)


@pytest.mark.parametrize("order", "CF")
def test_blocks_of_larger_arrays(order):
    whole = np.array(rng.random((90, 91)), order=order)
    around = whole.copy()
    a = whole[3:83, 5:85]
    kept, b = a.copy(), rng.random((80, 3))
    close(kept, lasolve.solve(a, b, overwrite_a=True), b)
    around[3:83, 5:85] = a
    np.testing.assert_array_equal(whole, around)
    assert not np.array_equal(a, kept)


def test_what_is_read_again_is_not_overwritten():
    a, b = system(80, np.float64, "F")
    kept = a.copy()
    for more in ({"precision": "fp32"}, {"accuracy": 1e-15}, {"bounds": True}, {"refine": "classical"}, {"residual": "extra"},
                 {"assume_a": "sym"}, {"history": True}):  # fmt: skip
        x, report = lasolve.solve(a, b, overwrite_a=True, return_report=True, **more)
        assert report.backward_error is not None
        np.testing.assert_array_equal(a, kept)
    x = lasolve.solve(a, a[:, 3], overwrite_a=True)  # b is a part of a
    np.testing.assert_allclose(x, np.eye(80)[3], atol=1e-10)
    np.testing.assert_array_equal(a, kept)
    lasolve.solve(np.stack([a, a]), b, overwrite_a=True)
    a.flags.writeable = False
    close(kept, lasolve.solve(a, b, overwrite_a=True), b)
    strided = np.asfortranarray(rng.random((40, 40)))[::2, ::2]
    before = strided.copy()
    close(before, lasolve.solve(strided, b[:20], overwrite_a=True), b[:20])
    np.testing.assert_array_equal(strided, before)


def test_a_singular_matrix_is_named():
    for order, word in (("F", "column"), ("C", "row")):
        a = np.eye(70)
        a[5, 5] = 0
        with pytest.raises(np.linalg.LinAlgError, match=f"{word} 5"):
            lasolve.solve(np.array(a, order=order), np.ones(70), overwrite_a=True)
    with pytest.raises(ValueError, match="(?i)nan|inf"):
        lasolve.solve(np.full((3, 3), np.nan), np.ones(3), overwrite_a=True)


@pytest.mark.parametrize("order", "CF")
def test_a_factorization_in_place(order):
    a, b = system(120, np.float64, order)
    kept = a.copy()
    assert not lasolve.Factorization(a).overwrote_a
    factors = lasolve.Factorization(a, overwrite_a=True, device="cpu")
    assert factors.overwrote_a and not np.array_equal(a, kept)
    for trans, op in (("N", kept), ("T", kept.T)):
        close(op, factors.solve(b, trans=trans), b)
    np.testing.assert_allclose(factors.logdet[1], np.linalg.slogdet(kept)[1])
    assert 0 < factors.rcond < 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_factors_of_scipys_kind_in_place(dtype):
    for n in (1, 3, 50, 300):
        a, b = system(n, dtype, "F", 2)
        kept, rhs = a.copy(), np.array(b, order="F")
        lu, piv = lasolve.lu_factor(a, overwrite_a=True)
        assert lu is a or lu.ctypes.data == a.ctypes.data
        x = lasolve.lu_solve((lu, piv), rhs, overwrite_b=True)
        assert np.shares_memory(x, rhs)
        close(kept, x, b)
        spd = kept @ kept.T + np.eye(n, dtype=dtype)
        column = b[:, 0].copy()
        x = lasolve.cho_solve(lasolve.cho_factor(spd), column, overwrite_b=True)
        assert np.shares_memory(x, column)
        np.testing.assert_allclose(spd @ x, b[:, 0], atol=1e-2 if dtype == np.float32 else 1e-8)
    by_rows, _ = system(20, dtype, "C")
    kept = by_rows.copy()
    lasolve.lu_factor(by_rows, overwrite_a=True)
    np.testing.assert_array_equal(by_rows, kept)


@pytest.mark.parametrize("call, copies", [
    ("lasolve.solve(a, b, overwrite_a=True, overwrite_b=True)", 0), ("lasolve.solve(a.T, b, overwrite_a=True)", 0),
    ("lasolve.lu_factor(a, overwrite_a=True)", 0), ("lasolve.solve(a, b)", 1),
])  # fmt: skip
def test_memory_of_a_is_enough(call, copies):
    """In a process of its own, whose peak is that of this call."""
    text = f"""
import numpy as np, lasolve
def peak():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]) * 1024
n = 2000
lasolve.solve(np.eye(600), np.ones(600))
a, b = np.empty((n, n), order="F"), np.ones(n)
np.random.default_rng(1).random(out=a.T)  # without another array
before = peak()
{call}
print((peak() - before) / a.nbytes)
"""
    grown = float(subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout)
    assert grown < 0.5 if copies == 0 else grown > 0.5
