"""What is given as an array, as the solver takes it: float64 or float32, in memory. Called by _core where it is not yet."""

import sys

import numpy as np


def is_foreign(x):
    """Whether x is an array of another library, which stays what it is."""
    return hasattr(x, "__dlpack__") and not isinstance(x, (np.ndarray, np.generic))


def _dtype_of(*arrays, a_is_real=False):
    """What SciPy would compute in: float32 where all are of at most that, else float64."""
    dtype = np.result_type(*arrays)
    if np.issubdtype(dtype, np.complexfloating):
        if a_is_real or not np.issubdtype(arrays[0], np.complexfloating):
            raise TypeError("lasolve: b is complex and a is real: x is solve(a, b.real) + 1j * solve(a, b.imag)")
        raise TypeError(
            "lasolve: complex matrices are not solved yet: solve [[Re, -Im], [Im, Re]] [Re x, Im x] = [Re b, Im b]"
        )
    if dtype == object:
        raise TypeError("lasolve: elements are objects of Python, as fractions or None: give numbers, as by astype(float)")
    if not (np.issubdtype(dtype, np.number) or dtype == np.bool_):
        raise TypeError(f"lasolve: elements of dtype {dtype} are no real numbers")
    return np.float32 if np.issubdtype(dtype, np.floating) and np.finfo(dtype).bits <= 32 else np.float64


def _numpy(x, dtype):
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError("lasolve: a masked array: what stands for its masked elements? give its filled()")
    x = np.asarray(x)
    return x if x.dtype == dtype and x.dtype.isnative and x.flags.aligned else np.array(x, dtype=dtype)


def library_of(x):
    """The namespace with the functions of an array's library: torch, cupy, jax.numpy."""
    own = getattr(x, "__array_namespace__", None)
    return own() if own else sys.modules[type(x).__module__.partition(".")[0]]


def _numpy_dtype(x):
    """What NumPy calls the elements of an array of any library."""
    if hasattr(x, "tocsr"):
        raise TypeError("lasolve: a sparse matrix: scipy.sparse.linalg solves it; or give its toarray()")
    if not is_foreign(x):
        return np.asarray(x).dtype
    name = str(x.dtype).rpartition(".")[2]
    return np.dtype("float32" if name == "bfloat16" else name)


def _foreign(x, dtype):
    """An array of another library, of another type, with rows or columns in one piece."""
    if getattr(x, "requires_grad", False):
        raise TypeError("lasolve: a tensor that requires a gradient: lasolve.torch.solve has it; or give its detach()")
    library = library_of(x)
    wanted = getattr(library, np.dtype(dtype).name)
    if hasattr(x, "to"):  # torch
        x = x.to(wanted).resolve_neg()
        return x if 1 in x.stride()[-2:] else x.contiguous()
    if str(x.dtype) != np.dtype(dtype).name:  # else astype() may copy
        x = library.astype(x, wanted) if hasattr(library, "astype") else x.astype(wanted)
    if not hasattr(x, "strides") or x.itemsize in x.strides[-2:]:
        return x
    return library.ascontiguousarray(x)


def _converted(*arrays):
    arrays = [x if hasattr(x, "dtype") else np.asarray(x) for x in arrays]
    dtype = _dtype_of(*map(_numpy_dtype, arrays))
    return tuple(_foreign(x, dtype) if is_foreign(x) else _numpy(x, dtype) for x in arrays)


def prepare(a, b):
    """a and b of one type that the solver takes; a matrix, and at least one right-hand side."""
    a, b = _converted(a, b)
    if isinstance(a, np.ndarray):
        if a.ndim == 1 and a.size != 1:
            raise ValueError(f"lasolve: a is to be square, and has the shape {a.shape}")
        a = np.atleast_2d(a)
    if isinstance(b, np.ndarray):
        b = np.atleast_1d(b)
    if a.shape[-2:] == (1, 1) and b.shape[-2 if b.ndim > 1 else 0] != 1:  # a number, as SciPy has it
        n = b.shape[-2 if b.ndim > 1 else 0]
        a = a * np.eye(n, dtype=a.dtype)
    return a, b


def matrix(a):
    return _converted(a)[0]


def matrix_on_host(a):
    if is_foreign(a) and a.__dlpack_device__()[0] not in (1, 3):  # the host's memory, or pinned
        raise TypeError("lasolve: takes arrays on the host, and on a CUDA device those of torch and CuPy")
    return matrix(a)


