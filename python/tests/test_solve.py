"""solve(): what it takes, what it gives, and how it says no."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
import warnings

import numpy as np
import pytest

import lasolve

rng = np.random.default_rng(1)
LinAlgError = np.linalg.LinAlgError


def system(n, k=None, dtype=np.float64):
    a = rng.random((n, n)).astype(dtype) + n * np.eye(n, dtype=dtype) / 8
    return a, rng.random(n if k is None else (n, k)).astype(dtype)


def close(a, x, b):
    tolerance = 1e-4 if x.dtype == np.float32 else 1e-11
    np.testing.assert_allclose(a @ x, b, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("n", [1, 2, 31, 130, 300])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", "CF")
def test_solves_both_orders_in_both_types(n, dtype, order):
    a, b = system(n, 3, dtype)
    a = np.array(a, order=order)
    for rhs in (b, b[:, 0], np.asfortranarray(b)):
        x = lasolve.solve(a, rhs)
        assert x.dtype == dtype and x.shape == rhs.shape and isinstance(x, np.ndarray)
        close(a, x, rhs)
        close(a.T, lasolve.solve(a, rhs, transposed=True), rhs)


@pytest.mark.parametrize("view", [
    lambda a: a[::2, ::2], lambda a: a[::-1, :].copy()[::-1], lambda a: a[::-1, ::-1], lambda a: a.T[1::3, 1::3],
    lambda a: np.lib.stride_tricks.as_strided(a, (9, 9), (8 * 41, 8 * 40)),
])  # fmt: skip
def test_takes_any_strides(view):
    a = view(rng.random((40, 40)) + 0)
    a.flags.writeable = False
    b = rng.random((len(a), 8))[:, ::-3]
    close(a, lasolve.solve(a, b), b)
    with pytest.raises(LinAlgError):
        lasolve.solve(np.broadcast_to(1.0, (5, 5)), np.ones(5))


def test_converts_as_scipy_does():
    for dtype, gives in (
        (int, np.float64),
        (np.uint8, np.float64),
        (bool, np.float64),
        (np.float16, np.float32),
        (np.longdouble, np.float64),
    ):
        assert lasolve.solve(np.eye(3, dtype=dtype), np.ones(3, dtype=dtype)).dtype == gives
    assert lasolve.solve(np.eye(2, dtype=np.float32), np.ones(2)).dtype == np.float64
    assert lasolve.solve(np.eye(2, dtype=">f8"), np.ones(2, dtype=">f4")).dtype == np.float64
    np.testing.assert_allclose(lasolve.solve([[2, 0], [0, 4]], [1, 1]), [0.5, 0.25])
    with pytest.raises(TypeError, match="complex"):
        lasolve.solve(np.eye(2) * 1j, np.ones(2))
    with pytest.raises(TypeError, match="real numbers"):
        lasolve.solve([["a"]], [1])
    with pytest.raises(TypeError, match="masked"):
        lasolve.solve(np.ma.masked_equal(np.eye(3), 0), np.ones(3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert type(lasolve.solve(np.matrix(np.eye(3)), np.ones(3))) is np.ndarray
    unaligned = np.frombuffer(b"\0" + np.eye(3).tobytes(), np.uint8)[1:].view(float).reshape(3, 3)
    np.testing.assert_array_equal(lasolve.solve(unaligned, np.ones(3)), np.ones(3))


def test_broadcasts_batches():
    for a_shape, b_shape in (
        ((5, 4, 4), (4,)),
        ((5, 4, 4), (4, 2)),
        ((4, 4), (5, 4, 2)),
        ((2, 1, 4, 4), (3, 4, 2)),
        ((0, 4, 4), (4,)),
    ):
        a, b = rng.random(a_shape) + 4 * np.eye(4), rng.random(b_shape)
        x = lasolve.solve(a, b)
        right = np.linalg.solve(a, b[:, None])[..., 0] if b.ndim == 1 else np.linalg.solve(a, b)
        assert x.shape == right.shape
        np.testing.assert_allclose(x, right, rtol=1e-10)
    a = np.stack([np.eye(3), np.zeros((3, 3))])
    with pytest.raises(LinAlgError, match="matrix 1 of the batch"):
        lasolve.solve(a, np.ones(3))
    x, reports = lasolve.solve(np.stack([np.eye(3)] * 2), np.ones(3), return_report=True)
    assert [r.outcome for r in reports] == ["solved", "solved"]
    with pytest.raises(ValueError, match="batches"):
        lasolve.solve(np.ones((2, 3, 3)), np.ones((3, 3, 1)))


def test_takes_empty_systems():
    assert lasolve.solve(np.empty((0, 0)), np.empty(0)).shape == (0,)
    assert lasolve.solve(np.empty((0, 0)), np.empty((0, 3))).shape == (0, 3)
    assert lasolve.solve(np.eye(2), np.empty((2, 0))).shape == (2, 0)


def test_reads_one_triangle():
    spd = rng.random((20, 20))
    spd = spd @ spd.T + np.eye(20)
    indefinite = spd - 5 * np.eye(20)
    b = rng.random(20)
    for lower, part in ((True, np.tril), (False, np.triu)):
        other = np.where(part(np.ones((20, 20))) == 0, np.nan, 0)
        for word, a in (("pos", spd), ("sym", spd), ("sym", indefinite), ("her", indefinite)):
            for order in "CF":
                x = lasolve.solve(np.array(a + other, order=order), b, lower=lower, assume_a=word)
                np.testing.assert_allclose(x, np.linalg.solve(a, b), rtol=1e-8)
        with pytest.raises(LinAlgError, match="positive definite"):
            lasolve.solve(indefinite, b, lower=lower, assume_a="pos")
    assert lasolve.solve(spd, b, return_report=True)[1].factorization == "cholesky"
    assert lasolve.solve(spd, b, assume_a="gen", return_report=True)[1].factorization == "lu"
    for word, part in (
        ("upper triangular", np.triu),
        ("lower triangular", np.tril),
        ("diagonal", lambda a: np.diag(np.diag(a))),
    ):
        np.testing.assert_allclose(lasolve.solve(spd, b, assume_a=word), np.linalg.solve(part(spd), b), rtol=1e-8)
    with pytest.raises(ValueError, match="zxcv"):
        lasolve.solve(spd, b, assume_a="zxcv")


def test_refuses_in_a_sentence():
    for a, b in (
        (np.ones((2, 3)), np.ones(2)),
        (np.eye(3), np.ones(4)),
        (np.ones((2, 3, 4)), np.ones(3)),
        (np.eye(3), np.ones((2, 3))),
    ):
        with pytest.raises(ValueError, match="lasolve: a "):
            lasolve.solve(a, b)
    a, b = system(4)
    with pytest.raises(LinAlgError, match="singular"):
        lasolve.solve(np.zeros((4, 4)), b)
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="(?i)nan|inf"):
            lasolve.solve(np.where(np.eye(4) > 0, bad, a), b)
        with pytest.raises(ValueError, match="(?i)nan|inf"):
            lasolve.solve(a, b * bad)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lasolve.solve(a, b * np.nan, check_finite=False)
    with pytest.raises(ValueError, match="did you mean 'tiled'"):
        lasolve.solve(a, b, gemm="tild")
    with pytest.raises(ValueError, match="known: .*fp32"):
        lasolve.solve(a, b, precision="fp8")
    with pytest.raises(TypeError, match="no keyword .blocksize.; did you mean .block_size."):
        lasolve.solve(a, b, blocksize=3)
    with pytest.raises(ValueError, match="no device"):
        lasolve.solve(a, b, device="tpu")
    with pytest.raises((ValueError, RuntimeError)):
        lasolve.solve(a, b, device="cuda:97")


def test_warns_of_what_cannot_be_trusted():
    hilbert = 1 / (np.arange(15)[:, None] + np.arange(15) + 1)
    with pytest.warns(Warning, match=r"Ill-conditioned matrix \(rcond=") as told:
        lasolve.solve(hilbert, np.ones(15))
    assert told[0].filename == __file__
    assert told[0].category.__name__ in ("LinAlgWarning", "RuntimeWarning")


def test_overwrites_b_where_it_may():
    a, b = system(6, 2)
    for given in (np.asfortranarray(b), b[:, 0].copy()):
        kept = given.copy()
        x = lasolve.solve(a, given, overwrite_b=True)
        assert np.shares_memory(x, given)
        close(a, x, kept)
    x = lasolve.solve(a.copy(), b, overwrite_a=True, overwrite_b=True)  # rows: not written to
    assert not np.shares_memory(x, b)
    read_only = b[:, 0].copy()
    read_only.flags.writeable = False
    assert not np.shares_memory(lasolve.solve(a, read_only, overwrite_b=True), read_only)


def test_takes_options_and_tells():
    a, b = system(200)
    x, report = lasolve.solve(a, b, gemm="tiled", precision="fp32", block_size=32, threads=1, bounds=True,
                              tuning={"lu_step": 64}, return_report=True)  # fmt: skip
    close(a, x, b)
    assert (report.outcome, report.gemm, report.precision, report.block_size) == ("solved", "tiled", "fp32", 32)
    assert report.refine_iterations > 0 and report.backward_error < 1e-15 and report.forward_error_bound < 1e-9
    assert set(dir(report)) >= {"rcond", "phases", "notes"} and report.to_dict()["n"] == 200
    assert "backward_error" in repr(report) and "<table>" in report._repr_html_()
    with pytest.raises(AttributeError, match="no 'foo'"):
        report.foo
    graded = np.diag([1, 1e-5, 1e3]) + 1e-6
    for when, scaled in (("off", "none"), ("auto", "none"), (False, "none"), ("on", "both"), (True, "both")):
        told = lasolve.solve(graded, np.ones(3), equilibrate=when, return_report=True)[1]
        assert told.equilibration == scaled, when
    with pytest.raises(ValueError, match="equilibrate 'of' is unknown; known: auto, off, on"):
        lasolve.solve(a, b, equilibrate="of")
    assert "gemm" in lasolve.keywords()
    assert lasolve.solve(a, b, accuracy=1e-15, return_report=True)[1].backward_error <= 1e-15


def test_tells_of_its_progress_and_can_be_ended():
    a, b = system(700)
    seen = []
    lasolve.solve(a, b, progress=seen.append, threads=1)
    assert seen == sorted(seen) and seen[-1] == 1

    def end(fraction):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lasolve.solve(a, b, progress=end)


def test_shows_a_bar(capsys, monkeypatch):
    a, b = system(700)
    lasolve.solve(a, b, progress=True)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)  # as if there were none
    lasolve.solve(a, b, progress=True)
    assert "] 100%" in capsys.readouterr().err


def test_leaves_no_memory_behind_and_takes_threads():
    a, b = system(60, 2)
    expected = lasolve.solve(a, b)
    wrong = []

    def work():
        for _ in range(50):
            wrong.extend([] if np.array_equal(lasolve.solve(a, b), expected) else [1])

    threads = [threading.Thread(target=work) for _ in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not wrong
    tracemalloc.start()
    for round in range(2):
        for _ in range(500):
            lasolve.solve(a, b)
            with contextlib.suppress(ValueError):
                lasolve.solve(a, b, gemm="none such")
        now = tracemalloc.get_traced_memory()[0]
        before = now if round == 0 else before
    tracemalloc.stop()
    assert now < before + 20_000


def test_takes_arrays_of_others():
    class Foreign:
        """What only speaks DLPack."""

        def __init__(self, array):
            self.array, self.dtype, self.shape, self.ndim = array, array.dtype, array.shape, array.ndim

        def __dlpack__(self, **keywords):
            return self.array.__dlpack__(**keywords)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    a, b = system(30, 2)
    b.flags.writeable = False
    close(a, lasolve.solve(Foreign(a), b), b)


def test_sparse_matrices_are_refused():
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(TypeError, match="sparse"):
        lasolve.solve(sparse.eye(3), np.ones(3))


def test_jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_default_device", jax.devices("cpu")[0])
    a, b = system(30, 2, np.float32)
    A, B = jax.numpy.asarray(a), jax.numpy.asarray(b)
    x = lasolve.solve(A, B)
    assert isinstance(x, jax.Array) and x.dtype == A.dtype
    close(a, np.asarray(x), b)
    assert isinstance(lasolve.solve(jax.numpy.eye(3, dtype=int), jax.numpy.ones(3)), jax.Array)
    assert isinstance(lasolve.linalg.inv(A), jax.Array)
    from lasolve.jax import solve

    for rhs in (B, B[:, 0]):
        close(a, np.asarray(solve(A, rhs)), np.asarray(rhs))
        ours = jax.grad(lambda a, b: (solve(a, b) ** 2).sum(), argnums=(0, 1))(A, rhs)
        right = jax.grad(lambda a, b: (jax.numpy.linalg.solve(a, b) ** 2).sum(), argnums=(0, 1))(A, rhs)
        for g, r in zip(ours, right):
            np.testing.assert_allclose(np.asarray(g), np.asarray(r), rtol=1e-3, atol=1e-4)


def test_torch():
    torch = pytest.importorskip("torch")
    a, b = system(30, 2)
    for make in (
        lambda x: torch.from_numpy(x),
        lambda x: torch.from_numpy(np.asfortranarray(x)),
        lambda x: torch.from_numpy(x).float(),
    ):
        A, B = make(a), make(b)
        x = lasolve.solve(A, B)
        assert isinstance(x, torch.Tensor) and x.dtype == A.dtype
        torch.testing.assert_close(A @ x, B, rtol=1e-4, atol=1e-4)
        assert lasolve.solve(A.expand(3, -1, -1), B[:, 0]).shape == (3, 30)
    assert lasolve.solve(torch.from_numpy(a).bfloat16(), B).dtype == torch.float32
    with pytest.raises(TypeError, match="lasolve.torch.solve"):
        lasolve.solve(A.requires_grad_(), B)
    with pytest.raises(TypeError, match="complex"):
        lasolve.solve(A.detach().to(torch.complex64), B)


def test_solve_ex_raises_nothing():
    a, b = system(20, 2)
    x, info = lasolve.solve_ex(a, b)
    close(a, x, b)
    assert info.shape == () and info.dtype == np.int64 and info == -1
    x, info = lasolve.solve_ex(np.stack([a, 0 * a, a]), b)
    assert info.tolist() == [-1, 0, -1] and np.isnan(x[1]).all()
    close(a, x[2], b)
    assert lasolve.solve_ex(-np.eye(3), np.ones(3), factorization="cholesky")[1] == 1


def test_says_what_is_wrong_in_words_that_help():
    a, b = np.eye(3), np.ones(3)
    for call, error, words in (
        (lambda: lasolve.solve(a, b, return_reprot=True), TypeError, "did you mean 'return_report'"),
        (lambda: lasolve.solve(a, b, qqq=3), TypeError, "there are gemm, "),
        (lambda: lasolve.solve(np.ones(2), np.ones(2)), ValueError, r"has the shape \(2,\)"),
        (lambda: lasolve.solve(a, np.ones(2)), ValueError, r"\(3, 3\) and \(2,\)"),
        (lambda: lasolve.solve(a, b * 1j), TypeError, "b is complex and a is real"),
        (lambda: lasolve.Factorization(a).solve(b * 1j), TypeError, "b is complex and a is real"),
        (lambda: lasolve.solve(a * 1j, b), TypeError, "complex matrices are not solved yet"),
    ):
        with pytest.raises(error, match=words):
            call()


def test_a_plot_names_the_columns_that_there_are():
    table = lasolve.Table([{"n": 10, "gemm": "blas", "seconds": 1e-6}, {"n": 1000, "gemm": "blas", "seconds": 1.0}])
    with pytest.raises(ValueError, match="there is no column 'gflop'; there are n, gemm, seconds"):
        table.plot("gflop")


def test_the_folder_of_the_sources_says_that_it_is_one(tmp_path):
    shutil.copytree(os.path.dirname(lasolve.__file__), tmp_path / "lasolve", ignore=shutil.ignore_patterns("_core*"))
    run = subprocess.run([sys.executable, "-c", "import lasolve"], cwd=tmp_path, capture_output=True, text=True)
    assert "this folder has its sources only" in run.stderr


def test_ctrl_c_ends_a_batch_of_small_systems():
    a = np.broadcast_to(np.eye(40) + 1, (200000, 40, 40))
    b = np.broadcast_to(np.ones((40, 1)), (200000, 40, 1))
    threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        lasolve.solve(a, b)
        time.sleep(5)  # where the batch was faster
