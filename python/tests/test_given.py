"""What else people give as a matrix: it is taken as SciPy takes it, or refused in a sentence."""

import copy
import decimal
import fractions
import pickle
import warnings

import numpy as np
import pytest

import lasolve

rng = np.random.default_rng(7)
a, b = rng.random((5, 5)) + 5 * np.eye(5), rng.random(5)
lu, c = lasolve.lu_factor(a), lasolve.cho_factor(a @ a.T)
#: Everything that takes a matrix, and everything that takes right-hand sides.
of_matrix = [
    lambda m: lasolve.solve(m, b), lasolve.Factorization, lasolve.lu_factor, lasolve.cho_factor, lasolve.linalg.inv,
    lambda m: lasolve.solve_ex(m, b),
]  # fmt: skip
of_rhs = [
    lambda v: lasolve.solve(a, v), lambda v: lasolve.Factorization(a).solve(v), lambda v: lasolve.lu_solve(lu, v),
    lambda v: lasolve.cho_solve(c, v), lambda v: lasolve.solve_ex(a, v),
]  # fmt: skip


def refused(functions, given, message):
    for function in functions:
        with pytest.raises(TypeError, match=message):
            function(given)


def test_refuses_what_is_no_dense_real_array():
    scipy = pytest.importorskip("scipy.sparse")
    for kind in (scipy.csr_matrix, scipy.csc_array, scipy.coo_array):
        refused(of_matrix, kind(a), "scipy.sparse.linalg")
        refused(of_rhs, kind(b[:, None]), "scipy.sparse.linalg")
    refused(of_matrix, np.ma.masked_less(a, 0.5), "masked")
    refused(of_rhs, np.ma.masked_less(b, 0.5), "masked")
    refused(of_matrix, a + 1j, "complex")
    refused(of_rhs, b + 1j, "complex")
    for one in (fractions.Fraction(1, 2), decimal.Decimal(2), None):
        refused(of_matrix, np.full((5, 5), one, dtype=object), "objects of Python.*astype")
        refused(of_rhs, np.full(5, one, dtype=object), "objects of Python.*astype")


def test_takes_what_has_numbers(tmp_path):
    x = np.linalg.solve(a, b)
    np.save(tmp_path / "a.npy", a)
    for mode in ("r", "c", "r+"):
        mapped = np.load(tmp_path / "a.npy", mmap_mode=mode)
        np.testing.assert_allclose(lasolve.solve(mapped, b), x)
        np.testing.assert_allclose(lasolve.Factorization(mapped).solve(b), x)
    np.testing.assert_allclose(lasolve.solve(np.load(tmp_path / "a.npy", mmap_mode="c"), b, overwrite_a=True), x)
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), a)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, of its matrix
        given = np.matrix(a), np.matrix(b).T
    of_matrices = lasolve.solve(*given), lasolve.Factorization(given[0]).solve(given[1]), lasolve.lu_factor(given[0])[0]
    assert [type(m) for m in of_matrices] == [np.ndarray] * 3
    np.testing.assert_allclose(of_matrices[0], x[:, None])


def test_takes_frames_of_pandas():
    pandas = pytest.importorskip("pandas")
    x = np.linalg.solve(a, b)
    frame, series = pandas.DataFrame(a), pandas.Series(b)
    np.testing.assert_allclose(lasolve.solve(frame, series), x)
    np.testing.assert_allclose(lasolve.Factorization(frame).solve(series), x)
    np.testing.assert_allclose(lasolve.lu_solve(lasolve.lu_factor(frame), series), x)
    with pytest.raises(TypeError, match="astype"):
        lasolve.solve(frame.astype("Float64").astype(object), series)


def test_factors_and_reports_are_not_copied():
    factors, report = lasolve.Factorization(a), lasolve.solve(a, b, return_report=True)[1]
    for function in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match=r"lu_factor\(a\)"):
            function(factors)
        with pytest.raises(TypeError, match=r"to_dict\(\)"):
            function(report)
    assert pickle.loads(pickle.dumps(report.to_dict()))["outcome"] == "solved"
