# %% [markdown]
# # How far may an answer be trusted?
# Cells of a notebook, for Jupyter (by jupytext), VS Code and Spyder, and a script: `python examples/python/spectrum_of_trust.py`.
# It solves systems that get worse and worse, compares what the library says of an answer with what is true, and draws both.

# %%
import pathlib
import sys
import warnings

import numpy as np

import lasolve

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
warnings.simplefilter("ignore")  # of what cannot be trusted, which is the point here

# %% [markdown]
# ## Solve: condition numbers from 10 to 10^14

# %%
kappas = 10.0 ** np.arange(1, 15)
true, bound, digits = [], [], []
for kappa in kappas:
    a = lasolve.generate("randsvd", n=200, kappa=kappa)
    x, report = lasolve.solve(a, a @ np.ones(200), bounds=True, condition=True, return_report=True)
    true.append(abs(x - 1).max())
    bound.append(report.forward_error_bound)
    digits.append(report.digits)

# %% [markdown]
# ## Trust: no bound is below the error, and the digits are those that are right, but for one or two

# %%
assert all(b is None or t <= b for t, b in zip(true, bound))
assert all(d is None or t < 10 ** (2 - d) for t, d in zip(true, digits))

# %% [markdown]
# ## Compare: what a product in Python is worth in a solve


# %%
@lasolve.gemm(precisions=["fp64"])
def mine(A, B, C, alpha, beta):
    C[...] = alpha * (A @ B) + (beta * C if beta != 0 else 0)


table = lasolve.compare(["naive", "tiled", mine], n=[128, 256], repeat=3)
print(table)
assert set(table["outcome"]) == {"solved"}

# %% [markdown]
# ## Plot

# %%
try:
    from matplotlib.figure import Figure
except ImportError:
    print("no picture: there is no matplotlib")
else:
    figure = Figure(figsize=(9, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.loglog(kappas, true, "o", label="true")
    known = [(k, b) for k, b in zip(kappas, bound) if b is not None]
    left.loglog(*zip(*known), label="forward_error_bound")
    left.set_xlabel("condition number")
    left.set_ylabel("error of x")
    left.legend()
    table.plot("seconds", ax=right)
    figure.savefig(folder / "trust.png")
