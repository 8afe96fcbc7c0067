"""A function of Python's as a GEMM backend: adapted to the contract, and tried before it is used."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import _arrays, _core

_DTYPES = {"fp64": np.float64, "fp32": np.float32}
_known = {}


def named(name):
    """The kernel of that name which was made here, or None."""
    return _known.get(name)


def gemm(
    function: Callable[..., Any] | None = None, *, name: str | None = None, precisions: Sequence[str] = ("fp64", "fp32"),
    limits: Sequence[str] = (), device: str = "cpu", validate: bool = True,
    trial: bool | None = None,
) -> Any:  # fmt: skip
    """Make a GEMM backend of a function: a decorator.

    The function is called as f(A, B, C, alpha, beta), and writes alpha A B + beta C to C. They are views with strides, which end
    with the call. With device="cuda" it has a
    sixth parameter, the stream (a number, as in torch.cuda.ExternalStream), to which it gives its work without waiting.

    Parameters
    ----------
    name : str, optional
        For reports, and wherever a backend has a name. None: that of the function.
    precisions : sequence of {"fp64", "fp32"}
        What it computes in.
    limits : sequence of str
        What it does not do, so that it is done around it, with copies: "assigns" (it is f(A, B, C), and writes A B to C),
        "adds" (f(A, B, C), and adds A B to C), "no_gaps" (A, B and C lie in one piece), "row_major" (they are row-major).
    device : {"cpu", "cuda"}
        A, B and C are NumPy arrays on the host. On CUDA they are objects with __dlpack__, as torch.from_dlpack takes.
    validate : bool
        Test it first, with many sizes, against NumPy. With device="cuda" that takes a device, and torch or CuPy.
    trial : bool, optional
        The former name of validate. The next release does not take it.

    Returns
    -------
    Gemm
        To be given as gemm=… to `solve` and others; its name can be given as well. It can be called as the function can.

    Raises
    ------
    ValueError
        A product is wrong; the message names the element. Unknown words.
    """
    if trial is not None:
        warnings.warn("lasolve.gemm: trial is validate now, and the next release does not take it", DeprecationWarning, stacklevel=2)
        validate = trial
    if function is None:
        return functools.partial(gemm, name=name, precisions=precisions, limits=limits, device=device, validate=validate)
    name = name or function.__name__
    for word, words in [(p, _DTYPES) for p in precisions] + [(limit, _LIMITS) for limit in limits]:
        if word not in words:
            raise ValueError(f"lasolve: '{word}' is unknown; known: {', '.join(words)}")
    if device not in ("cpu", "cuda"):
        raise ValueError(f"lasolve: the device '{device}' is unknown; known: cpu, cuda")
    if limits and device == "cuda":
        raise ValueError("lasolve: limits are of functions on the host; on CUDA a function meets the contract itself")
    whole = _adapted(function, limits)
    if validate and (device == "cpu" or _core.backends("cuda")):
        for precision in precisions:
            _try(whole if device == "cpu" else _on_cuda(whole), name, _DTYPES[precision])
    return Gemm(
        _core.Kernel(whole, name, "fp64" in precisions, "fp32" in precisions, device == "cuda"), function, tuple(limits)
    )


class Gemm:
    """A backend that is one's own: what `lasolve.gemm` makes of a function, and `lasolve.kernel` of a source."""

    def __init__(self, kernel, function=None, limits=()):
        self.name, self.precisions, self.limits = kernel.name, tuple(kernel.precisions), limits
        self.device = "cuda" if kernel.on_cuda else "cpu"
        if self.name in _core.backends(self.device):
            raise ValueError(f"lasolve: the name '{self.name}' is taken: give name=, as 'my_{self.name}'")
        if function is not None:
            functools.update_wrapper(self, function)
        self._kernel = kernel
        _known[self.name] = self

    def __call__(self, *arguments):
        return self.__wrapped__(*arguments)

    def __repr__(self):
        return f"<lasolve.Gemm {self.name}: {' '.join(self.precisions)} on {self.device}>"


def _into(new):
    """C <- alpha A B + beta C by a function that only makes a product, in new(C)."""

    def adapt(f):
        def whole(A, B, C, alpha, beta, *stream):
            product = new(C)
            f(A, B, product, *stream)
            C[...] = alpha * product + (beta * C if beta != 0 else 0)

        return whole

    return adapt


def _copied(order):
    def adapt(f):
        def whole(A, B, C, *rest):
            own = np.array(C, order=order)
            f(np.asarray(A, order=order), np.asarray(B, order=order), own, *rest)
            C[...] = own

        return whole

    return adapt


# The one that says how C is written is next to the function.
_LIMITS = {"row_major": _copied("C"), "no_gaps": _copied("F"), "assigns": _into(np.empty_like),
           "adds": _into(np.zeros_like)}


def _adapted(function, limits):
    for limit in sorted(limits, key=list(_LIMITS).index):
        function = _LIMITS[limit](function)
    return function


def _on_cuda(f):
    def whole(A, B, C, alpha, beta):
        (A, _, _), (B, _, _), (C, fetch, stream) = map(_arrays.shared_on_cuda, (A, B, C))
        f(A, B, C, alpha, beta, stream)
        fetch()

    return whole


def _try(f, name, dtype):
    """Products of small whole numbers, which are exact, in views with gaps whose bytes are looked at afterwards."""
    random = np.random.default_rng(1)
    sizes = [(1, 1, 1), (2, 3, 4), (31, 33, 32), (33, 31, 1), (64, 64, 64), (129, 65, 127), (257, 8, 96)]
    for m, n, k in sizes:
        for turned_a, turned_b, alpha, beta in ((0, 0, 1, 0), (1, 0, -1, 1), (0, 1, -1, 1), (1, 1, 2, -3)):
            A, B, room = (random.integers(-4, 5, size=s).astype(dtype) for s in ((k, m + 3), (n, k + 2), (n, m + 5)))
            A, B = A[:, :m].T, B[:, :k].T  # by columns, with gaps
            A = np.ascontiguousarray(A) if turned_a else A
            B = np.ascontiguousarray(B) if turned_b else B
            right = room.copy()
            right[:, :m] = (alpha * (A @ B) + beta * room[:, :m].T).T
            if beta == 0:
                room[:, :m] = np.nan  # which is overwritten and not read
            case = f"m={m} n={n} k={k} alpha={alpha} beta={beta}, " + ", ".join(
                f"{x} {'row' if turned else 'column'}-major" for x, turned in (("A", turned_a), ("B", turned_b)))  # fmt: skip
            try:
                f(A, B, room[:, :m].T, alpha, beta)
            except Exception as error:
                raise ValueError(f"lasolve: {name} raises {type(error).__name__} with {case}: {error}") from error
            wrong = np.argwhere(~(room.T == right.T))
            if len(wrong):
                i, j = wrong[0]
                where = f"C[{i}, {j}]" if i < m else f"the element behind column {j}, which is not of C,"
                raise ValueError(
                    f"lasolve: {name} is wrong: {where} is {room[j, i]:g}, not {right[j, i]:g}, with {case}"
                )
