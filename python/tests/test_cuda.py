"""Arrays in the memory of a CUDA device, of torch and of CuPy. Skipped without one."""

import gc
import threading

import numpy as np
import pytest

import lasolve

rng = np.random.default_rng(5)


def _torch():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("torch sees no CUDA device")
    return torch


@pytest.fixture(params=["torch", "cupy"])
def there(request):
    """What makes an array of NumPy's one on the device, and back."""
    if request.param == "torch":
        torch = _torch()
        return lambda x: torch.from_numpy(x).cuda(), lambda x: x.cpu().numpy()
    cupy = pytest.importorskip("cupy")
    try:
        cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError:
        pytest.skip("CuPy sees no CUDA device")
    return cupy.asarray, cupy.asnumpy


def system(n, k=None, dtype=np.float64):
    a = rng.random((n, n)) - 0.5 + np.sqrt(n) * np.eye(n)
    return a.astype(dtype), rng.random((n,) if k is None else (n, k)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n, k", [(1, None), (4, None), (64, 3), (300, None), (1000, 17)])
def test_solves_where_the_arrays_are(there, n, k, dtype):
    to, back = there
    a, b = system(n, k, dtype)
    A, B = to(a), to(b)
    x, report = lasolve.solve(A, B, return_report=True)
    assert type(x) is type(A) and x.dtype == A.dtype and x.device == A.device and x.shape == B.shape
    assert report.device.startswith("cuda") and report.outcome == "solved"
    tolerance = 1e-3 if dtype == np.float32 else 1e-10
    np.testing.assert_allclose(a @ back(x), b, atol=tolerance)
    np.testing.assert_allclose(a.T @ back(lasolve.solve(A, B, transposed=True)), b, atol=tolerance)
    np.testing.assert_array_equal(back(A), a)


def test_strides_and_batches(there):
    to, back = there
    a, b = system(100, 4)
    A, B = to(a), to(b)
    for view, whole in ((A.T, a.T), (A[::2, ::2], a[::2, ::2]), (A[10:60, 10:60], a[10:60, 10:60])):
        n = whole.shape[0]
        for sides in (B[:n], B[:n, 1], B[:n, ::2]):
            x = back(lasolve.solve(view, sides))
            np.testing.assert_allclose(whole @ x, back(sides), atol=1e-9)
    batch = np.stack([a, a.T, 2 * a])
    np.testing.assert_allclose(batch @ back(lasolve.solve(to(batch), B)), np.stack([b] * 3), atol=1e-9)
    assert lasolve.solve(A[:0, :0], B[:0]).shape == (0, 4)


def test_factors(there):
    to, back = there
    a, b = system(200, 3)
    factors = lasolve.Factorization(to(a))
    for trans, op in ((0, a), (1, a.T)):
        np.testing.assert_allclose(op @ back(factors.solve(to(b), trans=trans)), b, atol=1e-9)
    sign, logdet = np.linalg.slogdet(a)
    assert factors.logdet == pytest.approx((sign, logdet))
    pa = a.T.copy()  # row-major memory is that of the transpose
    for k, p in enumerate(factors.pivots):
        pa[[k, p]] = pa[[p, k]]
    np.testing.assert_allclose(factors.L @ factors.U, pa, atol=1e-10)
    for function in (lasolve.lu_factor, lasolve.cho_factor):
        with pytest.raises(TypeError, match="lasolve.Factorization takes those on a device"):
            function(to(a))


def test_errors_are_those_of_the_host(there):
    to, _ = there
    with pytest.raises(np.linalg.LinAlgError):
        lasolve.solve(to(np.ones((50, 50))), to(np.ones(50)))
    bad = np.eye(50)
    bad[3, 4] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        lasolve.solve(to(bad), to(np.ones(50)))
    with pytest.raises((ValueError, RuntimeError), match="cuda"):
        lasolve.solve(np.eye(3), np.ones(3), device="cuda:77")


def test_solve_ex_waits_for_nothing(there):
    to, back = there
    a, b = system(300, 2)
    x, info = lasolve.solve_ex(to(a), to(b))
    assert type(info) is type(x) and int(back(info)) == -1
    np.testing.assert_allclose(a @ back(x), b, atol=1e-9)
    a[7] = 0
    assert int(back(lasolve.solve_ex(to(a), to(b))[1])) == 7  # of row-major memory it is the row


def test_works_on_the_current_stream():
    torch = _torch()
    a, b = map(torch.from_numpy, system(500, 2))
    pinned = a.pin_memory(), b.pin_memory()
    for _ in range(5):
        with torch.cuda.stream(torch.cuda.Stream()):
            A, B = (x.cuda(non_blocking=True) for x in pinned)
            A, B = A @ A, 3 * B
            x = lasolve.solve(A, B)
            y = x * 2
        torch.cuda.synchronize()
        torch.testing.assert_close((a @ a) @ (y.cpu() / 2), 3 * b, rtol=1e-8, atol=1e-8)


def test_leaves_no_memory_behind():
    torch = _torch()
    a, b = (torch.from_numpy(x).cuda() for x in system(128))

    def many(calls):
        for _ in range(calls):
            lasolve.solve(a, b)
            lasolve.solve_ex(a, b)
            lasolve.Factorization(a).solve(b)
        gc.collect()
        torch.cuda.synchronize()
        return torch.cuda.mem_get_info()[0]

    before = many(50)
    assert before - many(300) < 1 << 20


def test_threads():
    torch = _torch()
    right = []

    def work(seed):
        made = np.random.default_rng(seed)
        a = made.random((200, 200)) + 20 * np.eye(200)
        A = torch.from_numpy(a).cuda()
        for _ in range(10):
            b = made.random(200)
            right.append(np.allclose(a @ lasolve.solve(A, torch.from_numpy(b).cuda()).cpu().numpy(), b))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert right == [True] * 80


def test_a_function_makes_the_products():
    torch = _torch()

    def product(A, B, C, alpha, beta, stream):
        A, B, C = map(torch.from_dlpack, (A, B, C))
        with torch.cuda.stream(torch.cuda.ExternalStream(stream)):
            C.copy_(alpha * (A @ B) + (beta * C if beta != 0 else 0))

    mine = lasolve.gemm(product, name="torch on the device", device="cuda")
    a, b = system(700)
    x, report = lasolve.solve(torch.from_numpy(a).cuda(), torch.from_numpy(b).cuda(), gemm=mine, return_report=True)
    assert report.gemm == mine.name
    np.testing.assert_allclose(a @ x.cpu().numpy(), b, atol=1e-9)
    with pytest.raises(ValueError, match=r"wrong is wrong: C\["):
        lasolve.gemm(lambda A, B, C, alpha, beta, stream: product(A, B, C, -alpha, beta, stream), name="wrong", device="cuda")


def test_gradients():
    torch = _torch()
    from lasolve.torch import solve

    a, b = (torch.from_numpy(x).cuda().requires_grad_() for x in system(6, 2))
    torch.testing.assert_close(solve(a, b), torch.linalg.solve(a, b))
    assert torch.autograd.gradcheck(solve, (a, b))
    assert torch.autograd.gradgradcheck(solve, (a, b))
    torch.library.opcheck(torch.ops.lasolve.solve.default, (a, b))