def rhs(b, is_double):
    _dtype_of(_numpy_dtype(b), a_is_real=True)
    dtype = np.float64 if is_double else np.float32
    return _foreign(b, dtype) if is_foreign(b) else np.atleast_1d(_numpy(b, dtype))


def empty_like(like, shape, is_double):
    """A new array of the kind of `like` with the last two dimensions by columns, which need no copies."""
    name = "float64" if is_double else "float32"
    stored = shape[:-2] + shape[:-3:-1] if len(shape) > 1 else shape
    library = np if isinstance(like, np.ndarray) or not is_foreign(like) else library_of(like)
    if library.__name__ == "torch":
        made = library.empty(stored, dtype=getattr(library, name), device=like.device)
    elif library.__name__ == "cupy":
        with like.device:
            made = library.empty(stored, dtype=name)
    elif library is not np and like.__dlpack_device__()[0] not in (1, 3):
        raise TypeError("lasolve: on a CUDA device arrays of torch and CuPy are solved, which can be written to: give those of the host")
    else:
        made = np.empty(stored, dtype=name)
    return made.swapaxes(-1, -2) if len(shape) > 1 else made


def empty_numbers(like, shape, name):
    """A new array of integers on the device of one of torch or CuPy."""
    library = library_of(like)
    if library.__name__ == "torch":
        return library.empty(shape, dtype=getattr(library, name), device=like.device)
    with like.device:
        return library.empty(shape, dtype=name)


def as_numbers(x, name):
    """An array of torch or CuPy as integers, its last dimension in one piece."""
    library = library_of(x)
    return x.to(getattr(library, name)).contiguous() if library.__name__ == "torch" else library.ascontiguousarray(x, dtype=name)


def is_by_columns(x):
    """Whether a matrix of torch or CuPy is so, with each column in one piece."""
    inner, outer = x.stride() if hasattr(x, "stride") else (s // x.itemsize for s in x.strides)
    m, n = x.shape
    return (m <= 1 or inner == 1) and (n <= 1 or outer >= m)


def finished(like, made):
    """What empty_like() gave, as the kind of `like`: of libraries whose arrays cannot be written to."""
    if not isinstance(made, np.ndarray) or not is_foreign(like):
        return made
    return library_of(like).asarray(made)


def of_kind(like, made):
    """What only speaks DLPack, as an array of the kind of `like`."""
    return library_of(like).from_dlpack(made)


def like(given, array):
    """An array of NumPy's as the kind, type and device of another one."""
    if not is_foreign(given):
        return array.astype(given.dtype)[()]
    return library_of(given).asarray(array, dtype=given.dtype, device=given.device)


def current_stream(array):
    """The CUDA stream that the library of an array gives its work to now."""
    library = library_of(array)
    if library.__name__ == "torch":
        return library.cuda.current_stream(array.device).cuda_stream
    if library.__name__ == "cupy":
        return library.cuda.get_current_stream().ptr
    return 0


def shared_on_cuda(view):
    """A view of NumPy's on a CUDA device, with its strides and all that it is a view of; what copies that back; the stream."""
    base = view if view.base is None else view.base
    offset = (view.ctypes.data - base.ctypes.data) // view.itemsize
    strides = [s // view.itemsize for s in view.strides]
    try:
        import torch

        whole = torch.from_numpy(base).cuda()
        there = whole.as_strided(view.shape, strides, offset)
        stream = torch.cuda.current_stream().cuda_stream
        return there, lambda: np.copyto(base, whole.cpu().numpy()), stream
    except ImportError:
        import cupy

        whole = cupy.asarray(base)
        there = cupy.lib.stride_tricks.as_strided(whole.ravel()[offset:], view.shape, view.strides)
        return there, lambda: np.copyto(base, cupy.asnumpy(whole)), cupy.cuda.get_current_stream().ptr


def on_device(device, *arrays):
    """NumPy's arrays as they are, or, for a CUDA device, as torch's or CuPy's there."""
    if not device.startswith("cuda"):
        return arrays
    try:
        import torch

        return tuple(torch.from_numpy(np.ascontiguousarray(x)).to(device) for x in arrays)
    except ImportError:
        import cupy

        return tuple(map(cupy.asarray, arrays))
