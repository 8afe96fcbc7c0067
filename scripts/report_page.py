"""The page that scripts/pictures makes of a comparison: one file, which needs no network and no script."""
import base64
import gzip
import html
import io
import json
import re

# What pictures are drawn in: each stands for a colour of the page, light and dark. None occurs in what matplotlib draws itself.
COLOURS = {
    "ink": "#010101",
    "muted": "#020202",
    "grid": "#030303",
    "page": "#fdfdfd",
    "series": [f"#0401{at:02x}" for at in range(8)],
}
# Series have a contrast of 4.5 to the page at least, and are told apart by the colour-blind as well: no two of a palette are nearer
# than 17 in CIELAB as protan, deutan or tritan eyes see them (Machado, Oliveira & Fernandes 2009).
LIGHT = {
    "ink": "#1b1f24", "muted": "#57606a", "grid": "#dde1e6", "page": "#ffffff",
    "series": ["#3957d9", "#743600", "#30765e", "#80338e", "#787634", "#6d22f6", "#9b0236", "#525f75"],
}
DARK = {
    "ink": "#e6e9ed", "muted": "#a3abb5", "grid": "#343b44", "page": "#14181d",
    "series": ["#3c81ed", "#eeb75f", "#24e69b", "#f733a3", "#6a8c00", "#e4adf4", "#c96467", "#d1d8d8"],
}


def stand_ins():
    """Of each stand-in, the name of its colour in the page, and in the two palettes."""
    for name in ("ink", "muted", "grid", "page"):
        yield COLOURS[name], name, LIGHT[name], DARK[name]
    for at, colour in enumerate(COLOURS["series"]):
        yield colour, f"c{at}", LIGHT["series"][at], DARK["series"][at]


def line_style(at):
    """Of the line with that number, as matplotlib takes it. The first eight differ in colour and in mark. Where colours come again marks
    are hollow, lines are dashed, and a colour has another mark. So 32 differ, and 16 of them without colours, too."""
    marks = "o^sDvPX<"  # as many as there are colours
    turn, place = divmod(at, len(marks))
    colour = COLOURS["series"][place]
    return {
        "color": colour,
        "marker": marks[(place + 3 * turn) % len(marks)],
        "markerfacecolor": COLOURS["page"] if turn % 2 else colour,
        "linestyle": ("-", "--", "-.", ":")[turn % 4],
    }


class Picture:
    """A figure of matplotlib, with what it shows in a line and in a sentence, and perhaps as a table."""

    made = 0

    def __init__(self, title, figure, says, table=""):
        self.title, self.says, self.table = title, says, table
        text = io.StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
        self.drawn = text.getvalue()
        Picture.made += 1
        self.prefix = f"p{Picture.made}-"  # identifiers are of the page

    def inline(self):
        svg = self.drawn[self.drawn.index("<svg") :]
        svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
        svg = re.sub(r'\bid="', f'id="{self.prefix}', svg)
        svg = re.sub(r"url\(#", f"url(#{self.prefix}", svg)
        svg = re.sub(r'href="#', f'href="#{self.prefix}', svg)
        for stand_in, name, _, _ in stand_ins():
            svg = svg.replace(stand_in, f"var(--{name})")
        described = html.escape(f"{self.title}. {self.says}", quote=True)
        return re.sub(r"<svg ([^>]*)>", lambda m: f'<svg role="img" aria-label="{described}" {sizeless(m[1])}>', svg, count=1)

    def file(self):
        """On white, for a file of its own."""
        svg = self.drawn
        for stand_in, _, light, _ in stand_ins():
            svg = svg.replace(stand_in, light)
        return svg


def sizeless(attributes):
    return re.sub(r'\b(width|height)="[^"]*"', "", attributes)


def seconds(s):
    if s is None:
        return "–"
    unit, scale = ("µs", 1e6) if s < 1e-3 else ("ms", 1e3) if s < 1 else ("s", 1)
    x = s * scale
    return f"{x:.{2 if x < 10 else 1 if x < 100 else 0}f} {unit}"


