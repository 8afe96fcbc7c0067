"""How outcomes are told: LinAlgError where there is no solution, LinAlgWarning where there is one that should not be trusted."""

import sys
import warnings

from numpy.linalg import LinAlgError

from . import _core


def warning_class():
    """SciPy's, where there is SciPy."""
    try:
        from scipy.linalg import LinAlgWarning
    except ImportError:
        return RuntimeWarning
    return LinAlgWarning


def raise_failure(method, info, batch=None):
    """What tell() raises, of a factorization that only left where it failed."""
    where = "" if batch is None else f", matrix {batch} of the batch"
    or_singular = "" if method == "lu" else ", so that it is indefinite or singular"
    raise LinAlgError(_core.message(method, info) + or_singular + where)


def tell(report, batch=None):
    where = "" if batch is None else f", matrix {batch} of the batch"
    outcome = report.outcome
    if outcome in ("singular", "not_positive_definite", "unsuitable"):
        or_singular = ", so that it is indefinite or singular" if outcome == "not_positive_definite" else ""
        raise LinAlgError(report.message + or_singular + where)
    if report.rcond is not None and outcome in ("solved", "ill_conditioned"):
        text = f"Ill-conditioned matrix (rcond={report.rcond:.6g}): result may not be accurate{where}."
        if outcome == "ill_conditioned":
            text += " No digit of it is certain."
        else:
            text += " Its rows or columns are of very different size; but for that it is well-conditioned."
    else:
        text = report.message + where
    warnings.warn(text, warning_class(), stacklevel=3)
