"""Dense linear systems A X = B by blocked LU or Cholesky with iterative refinement, on the CPU and on CUDA.

    x = lasolve.solve(a, b)              # as scipy.linalg.solve; checked; LinAlgError where there is no solution
    factors = lasolve.Factorization(a)   # factored once, solves many
    x, report = lasolve.solve(a, b, precision="fp32", return_report=True)

Arrays are NumPy's, or any that offer DLPack: torch, CuPy, JAX. The answer is of the kind and on the device of b.
"""

try:
    from . import _core
except ImportError as e:
    from pathlib import Path

    if not any(Path(__file__).parent.glob("_core*")):
        raise ImportError("lasolve: this folder has its sources only: run Python elsewhere, where it is installed") from e
    raise

from . import linalg
from ._compare import backends, compare
from ._core import Factorization, Report, keywords, version
from ._gemm import Gemm, gemm
from ._kernel import kernel
from ._solve import cho_factor, cho_solve, lu_factor, lu_solve, solve, solve_ex
from ._table import Table
from ._tool import Plan, generate, plan, read, write

__version__ = version()
__all__ = [
    "Factorization", "Gemm", "Plan", "Report", "Table", "backends", "cho_factor", "cho_solve", "compare", "gemm", "generate",
    "kernel", "keywords", "linalg", "lu_factor", "lu_solve", "plan", "read", "solve", "solve_ex", "write",
]  # fmt: skip
