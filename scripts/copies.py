"""Time with and without copies, and where the GPU passes the CPU: what the picture of it draws, says and has in its table."""
import math

from measured import machine, name_of, seconds
from report_tables import table

CPU, CUDA, COPIES = "CPU", "CUDA, without copies", "CUDA, with copies"


def sides(result):
    """The comparison, and what was measured beside it."""
    return [side for side in (result, result.get("beside")) if side]


def rows_of(result, precision):
    """Backends that have a time. Baseline solvers are not among them: how much of a copy is in their times differs."""
    return [r for side in sides(result) for r in side["rows"]
            if r["passed"] and r["seconds"] and not r["peer"] and r["precision"] == precision]


def precisions_in(result):
    return list(dict.fromkeys(r["precision"] for r in result["rows"]))


def fastest(rows, time_of):
    """Of each n, the least time and the backend that has it."""
    best = {}
    for r in rows:
        time = time_of(r)
        if time and (r["n"] not in best or time < best[r["n"]][0]):
            best[r["n"]] = (time, name_of(r))
    return dict(sorted(best.items()))


def curves(result, precision):
    """Those that there are: by name, by n, the time and the backend. Fewer than two are not worth a picture."""
    rows = rows_of(result, precision)
    on_cpu, on_cuda = [r for r in rows if r["device"] == "cpu"], [r for r in rows if r["device"] != "cpu"]
    found = {
        CPU: fastest(on_cpu, lambda r: r["seconds"]),
        CUDA: fastest(on_cuda, lambda r: r["seconds"]),
        COPIES: fastest(on_cuda, lambda r: r.get("median_seconds_from_host")),
    }
    found = {name: points for name, points in found.items() if points}
    return found if len(found) > 1 else {}


def common(one, other):
    return [n for n in one if n in other]


def crossings(one, other):
    """Where `other` becomes the faster, or is so no more: (n, seconds, whether it becomes so). Between neighbouring sizes that both have
    a curve is a straight line of logarithms."""
    found = []
    sizes = common(one, other)
    for before, after in zip(sizes, sizes[1:]):
        ahead = [math.log(one[n][0] / other[n][0]) for n in (before, after)]
        if (ahead[0] > 0) == (ahead[1] > 0):
            continue
        at = ahead[0] / (ahead[0] - ahead[1])
        n = math.exp((1 - at) * math.log(before) + at * math.log(after))
        time = math.exp((1 - at) * math.log(one[before][0]) + at * math.log(one[after][0]))
        found.append((n, time, ahead[1] > 0))
    return found


def about(n):
    """Two digits: sizes are far apart."""
    return f"n ≈ {float(f'{n:.2g}'):.0f}"


def verdict(cpu, name, points):
    """One sentence, of a curve of CUDA beside the CPU's."""
    sizes, found = common(cpu, points), crossings(cpu, points)
    if not sizes:
        return ""
    if found:
        words = [f"{'passes' if passes else 'falls behind'} the CPU at {about(n)}" for n, _, passes in found]
        return f" {name}, the GPU {' and '.join(words)}."
    between = f"n = {sizes[0]}" if len(sizes) == 1 else f"all sizes from n = {sizes[0]} to {sizes[-1]}"
    is_ahead = points[sizes[0]][0] < cpu[sizes[0]][0]
    return f" {name}, the {'GPU' if is_ahead else 'CPU'} is ahead at {between}."


def machines(result):
    """What ran on the CPU, and what on CUDA."""
    names = []
    for side in sides(result):
        device = side["rows"][0]["device"]
        names.append(f"{'CPU' if device == 'cpu' else 'GPU'}: {machine(side['environment'] or {}, device)}.")
    return " ".join(sorted(names))


def tasks_were_timed(result):
    of_cuda = [r for r in result["rows"] if r["device"] != "cpu" and r["attribution"]]
    return any(r["attribution"]["tasks"] for r in of_cuda) or (
        any(r["device"] != "cpu" for r in (result.get("beside") or {"rows": []})["rows"]) and result["beside"]["tasks_were_timed"])


def says(result, lines):
    words = ("The fastest backend of each side at each size. With copies, A begins in pageable memory of the host; without, on the device. "
             "B and X are on the host in both.")
    if CPU in lines:
        for name, points in lines.items():
            if name != CPU:
                words += verdict(lines[CPU], name.split(", ")[1].capitalize(), points)
    elif common(lines[CUDA], lines[COPIES]):
        longer = [lines[COPIES][n][0] / lines[CUDA][n][0] for n in common(lines[CUDA], lines[COPIES])]
        words += f" Copies make a solve {min(longer):.2f} to {max(longer):.2f} times as long."
    if tasks_were_timed(result):
        words += " Tasks were timed meanwhile, which makes small solves on CUDA slower."
    return f"{words} {machines(result)}"


def table_of(lines):
    first = next(iter(lines))
    head = ["n"]
    for name in lines:
        head += [name, "time"] + ([] if name == first else ["CPU / this" if first == CPU else "with / without"])
    body = []
    for n in sorted({n for points in lines.values() for n in points}):
        line = [n]
        for name, points in lines.items():
            time, backend = points.get(n, (None, "–"))
            line += [backend, seconds(time)]
            if name != first:
                base = lines[first].get(n, (None, ""))[0]
                above, below = (base, time) if first == CPU else (time, base)
                line.append(f"{above / below:.2f}" if above and below else "–")
        body.append(line)
    return table("The fastest backends, their times, and the ratios of times.", head, body, left=0)
