"""Arrays in the memory of a CUDA device, of torch and of CuPy. Skipped without one."""

import gc
import os
import shutil
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
        for rhs in (B[:n], B[:n, 1], B[:n, ::2]):
            x = back(lasolve.solve(view, rhs))
            np.testing.assert_allclose(whole @ x, back(rhs), atol=1e-9)
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


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [0, 1, 4, 64, 300, 1000])
def test_factors_are_arrays_there(there, n, dtype):
    to, back = there
    a, b = system(n, 3, dtype)
    A, B = to(a), to(b)
    tolerance = 1e-3 if dtype == np.float32 else 1e-9
    lu, piv = lasolve.lu_factor(A)
    assert type(lu) is type(piv) is type(A) and lu.device == piv.device == A.device and lu.dtype == A.dtype
    assert str(piv.dtype).endswith("int32")
    pa = a.copy()
    for k, p in enumerate(back(piv)):
        pa[[k, p]] = pa[[p, k]]
    np.testing.assert_allclose((np.tril(back(lu), -1) + np.eye(n)) @ np.triu(back(lu)), pa, atol=n * tolerance)
    np.testing.assert_array_equal(back(A), a)
    by_rows = to(np.ascontiguousarray(back(lu)))
    for stored in (lu, by_rows):
        for trans, op in ((0, a), ("T", a.T)):
            for rhs in (B, B[:, 0], B[:, ::2]):
                x = lasolve.lu_solve((stored, piv), rhs, trans)
                assert type(x) is type(B) and x.shape == rhs.shape and x.device == B.device
                np.testing.assert_allclose(op @ back(x), back(rhs), atol=10 * tolerance)
    spd = a @ a.T + np.eye(n, dtype=dtype)
    for lower in (False, True):
        part = np.tril if lower else np.triu
        c, its = lasolve.cho_factor(to(part(spd) + 7 * (part(np.ones_like(spd)) == 0).astype(dtype)), lower)
        assert its == lower and type(c) is type(A) and c.device == A.device
        l = back(c) if lower else back(c).T
        np.testing.assert_allclose(l @ l.T, spd, atol=n * n * tolerance)
        for stored in (c, to(np.ascontiguousarray(back(c)))):
            np.testing.assert_allclose(spd @ back(lasolve.cho_solve((stored, lower), B)), b, atol=100 * tolerance)


