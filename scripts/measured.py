"""What the JSON of `lasolve compare` says of a row. Older files say less: then there is None, or the one run that they tell of."""
import math

PHASES = {  # as JSON calls them, and as a reader of pictures does
    "gemm": "updates", "panel": "panels", "trsm": "triangular solves", "swap": "row interchanges", "to_device": "copy to device",
    "solve": "solve", "refine": "refinement", "to_host": "copy to host", "other": "other",
}


def name_of(row):
    """The backend, with the options in which rows differ, if there are any."""
    return row.get("name", row["gemm"])


def options_that_differ(rows):
    ours = [r.get("options", {}) for r in rows if not r["peer"]]
    return [o for o in dict.fromkeys(o for options in ours for o in options) if len({options.get(o) for options in ours}) > 1]


def seconds(s):
    if s is None:
        return "–"
    unit, scale = ("µs", 1e6) if s < 1e-3 else ("ms", 1e3) if s < 1 else ("s", 1)
    x = s * scale
    return f"{x:.{2 if x < 10 else 1 if x < 100 else 0}f} {unit}"


def three_digits(x):
    """1.05, 12.5, 126: three digits."""
    return f"{x:.{2 if x < 9.995 else 1 if x < 99.95 else 0}f}"


def quartiles(row):
    """The lower quartile of the times of a row, its median, the upper quartile."""
    runs = sorted(row.get("seconds_of_runs") or [row["seconds"]])
    quarter = len(runs) // 4
    return runs[quarter], row["seconds"], runs[-1 - quarter]


def timed_at(result, n):
    return [r for r in result["rows"] if r["n"] == n and r["passed"] and r["seconds"]]


def reference_of(rows):
    """What the rows of a size are held against: the first that was asked for."""
    return rows[0]


def machine(environment, device):
    """What the rows ran on."""
    if device != "cpu":
        names = dict(enumerate(environment.get("cuda_devices", [])))
        return names.get(int(device.split(":")[1]) if ":" in device else 0, device)
    return f"{environment.get('processor', 'unknown')}, {environment.get('threads', '?')} threads"


def precisions_in(rows):
    return list(dict.fromkeys(r["precision"] for r in rows if not r["peer"])) or list(dict.fromkeys(r["precision"] for r in rows))


def sizes_in(rows):
    sizes = sorted({r["n"] for r in rows})
    return f"n = {sizes[0]}" if len(sizes) == 1 else f"n = {sizes[0]} to {sizes[-1]}"


def where(result, rows):
    """Card, precision and n: a picture says them wherever it is shown."""
    return f"{machine(result['environment'] or {}, rows[0]['device'])}, {', '.join(precisions_in(rows))}, {sizes_in(rows)}"


def exclusive_shares(row):
    """Of each phase, its part of the wall time, so that an instant counts for one phase. None: not known."""
    a = row["attribution"]
    found = a.get("phases_exclusive_seconds") or (None if a["phases_overlap"] else a["phases_busy_seconds"])
    if not found:
        return None
    longest = max(a["wall_seconds"], sum(found.values()))  # of older files: phases without overlap may add up to 102 %
    return {phase: s / longest for phase, s in found.items()}


def trailing_updates(row):
    """Those within panels are many, and small."""
    tasks = (row["attribution"] or {"tasks": []})["tasks"]
    return [t for t in tasks if "k" in t and t["phase"] == "gemm" and t["gflops"] > 0]


def usual_seconds(task):
    """The median of an update's times in all runs."""
    return task.get("seconds_quartiles", [0, task["seconds"], 0])[1]


def quartiles_of_rate(task):
    """The lower quartile of an update's GFLOP/s, the median, the upper quartile."""
    low, median, high = task.get("seconds_quartiles", 3 * [task["seconds"]])
    return [1e-9 * task["flops"] / s for s in (high, median, low)]


def limit_of(result, rows):
    """Operations and bytes a second that the machine allows these rows, all of one device and precision: the best of all that was
    measured, updates as well as large products. None: not measured, or not of one."""
    wanted = {(r["device"], r["precision"]) for r in rows if not r["peer"]}
    limits = [l for l in result.get("limits", []) if wanted == {(l["device"], l["precision"])}]
    if not limits:
        return None
    its = [r for r in result["rows"] if not r["peer"] and (r["device"], r["precision"]) in wanted]
    fastest = max((1e9 * quartiles_of_rate(t)[1] for r in its for t in trailing_updates(r)), default=0)
    return max(limits[0]["flops_per_second"], fastest), limits[0]["bytes_per_second"]


def is_above(one, other):
    """Whether the middle halves of two rows' times do not overlap, and the first is the slower."""
    return quartiles(one)[0] > quartiles(other)[2]


def operations(row):
    return (1 / 3 if row["factorization"] == "cholesky" else 2 / 3) * math.pow(row["n"], 3)
