"""A kernel in C, C++ or CUDA as a GEMM backend."""

import shutil

import numpy as np
import pytest

import lasolve

pytestmark = pytest.mark.skipif(not shutil.which("c++") or not shutil.which("cc"), reason="there is no compiler")
rng = np.random.default_rng(6)

RIGHT = """
#include <lasolve/kernel.h>
static void multiply(LASOLVE_KERNEL_PARAMETERS(double)) {
  for (lasolve_int j = 0; j < n; ++j)
    for (lasolve_int l = 0; l < k; ++l)
      for (lasolve_int i = 0; i < m; ++i) C[i + j * ldc] += A[i + l * lda] * B[l + j * ldb];
}
const lasolve_kernel* lasolve_plugin_kernel(void) {
  static lasolve_kernel kernel = LASOLVE_KERNEL_INIT;
  kernel.name = "loops";
  kernel.f64 = multiply;
  kernel.limits = LASOLVE_KERNEL_NO_TRANSPOSES | LASOLVE_KERNEL_ADDS;
  return &kernel;
}
"""


def solved_with(gemm):
    a, b = rng.random((300, 300)), rng.random(300)
    x, report = lasolve.solve(a, b, gemm=gemm, return_report=True)
    np.testing.assert_allclose(a @ x, b, atol=1e-8)
    return report


def test_works_wherever_a_name_does():
    loops = lasolve.kernel(RIGHT)
    assert (loops.name, loops.precisions, loops.device) == ("loops", ("fp64",), "cpu") and "loops" in repr(loops)
    for gemm in (loops, "loops"):
        assert solved_with(gemm).gemm == "loops"
    assert set(lasolve.compare(["tiled", loops], n=64, repeat=1)["outcome"]) == {"solved"}
    with pytest.raises((ValueError, RuntimeError), match="loops"):
        lasolve.solve(np.eye(200, dtype=np.float32), np.ones(200, np.float32), gemm=loops)


def test_made_again_it_takes_the_place_of_the_first():
    first = lasolve.kernel(RIGHT, name="again", language="c")
    second = lasolve.kernel(RIGHT.replace("+= A[i + l * lda] *", "+= 1.0 * A[i + l * lda] *"), name="again")
    assert first is not second and solved_with("again").gemm == "again" and solved_with(first).gemm == "again"


def test_takes_files(tmp_path):
    (tmp_path / "loops.h").write_text(RIGHT)
    (tmp_path / "mine.c").write_text('#include "loops.h"\n')
    for path in (tmp_path / "mine.c", str(tmp_path / "mine.c")):
        assert solved_with(lasolve.kernel(path, name="of a file")).gemm == "of a file"
    with pytest.raises(FileNotFoundError, match="none.c"):
        lasolve.kernel("none.c")


@pytest.mark.parametrize("text, message", [
    (RIGHT.replace("* B[l", "* -B[l"), r"loops on cpu is wrong in fp64: C\(\d+, \d+\) is \S+, not \S+ within"),
    (RIGHT.replace("i < m;", "i < m - (m * n > 4000);"), r"loops on cpu is wrong in fp64: C\(\d+, \d+\)"),
    (RIGHT.replace("C[i + j * ldc] +=", "*(volatile double*)0 ="), "loops on cpu is wrong in fp64: .*SIGSEGV"),
    (RIGHT.replace("lasolve_int j", "lasolve_integer j"), "lasolve_integer"),
    (RIGHT.replace("lasolve_plugin_kernel", "kernel"), r"expected a function lasolve_plugin_kernel\(\), found none"),
])  # fmt: skip
def test_what_is_wrong_is_said(text, message):
    with pytest.raises(ValueError, match=message):
        lasolve.kernel(text)


def test_refuses_words():
    with pytest.raises(ValueError, match="language 'rust' is unknown; known: c, c\\+\\+, cuda"):
        lasolve.kernel(RIGHT, language="rust")
    with pytest.raises(ValueError, match="name 'tiled' is taken"):
        lasolve.kernel(RIGHT, name="tiled")
    with pytest.raises(ValueError, match="name 'tiled' is taken"):
        lasolve.gemm(lambda A, B, C, alpha, beta: None, name="tiled", validate=False)


def test_a_text_of_cuda_is_for_its_compiler(monkeypatch):
    monkeypatch.setenv("CUDACXX", "false")
    for text, language in (("__global__ void f() {}\n", None), ("int f;\n", "cuda")):
        with pytest.raises(ValueError, match="kernel.cu: error: 'false' ended with 1"):
            lasolve.kernel(text, language=language)