def test_factors_in_place_in_batches_and_of_others(there):
    to, back = there
    a, b = system(60, 2)
    by_columns = to(np.ascontiguousarray(a.T)).T
    lu, piv = lasolve.lu_factor(by_columns, overwrite_a=True)
    np.testing.assert_array_equal(back(lu), back(by_columns))
    np.testing.assert_allclose(a @ back(lasolve.lu_solve((lu, piv), to(b))), b, atol=1e-9)
    batch = np.stack([a, a.T, a + np.eye(60)])
    for rhs in (b, b[:, 0], np.stack([b, 2 * b, 3 * b])):
        x = back(lasolve.lu_solve(lasolve.lu_factor(to(batch)), to(rhs)))
        np.testing.assert_allclose((batch @ x[..., None])[..., 0] if rhs.ndim == 1 else batch @ x, np.broadcast_to(rhs, x.shape), atol=1e-9)
    linalg = pytest.importorskip("scipy.linalg")
    lu, piv = linalg.lu_factor(a)
    np.testing.assert_allclose(a @ back(lasolve.lu_solve((to(lu), to(piv)), to(b))), b, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("by_columns", [False, True])
def test_overwrites_a_where_nothing_reads_it_again(there, dtype, by_columns):
    to, back = there
    a, b = system(300, 3, dtype)
    tolerance = 1e-3 if dtype == np.float32 else 1e-10

    def given():
        return to(np.ascontiguousarray(a.T)).T if by_columns else to(a)

    for transposed in (False, True):
        lost, kept = given(), given()
        x, report = lasolve.solve(lost, to(b), overwrite_a=True, transposed=transposed, return_report=True)
        np.testing.assert_allclose((a.T if transposed else a) @ back(x), b, atol=tolerance)
        assert report.backward_error is None and not np.array_equal(back(lost), a)
        lasolve.solve(kept, to(b), overwrite_a=True, bounds=True)
        lasolve.solve(kept, kept[:, 1], overwrite_a=True)  # b is a part of a
        np.testing.assert_array_equal(back(kept), a)
    lost = given()
    factors = lasolve.Factorization(lost, overwrite_a=True)
    np.testing.assert_allclose(a @ back(factors.solve(to(b))), b, atol=tolerance)
    assert not np.array_equal(back(lost), a)


def test_factors_that_are_none(there):
    to, _ = there
    zero = np.zeros((3, 3))
    with pytest.raises(np.linalg.LinAlgError, match="singular: column 0"):
        lasolve.lu_factor(to(zero))
    with pytest.raises(np.linalg.LinAlgError, match="order 1 is not positive.*matrix 1 of the batch"):
        lasolve.cho_factor(to(np.stack([np.eye(3), zero])))
    for function in (lasolve.lu_factor, lasolve.cho_factor):
        with pytest.raises(ValueError, match="infs or NaNs"):
            function(to(np.eye(3) * np.nan))
        with pytest.raises(ValueError, match="square"):
            function(to(np.ones((2, 3))))
    factors = lasolve.lu_factor(to(np.eye(3)))
    with pytest.raises(ValueError, match="incompatible"):
        lasolve.lu_solve(factors, to(np.ones(4)))
    with pytest.raises(ValueError, match="pivots"):
        lasolve.lu_solve((factors[0], factors[1][:2]), to(np.ones(3)))
    with pytest.raises(ValueError, match="different devices"):
        lasolve.lu_solve(factors, np.ones(3))


@pytest.mark.parametrize("factorization", ["lu", "cholesky"])
@pytest.mark.parametrize("n", [5, 300, 2000])
def test_is_captured_in_a_graph(n, factorization):
    torch = _torch()
    a, b = system(n, 2)
    spd = a @ a.T
    A, B = torch.from_numpy(spd).cuda(), torch.from_numpy(b).cuda()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        x, info = lasolve.solve_ex(A, 2 * B, factorization=factorization)
        y = x + 1
    for factor in (1, 3):
        A.copy_(torch.from_numpy(factor * spd))
        B.copy_(torch.from_numpy(factor * b[::-1].copy()))
        graph.replay()
        right, _ = lasolve.solve_ex(A, 2 * B, factorization=factorization)
        assert int(info) == -1 and torch.equal(y, right + 1)
    A.zero_()
    graph.replay()
    assert int(info) >= 0 and bool(x.isnan().all())
    with pytest.raises(ValueError, match="being captured"), torch.cuda.graph(torch.cuda.CUDAGraph()):
        lasolve.solve(A, B)


def test_factors_are_solved_with_in_a_graph():
    torch = _torch()
    a, b = system(200, 2)
    factors = lasolve.lu_factor(torch.from_numpy(a).cuda())
    B = torch.from_numpy(b).cuda()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        x = lasolve.lu_solve(factors, B, check_finite=False)
    for factor in (2, -1):
        B.copy_(torch.from_numpy(factor * b))
        graph.replay()
        np.testing.assert_allclose(a @ x.cpu().numpy(), factor * b, atol=1e-9)


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


KERNEL = """
#include <lasolve/kernel.h>
struct Sizes { lasolve_int m, n, k, ai, al, bl, bj, ldc; };
__global__ void products(Sizes s, double alpha, const double* A, const double* B, double beta, double* C) {
  const lasolve_int i = blockIdx.x * 16 + threadIdx.x, j = blockIdx.y * 16 + threadIdx.y;
  if (i >= s.m || j >= s.n) return;
  double sum = 0;
  for (lasolve_int l = 0; l < s.k; ++l) sum += A[i * s.ai + l * s.al] * B[l * s.bl + j * s.bj];
  double& c = C[i + j * s.ldc];
  c = beta == 0 ? alpha * sum : alpha * sum + beta * c;
}
static void multiply(LASOLVE_KERNEL_PARAMETERS(double)) {
  const Sizes s = {m, n, k, op_a ? lda : 1, op_a ? 1 : lda, op_b ? ldb : 1, op_b ? 1 : ldb, ldc};
  products<<<dim3((m + 15) / 16, (n + 15) / 16), dim3(16, 16), 0, cudaStream_t(data)>>>(s, alpha, A, B, beta, C);
}
const lasolve_kernel* lasolve_plugin_kernel() {
  static lasolve_kernel kernel = LASOLVE_KERNEL_INIT;
  kernel.memory = LASOLVE_CUDA;
  kernel.name = "sixteen";
  kernel.f64 = multiply;
  return &kernel;
}
"""


@pytest.mark.skipif(not shutil.which("nvcc") and not os.path.exists("/usr/local/cuda/bin/nvcc"), reason="there is no nvcc")
def test_a_source_in_cuda_makes_the_products(there):
    to, back = there
    sixteen = lasolve.kernel(KERNEL)
    assert (sixteen.name, sixteen.device, sixteen.precisions) == ("sixteen", "cuda", ("fp64",))
    a, b = system(700)
    x, report = lasolve.solve(to(a), to(b), gemm=sixteen, return_report=True)
    assert report.gemm == "sixteen" and report.device.startswith("cuda")
    np.testing.assert_allclose(a @ back(x), b, atol=1e-9)
    table = lasolve.compare(["cublas", "sixteen"], n=600, device="cuda", repeat=1)
    assert set(table["outcome"]) == {"solved"}
    with pytest.raises(ValueError, match=r"sixteen on cuda.* is wrong in fp64: C\(\d+, \d+\)"):
        lasolve.kernel(KERNEL.replace("alpha * sum :", "alpha * sum + 1 :"))


def test_gradients_from_the_same_factors(monkeypatch):
    torch = _torch()
    from lasolve import _there
    from lasolve.torch import solve

    made = []
    lu_factor = _there.lu_factor
    monkeypatch.setattr(_there, "lu_factor", lambda *a: made.append(1) or lu_factor(*a))
    a, b = (torch.from_numpy(x).cuda().requires_grad_() for x in system(6, 2))
    solve(a, b).sum().backward()
    assert made == [1]
    a, b = (torch.from_numpy(x).cuda().requires_grad_() for x in system(6, 2))
    torch.testing.assert_close(solve(a, b), torch.linalg.solve(a, b))
    assert torch.autograd.gradcheck(solve, (a, b))
    assert torch.autograd.gradgradcheck(solve, (a, b))
    torch.library.opcheck(torch.ops.lasolve.solve.default, (a, b))
    x, lu, pivots = torch.ops.lasolve.solve(a.detach(), b.detach())
    assert lu.is_cuda and pivots.is_cuda
    torch.library.opcheck(torch.ops.lasolve.solve_with.default, (a, lu, pivots, b, True))
    a, b = (torch.from_numpy(np.stack([x, 2 * x])).cuda().requires_grad_() for x in system(4, 2))
    torch.testing.assert_close(solve(a, b), torch.linalg.solve(a, b))
    assert torch.autograd.gradcheck(solve, (a, b))

    def loss(a, b):
        return (solve(a * 2, b) ** 2).sum()

    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(torch.autograd.grad(compiled(a, b), a), torch.autograd.grad(loss(a, b), a))