def table(caption, head, lines, left=1):
    """The first `left` columns hold words."""
    def cells(tag, words):
        return "".join(f'<{tag}{" class=w" if at < left else ""}>{html.escape(str(word))}</{tag}>' for at, word in enumerate(words))
    body = "".join(f"<tr>{cells('td', line)}</tr>" for line in lines)
    return (f'<div class="scroll"><table><caption>{html.escape(caption)}</caption><thead><tr>{cells("th", head)}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>")


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


def result_of(row):
    if not row["passed"]:
        return f"FAIL: {row['failure']}"
    return f"PASS by {row['fell_back_to']} factors" if row.get("fell_back_to") else "PASS"


def table_of_rows(rows, copies):
    baseline = any(r["against_baseline"] or r.get("why_no_verdict") for r in rows)
    head = ["backend", "precision", "result", "n", "solve"] + ["from host"] * copies + ["runs", "spread", "speed-up", "GEMM", "share", "GEMM GFLOP/s",
            "backward error"] + ["against the baseline"] * baseline
    lines = []
    for r in rows:
        timed = r["seconds"] is not None
        lines.append([
            r["gemm"], r["precision"], result_of(r), r["n"], seconds(r["seconds"]),
        ] + [seconds(r.get("median_seconds_from_host"))] * copies + [
            r["runs"],
            f"{100 * r['quartiles_apart'] / r['seconds']:.1f} %" if timed else "–",
            f"{r['speedup_over_first']:.2f} ×" if r["speedup_over_first"] else "–",
            seconds(r["gemm_seconds"]), f"{100 * r['gemm_share']:.0f} %" if r["gemm_share"] is not None else "–",
            f"{r['gemm_gflops']:.1f}" if r["gemm_gflops"] else "–",
            f"{r['backward_error']:.1e}" if r["backward_error"] is not None else "–",
        ] + [verdict(r)] * baseline)
    return table("Each backend at each size. Times are medians; the spread is of the middle half of the runs; the speed-up is over "
                 "the first row of the size.", head, lines, left=3)


def table_of_phases(rows):
    ours = [r for r in rows if r["attribution"]]
    phases = [p for p in ("to_device", "panel", "swap", "trsm", "gemm", "solve", "refine", "to_host", "other")
              if any(p in r["attribution"]["phases_busy_seconds"] for r in ours)]
    lines = []
    for r in ours:
        a = r["attribution"]
        least, most = ("at least ", "at most ") if a["phases_overlap"] else ("", "")
        lines.append([r["gemm"], r["precision"], r["n"], seconds(a["wall_seconds"])]
                     + [f"{100 * a['phases_busy_seconds'].get(p, 0) / a['wall_seconds']:.1f} %" for p in phases]
                     + [least + seconds(a.get("seconds_if_updates_were_free")),
                        f"{most}{a['speedup_if_updates_were_free']:.2f} ×" if a.get("speedup_if_updates_were_free") else "–"])
    return table("Where the time of the median run went, and what would be left if updates alone took no time. A slow kernel slows "
                 "triangular solves and panels, too, so a faster one can gain more.",
                 ["backend", "precision", "n", "wall"] + phases + ["were updates free", "speed-up then"], lines, left=2)


def trailing_updates(row):
    """Those within panels are many, and small."""
    tasks = (row["attribution"] or {"tasks": []})["tasks"]
    return [t for t in tasks if "k" in t and t["phase"] == "gemm" and t["gflops"] > 0]


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
    time, least = sum(t["seconds"] for t in group), sum(t.get("least_seconds", 0) for t in group)
    return [group[0]["m"], group[0]["n"], group[0]["k"], len(group), seconds(time), f"{100 * time / wall:.1f} %",
            f"{1e-9 * sum(t['flops'] for t in group) / time:.1f}", f"{100 * (least / time):.0f} %" if least else "–"]


def tables_of_updates(rows):
    """One for each size, the largest first."""
    several = len({r["precision"] for r in rows}) > 1
    tables = ""
    for n in sorted({r["n"] for r in rows}, reverse=True):
        lines = [[r["gemm"]] + [r["precision"]] * several + line_of_updates(group, r["attribution"]["wall_seconds"])
                 for r in rows if r["n"] == n for group in by_shape(trailing_updates(r))]
        if lines:
            drawn = table("C ← C − L U, where C is m × columns and L is m × k. Updates from the size given down to half of it are together. "
                          "The last column is the least time that the roofline allows, as a share of the time.",
                          ["backend"] + ["precision"] * several + ["m", "columns", "k", "updates", "time", "share", "GFLOP/s",
                           "of the roofline"], lines, left=1 + several)
            tables += f"<details{'' if tables else ' open'}><summary>Updates by shape, n = {n}</summary>{drawn}</details>"
    return tables


def style():
    def palette(number):
        return "".join(f"--{entry[1]}:{entry[number]};" for entry in stand_ins())
    return f"""
:root {{ color-scheme: light dark; {palette(2)} }}
@media (prefers-color-scheme: dark) {{ :root {{ {palette(3)} }} }}
body {{ background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; padding: 1rem; max-width: 76rem; }}
h1 {{ font-size: 1.5rem; margin: .5rem 0; }} h2 {{ font-size: 1.15rem; margin: 2rem 0 .5rem; }}
.pictures, .wide {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1.5rem; }}
figure {{ margin: 0; }} .wide {{ grid-column: 1 / -1; }} figure h2 {{ margin: 0 0 .25rem; }} figcaption {{ color: var(--muted); font-size: .9rem; }}
svg {{ width: 100%; height: auto; display: block; }}
.scroll {{ overflow-x: auto; margin: 1rem 0; }}
table {{ border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }}
caption {{ text-align: left; color: var(--muted); padding-bottom: .4rem; position: sticky; left: 0; max-width: min(60rem, 90vw); }}
th, td {{ padding: .25rem .7rem; text-align: right; border-bottom: 1px solid var(--grid); white-space: nowrap; }}
th:first-child, td:first-child {{ position: sticky; left: 0; background: var(--page); }}
.beside {{ min-width: 0; }} .beside .scroll {{ max-height: 32rem; overflow: auto; }}
.beside table {{ font-size: .75rem; }} .beside caption {{ max-width: min(30rem, 88vw); }} .beside th, .beside td {{ padding: .2rem .3rem; }}
.beside th {{ white-space: normal; vertical-align: bottom; position: sticky; top: 0; background: var(--page); }}
.beside th:first-child {{ z-index: 1; }}
summary {{ cursor: pointer; }} details .scroll {{ margin: .4rem 0 .8rem; }}
.w {{ text-align: left; }} th {{ border-bottom-color: var(--muted); }}
a {{ color: var(--c0); }} li {{ margin: .2rem 0; }}
"""


def about(result):
    setting, environment = result["compare"], result["environment"]
    rows = result["rows"]
    on_cuda = any(r["device"] != "cpu" for r in rows)
    where = ", ".join(environment["cuda_devices"]) if on_cuda else f"{environment['processor']}, {environment['threads']} threads"
    return (f"Systems A X = B of <code>{html.escape(setting['matrix'])}</code>, solved on {html.escape(where)}. Only the GEMM backend "
            "of the trailing updates differs. Each row ran at least "
            f"{min((r['runs'] for r in rows if r['passed']), default=0)} times, in turns, in random order.")


def figure(picture):
    """A picture and, where it has one, its table beside it; below it on a narrow page."""
    drawn = f"<h2>{html.escape(picture.title)}</h2>{picture.inline()}<figcaption>{html.escape(picture.says)}</figcaption>"
    if not picture.table:
        return f"<figure>{drawn}</figure>"
    return f'<figure class="wide"><div>{drawn}</div><div class="beside">{picture.table}</div></figure>'


def page(result, pictures):
    figures = "".join(map(figure, pictures))
    remarks = "".join(f"<li>{html.escape(r)}</li>" for r in result["remarks"])
    def words(value):
        return ", ".join(map(str, value)) or "none" if isinstance(value, list) else "none" if value is None else value
    settings = {**result["environment"], **result["compare"]}
    kernels = settings.pop("own_kernels", [])
    environment = [[name, words(value)] for name, value in settings.items()]
    environment += [[f"own kernel {k['name']}", ", ".join(f"{name} {value}" for name, value in k.items() if name != "name")] for k in kernels]
    environment += [[f"matrix, n = {s['n']}", f"{s['matrix']}, hash {s['matrix_hash'] or 'not taken'}"] for s in result["sizes"]]
    raw = base64.b64encode(gzip.compress(json.dumps(result).encode(), mtime=0)).decode()
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>What each GEMM kernel is worth</title><style>{style()}</style></head><body>
<h1>What each GEMM kernel is worth in a whole solve</h1>
<p>{about(result)}</p>
{f"<ul>{remarks}</ul>" if remarks else ""}
<div class="pictures">{figures}</div>
<h2>All rows</h2>{table_of_rows(result["rows"], result["compare"].get("copies", False))}
<h2>Attribution</h2>{table_of_phases(result["rows"])}
<h2>Environment and settings</h2>{table("What it was measured with.", ["what", "value"], environment, left=2)}
<p><a download="compare.json.gz" href="data:application/gzip;base64,{raw}">All that was measured, as JSON, compressed</a>: every run of every row.</p>
</body></html>
"""
