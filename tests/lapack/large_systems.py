"""Large systems by NumPy and SciPy, whose own tests have none of the size that the drop-in solves by default. See scripts/check-drop-in."""

import numpy as np
import pytest
import scipy.linalg as sl

n = 400
A = np.random.default_rng(1).random((n, n)) + 20 * np.eye(n)
S = A.T @ A
x = np.ones((n, 3))


@pytest.mark.parametrize("dtype, far", [(np.float64, 1e-10), (np.float32, 1e-2), (np.complex128, 1e-10)])
def test_solutions(dtype, far):
    a, s = A.astype(dtype), S.astype(dtype)
    for found in np.linalg.solve(a, a @ x), sl.solve(a, a @ x), sl.lu_solve(sl.lu_factor(a), a @ x), sl.solve(s, s @ x, assume_a="pos"):
        assert np.abs(found - x).max() < far
    assert np.abs(sl.cho_solve(sl.cho_factor(s), s @ x) - x).max() < far


def test_inverses_determinants_and_factors():
    for found in np.linalg.inv(A), sl.inv(A):
        assert np.abs(found @ A - np.eye(n)).max() < 1e-11
    assert np.isclose(np.linalg.det(A / 20), sl.det(A / 20), rtol=1e-10)
    assert np.isclose(np.linalg.slogdet(S)[1], 2 * np.linalg.slogdet(A)[1], rtol=1e-12)
    L, (P, lower, upper) = np.linalg.cholesky(S), sl.lu(A)
    assert np.abs(L @ L.T - S).max() < 1e-9 and np.abs(P @ lower @ upper - A).max() < 1e-11


def test_expert_drivers():
    for solve in sl.lapack.dgesvx, sl.lapack.dposvx:
        *_, found, rcond, ferr, berr, info = solve(S, S @ x)
        assert info == 0 and 0 < rcond < 1 and np.abs(found - x).max() <= 1.1 * ferr.max() and berr.max() < n * 2.3e-16


def test_singular():
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        np.linalg.solve(np.zeros((n, n)), x)
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        np.linalg.cholesky(S - 2e3 * np.eye(n))
