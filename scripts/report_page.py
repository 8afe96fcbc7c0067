"""The page that scripts/pictures makes of a comparison: one file, which needs no network and no script."""
import base64
import gzip
import html
import io
import json
import re

import colours
from measured import is_above, machine, name_of, options_that_differ, precisions_in, reference_of, seconds, three_digits, timed_at
from report_tables import environment_table, table_of_adapters, table_of_phases, table_of_rows


class Picture:
    """A figure of matplotlib, with what it shows in a line and in a sentence, where it was measured, and perhaps a table."""

    made = 0

    def __init__(self, title, figure, where, says, table=""):
        self.title, self.figure, self.where, self.says, self.table = title, figure, where, says, table
        Picture.made += 1
        self.prefix = f"p{Picture.made}-"  # identifiers are of the page

    def drawn(self, heading):
        self.figure.suptitle(heading, x=0.01, ha="left", fontsize=8.5, color=colours.COLOURS["muted"])
        text = io.StringIO()
        self.figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
        return text.getvalue()

    def inline(self):
        svg = self.drawn(self.where)
        svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.S)
        svg = re.sub(r'\bid="', f'id="{self.prefix}', svg)
        svg = re.sub(r"url\(#", f"url(#{self.prefix}", svg)
        svg = re.sub(r'href="#', f'href="#{self.prefix}', svg)
        described = html.escape(f"{self.title}. {self.says}", quote=True)
        sizeless = lambda attributes: re.sub(r'\b(width|height)="[^"]*"', "", attributes)
        return re.sub(r"<svg ([^>]*)>", lambda m: f'<svg role="img" aria-label="{described}" {sizeless(m[1])}>',
                      colours.for_page(svg), count=1)

    def file(self):
        return colours.for_file(self.drawn(f"{self.title}\n{self.where}"))


def style():
    def palette(number):
        return "".join(f"--{entry[1]}:{entry[number]};" for entry in colours.stand_ins())
    return f"""
:root {{ color-scheme: light dark; {palette(2)} }}
@media screen and (prefers-color-scheme: dark) {{ :root {{ {palette(3)} }} }}
body {{ background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; padding: 1rem; max-width: 84rem; }}
h1 {{ font-size: 1.5rem; margin: .5rem 0; }} h2 {{ font-size: 1.15rem; margin: 2rem 0 .5rem; }}
.answer {{ font-size: 1.1rem; }} .measured {{ color: var(--muted); font-size: .9rem; }} code, li, p {{ overflow-wrap: anywhere; }}
.pictures, .wide {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 21rem), 1fr)); gap: 1.5rem; }}
figure {{ margin: 0; }} .wide {{ grid-column: 1 / -1; }} figure h2 {{ margin: 0 0 .25rem; }} figcaption {{ color: var(--muted); font-size: .9rem; }}
@media (min-width: 50rem) {{ .wide {{ grid-template-columns: 24rem 1fr; }} }}
svg {{ width: 100%; max-width: 34rem; height: auto; display: block; }}
.scroll {{ overflow-x: auto; margin: 1rem 0; }}
table {{ border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }}
caption {{ text-align: left; color: var(--muted); padding-bottom: .4rem; position: sticky; left: 0; max-width: min(60rem, 90vw); }}
th, td {{ padding: .25rem .5rem; text-align: right; border-bottom: 1px solid var(--grid); vertical-align: top; }}
th {{ vertical-align: bottom; border-bottom-color: var(--muted); }} td {{ white-space: nowrap; }}
th:first-child, td:first-child {{ position: sticky; left: 0; background: var(--page); }}
.w, .l {{ text-align: left; }} td.l {{ white-space: normal; overflow-wrap: anywhere; min-width: 9rem; max-width: 60rem; }}
.o td {{ border-bottom: none; }}
.beside {{ min-width: 0; }} .beside .scroll {{ max-height: 32rem; overflow: auto; }}
.beside table {{ font-size: .75rem; }} .beside caption {{ max-width: min(30rem, 88vw); }} .beside th, .beside td {{ padding: .2rem .3rem; }}
.beside th {{ position: sticky; top: 0; background: var(--page); }} .beside th:first-child {{ z-index: 1; }}
summary {{ cursor: pointer; }} details .scroll {{ margin: .4rem 0 .8rem; }}
a {{ color: var(--c0); }} li {{ margin: .2rem 0; }}
@media print {{
  @page {{ margin: 12mm; }}
  :root {{ font-size: 8.5pt; }} body {{ font-size: 1rem; max-width: none; padding: 0; }}
  table, .beside table {{ font-size: 6.5pt; }} th, td {{ padding: .1rem .25rem; }}
  .pictures {{ display: block; orphans: 1; widows: 1; }} figure {{ break-inside: avoid; display: inline-block; width: 48%; vertical-align: top; margin: 0 .5% 1rem; }}
  figure.wide {{ display: block; width: auto; break-inside: auto; }} .wide svg {{ width: 48%; }}
  .scroll, .beside .scroll {{ overflow: visible; max-height: none; }} tr {{ break-inside: avoid; }} h2 {{ break-after: avoid; }}
  td.l {{ min-width: 0; }} th, td, caption {{ position: static !important; }} .download {{ display: none; }}
}}
"""


