"""The tables of the page: what the rows are, where their time went, and which updates took it."""
import html
from itertools import zip_longest

from measured import PHASES, exclusive_shares, name_of, quartiles, seconds, trailing_updates, usual_seconds


def percent(share, digits=0):
    return "–" if share is None else f"{100 * share:.{digits}f} %"


def error(x):
    return "–" if x is None else f"{x:.1e}"


def table(caption, head, lines, left=1, below=()):
    """The first `left` columns hold words, and so does what is longer than a number. `below`: of each line, what stands under it in the
    width of the table, or nothing."""
    def cell(tag, at, word):
        kind = " class=w" if at < left else " class=l" if len(word) > 24 else ""
        return f"<{tag}{kind}>{html.escape(word)}</{tag}>"
    def cells(tag, words):
        return "".join(cell(tag, at, str(word)) for at, word in enumerate(words))
    def under(words):
        return f'<tr><td></td><td class="l" colspan="{len(head) - 1}">{html.escape(words)}</td></tr>' if words else ""
    body = "".join(f"<tr{' class=o' if words else ''}>{cells('td', line)}</tr>{under(words)}"
                   for line, words in zip_longest(lines, below, fillvalue=""))
    return (f'<div class="scroll"><table><caption>{html.escape(caption)}</caption><thead><tr>{cells("th", head)}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>")


def columns(rows, wanted):
    """A head and lines. Of each column its title, what a row has there, and perhaps whether there is such a column."""
    shown = [entry[:2] for entry in wanted if len(entry) < 3 or entry[2]]
    return [title for title, _ in shown], [[value(r) for _, value in shown] for r in rows]


def verdict(row):
    change = row["against_baseline"]
    if not change:
        return row.get("why_no_verdict") or ("not in it" if row["passed"] else "–")
    if change["high"] is None:
        return "UNKNOWN (too few runs)"
    word, visible = change["verdict"], change.get("visible") or 0
    hides = word in ("same", "unknown") and visible > 0.03  # files of before say "same" of both
    words = f"{'UNKNOWN' if hides else word.upper()} {100 * change['shift']:+.1f} % ({100 * change['low']:+.1f} .. {100 * change['high']:+.1f})"
    return words + (f"; noise hides up to {100 * visible:+.0f} %" if hides else "")


def several_precisions(rows):
    return len({r["precision"] for r in rows}) > 1


def more_on(row):
    """Why it failed, and what is to be known of it."""
    other = row.get("fell_back_to")
    return "; ".join([row["failure"]] * (not row["passed"]) + [f"solved by {other} factors, since coarser ones did not do"] * bool(other)
                     + row.get("warnings", []))


def table_of_rows(rows, copies):
    def any_has(name):
        return any(r.get(name) for r in rows)
    def spread(r):
        low, median, high = quartiles(r)
        return f"{100 * (high - low) / median:.1f} %"
    several = several_precisions(rows)
    timed = lambda f: lambda r: f(r) if r["seconds"] is not None else "–"
    head, lines = columns(rows, [
        ("backend", name_of),
        ("precision", lambda r: r["precision"], several),
        ("n", lambda r: r["n"]),
        ("result", lambda r: "PASS" if r["passed"] else "FAIL"),
        ("solve", timed(lambda r: seconds(r["seconds"]))),
        ("from host", lambda r: seconds(r.get("median_seconds_from_host")), copies),
        ("speed-up", lambda r: f"{r['speedup_over_first']:.2f} ×" if r["speedup_over_first"] else "–"),
        ("spread", timed(spread)),
        ("runs", lambda r: r["runs"]),
        ("against the baseline", verdict, any_has("against_baseline") or any_has("why_no_verdict")),
        ("GEMM", lambda r: seconds(r["gemm_seconds"])),
        ("share", lambda r: percent(r["gemm_share"])),
        ("GEMM GFLOP/s", lambda r: f"{r['gemm_gflops']:.1f}" if r["gemm_gflops"] else "–"),
        ("backward error", lambda r: error(r["backward_error"])),
        ("componentwise error", lambda r: error(r.get("componentwise_backward_error")), any_has("componentwise_backward_error")),
        ("forward error", lambda r: error(r.get("forward_error")), any_has("forward_error")),
    ])
    return table("Each backend at each size. Times are medians; the spread is of the middle half of the runs; the speed-up is over "
                 "the first row of the size. GEMM is the time of updates by the backend.", head, lines, left=1 + several, below=map(more_on, rows))


def table_of_phases(rows):
    ours = [r for r in rows if r["attribution"]]
    if not ours:
        return ""
    shares = {id(r): exclusive_shares(r) for r in ours}
    phases = [p for p in PHASES if any((shares[id(r)] or {}).get(p) for r in ours)]
    def bounded(r, word, text):
        return f"{word} {text}" if r["attribution"]["phases_overlap"] else text
    def free(r):
        s = r["attribution"].get("seconds_if_updates_were_free")
        return "–" if s is None else bounded(r, "at least", seconds(s))
    def speedup(r):
        x = r["attribution"].get("speedup_if_updates_were_free")
        return bounded(r, "at most", f"{x:.2f} ×") if x else "–"
    def at_roofline(r):
        s = r["attribution"].get("seconds_at_the_roofline")
        return "–" if s is None else bounded(r, "at least", seconds(s))
    head, lines = columns(ours, [
        ("backend", name_of),
        ("precision", lambda r: r["precision"], several_precisions(rows)),
        ("n", lambda r: r["n"]),
        ("were updates free", free),
        ("speed-up then", speedup),
        ("at the roofline", at_roofline, any("seconds_at_the_roofline" in r["attribution"] for r in ours)),
        ("wall", lambda r: seconds(r["attribution"]["wall_seconds"])),
    ] + [(PHASES[p], lambda r, p=p: percent((shares[id(r)] or {}).get(p, 0), 1) if shares[id(r)] else "–") for p in phases])
    return table("Where the time of the median run went; what would be left if updates took no time, and if each took the least time "
                 "that the machine allows it. A slow kernel slows triangular solves and panels, too, so a faster one can gain more. An "
                 "instant counts once: for updates where one runs, else for the first that runs of panels, triangular solves and row "
                 "interchanges. What is lacking to 100 % are waits.", head, lines, left=1 + several_precisions(rows))


def table_of_adapters(rows):
    ours = [r for r in rows if r.get("adapter")]
    if not ours:
        return ""
    head, lines = columns(ours, [
        ("backend", name_of),
        ("precision", lambda r: r["precision"], several_precisions(rows)),
        ("n", lambda r: r["n"]),
        ("adapter's share", lambda r: percent(r.get("adapter_share"), 1)),
        ("for", lambda r: r.get("adapter_work") or r["adapter"]),
    ])
    return "<h2>What kernels leave to the adapter</h2>" + table(
        "The adapter is the tool's code around a kernel of your own. It does what such a kernel leaves out: it transposes, scales, pads "
        "and packs. Its share is of the time in products.", head, lines, left=1 + several_precisions(rows))


def by_shape(updates):
    """Each with those after it whose m and columns are more than half of its own: as `lasolve compare --attribution` prints them."""
    groups = []
    for t in updates:
        def holds(u):
            return u["k"] == t["k"] and 2 * t["m"] > u["m"] >= t["m"] and 2 * t["n"] > u["n"] >= t["n"]
        like = next((group for group in groups if holds(group[0])), None)
        if like:
            like.append(t)
        else:
            groups.append([t])
    return groups


def line_of_updates(group, wall):
    time, least = sum(map(usual_seconds, group)), sum(t.get("least_seconds", 0) for t in group)
    return [group[0]["m"], group[0]["n"], group[0]["k"], len(group), seconds(time), f"{100 * time / wall:.1f} %",
            f"{1e-9 * sum(t['flops'] for t in group) / time:.1f}", f"{100 * (least / time):.0f} %" if least else "–"]


def tables_of_updates(rows):
    """One for each size, the largest first."""
    several = several_precisions(rows)
    tables = ""
    for n in sorted({r["n"] for r in rows}, reverse=True):
        lines = [[name_of(r)] + [r["precision"]] * several + line_of_updates(group, r["attribution"]["wall_seconds"])
                 for r in rows if r["n"] == n for group in by_shape(trailing_updates(r))]
        if lines:
            drawn = table("C ← C − L U, where C is m × columns and L is m × k. Updates from the size given down to half of it are together. "
                          "The last column is the least time that the roofline allows, as a share of the time; it is more than 100 % where blocks are in a cache.",
                          ["backend"] + ["precision"] * several + ["m", "columns", "k", "updates", "time", "share", "GFLOP/s",
                           "of the roofline"], lines, left=1 + several)
            tables += f"<details{'' if tables else ' open'}><summary>Updates by shape, n = {n}</summary>{drawn}</details>"
    return tables


def environment_table(result):
    def words(value):
        return ", ".join(map(str, value)) or "none" if isinstance(value, list) else "none" if value is None else value
    settings = {**result["environment"], **result["compare"]}
    kernels = settings.pop("own_kernels", [])
    lines = [[name, words(result[name])] for name in ("date", "command") if result.get(name)]
    lines += [[name, words(value)] for name, value in settings.items()]
    lines += [[f"plugin kernel {k['name']}", ", ".join(f"{name} {value}" for name, value in k.items() if name != "name")] for k in kernels]
    lines += [[f"matrix, n = {s['n']}", f"{s['matrix']}, hash {s['matrix_hash'] or 'not taken'}"] for s in result["sizes"]]
    return table("What it was measured with.", ["what", "value"], lines, left=2)