def quoted(words):
    return f"<code>{html.escape(str(words))}</code>"


def answer(result, looks):
    """In one sentence what one wants to know, and in another how sure it is."""
    sizes = [n for n in sorted({r["n"] for r in result["rows"]}, reverse=True) if timed_at(result, n)]
    if not sizes:
        return "No backend has a result."
    rows = timed_at(result, sizes[0])
    ours = sorted((r for r in rows if not r["peer"]), key=lambda r: r["seconds"]) or rows
    best, first = ours[0], reference_of(rows)
    name = lambda r: quoted(looks.label(r))
    words = f"At n = {sizes[0]} a whole solve is fastest with {name(best)}: {seconds(best['seconds'])}"
    words += "." if best is first else f", {three_digits(first['seconds'] / best['seconds'])} times as fast as with {name(first)}."
    alike = [r for r in ours[1:] if not is_above(r, best)]
    if alike:
        words += (f" The middle half of its times overlaps with that of {', '.join(map(name, alike))}, so which of these is faster is "
                  "not known.")
    solvers = sorted((r for r in rows if r["peer"] and r is not best), key=lambda r: r["seconds"])
    if solvers:
        words += f" The solver {name(solvers[0])} takes {three_digits(solvers[0]['seconds'] / best['seconds'])} times as long."
    return words


def about(result):
    setting, rows = result["compare"], result["rows"]
    places = " and ".join(dict.fromkeys(machine(result["environment"], r["device"]) for r in rows))
    runs = min((r["runs"] for r in rows if r["passed"]), default=0)
    options = " and ".join(quoted("--" + option) for option in options_that_differ(rows))
    differ = f"Only the GEMM backend and {options} differ" if options else "Only the GEMM backend differs"
    return (f"Systems A X = B of {quoted(setting['matrix'])}, solved in {html.escape(', '.join(precisions_in(rows)))} on "
            f"{html.escape(places)}. {differ}. The backend is the kernel that makes the matrix products of the trailing updates. "
            f"Each row ran at least {runs} times, in turns, in random order."
            + " A baseline solver is the whole solver of another library." * any(r["peer"] for r in rows))


def measured(result):
    words = ["Measured", result["date"].replace("T", " ").replace("Z", " UTC") if result.get("date") else "", "by lasolve",
             (result["environment"] or {}).get("lasolve", "")]
    line = html.escape(" ".join(filter(None, words))) + "."
    return line + (f" {quoted(result['command'])}" if result.get("command") else "")


def remarks_of(result):
    """Without those that the table of adapters has."""
    told = {f"{name_of(r)} in {r['precision']} at n = {r['n']}: {r['adapter']}" for r in result["rows"] if r.get("adapter")}
    return [remark for remark in result["remarks"] if remark not in told]


def figure(picture):
    """A picture and, where it has one, its table beside it; below it on a narrow page."""
    drawn = f"<h2>{html.escape(picture.title)}</h2>{picture.inline()}<figcaption>{html.escape(picture.says)}</figcaption>"
    if not picture.table:
        return f"<figure>{drawn}</figure>"
    return f'<figure class="wide"><div>{drawn}</div><div class="beside">{picture.table}</div></figure>'


def page(result, pictures, looks):
    figures = "".join(map(figure, pictures))
    remarks = "".join(f"<li>{html.escape(r)}</li>" for r in remarks_of(result))
    phases = table_of_phases(result["rows"])
    raw = base64.b64encode(gzip.compress(json.dumps(result).encode(), mtime=0)).decode()
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>What each GEMM kernel is worth</title><style>{style()}</style></head><body>
<h1>What each GEMM kernel is worth in a whole solve</h1>
<p class="answer">{answer(result, looks)}</p>
<p>{about(result)}</p>
<p class="measured">{measured(result)}</p>
{f"<ul>{remarks}</ul>" if remarks else ""}
<div class="pictures">{figures}</div>
<h2>All rows</h2>{table_of_rows(result["rows"], result["compare"].get("copies", False))}
{f"<h2>Attribution</h2>{phases}" if phases else ""}
{table_of_adapters(result["rows"])}
<h2>Environment and settings</h2>{environment_table(result)}
<p class="download"><a download="compare.json.gz" href="data:application/gzip;base64,{raw}">All that was measured, as JSON, compressed</a>: every run of every row.</p>
</body></html>
"""
