"""Colours of the pictures. What matplotlib draws with are stand-ins; a page or a file puts its own in their place, light and dark."""
import re

from measured import name_of

# Each stands for a colour of the page. None occurs in what matplotlib draws itself.
COLOURS = {
    "ink": "#010101",
    "muted": "#020202",
    "grid": "#030303",
    "page": "#fdfdfd",
    "series": [f"#0401{at:02x}" for at in range(8)],
    "phases": [f"#0501{at:02x}" for at in range(9)],
}
# Series, the backends, have a contrast of 4.5 to the page at least, and are told apart by the colour-blind as well: no two of a palette
# are nearer than 17 in CIELAB as protan, deutan or tritan eyes see them (Machado, Oliveira & Fernandes 2009). Phases are areas, as pale
# as ink upon them takes, so that nobody looks for a backend in them.
LIGHT = {
    "ink": "#1b1f24", "muted": "#57606a", "grid": "#dde1e6", "page": "#ffffff",
    "series": ["#3957d9", "#743600", "#30765e", "#80338e", "#787634", "#6d22f6", "#9b0236", "#525f75"],
    "phases": ["#9fc0f2", "#f3ab9c", "#f6dc94", "#bfc4ca", "#9cd8b1", "#d3b8ee", "#f5bcdc", "#aadfe0", "#e3e6ea"],
}
DARK = {
    "ink": "#e6e9ed", "muted": "#a3abb5", "grid": "#343b44", "page": "#14181d",
    "series": ["#3c81ed", "#eeb75f", "#24e69b", "#f733a3", "#6a8c00", "#e4adf4", "#c96467", "#d1d8d8"],
    "phases": ["#2c5299", "#8f3a2b", "#75570f", "#5b636d", "#1f6a3f", "#5f428c", "#83346a", "#1d6b6b", "#3d444d"],
}


def stand_ins():
    """Of each stand-in, the name of its colour in the page, and in the two palettes."""
    for name in ("ink", "muted", "grid", "page"):
        yield COLOURS[name], name, LIGHT[name], DARK[name]
    for kind, short in (("series", "c"), ("phases", "p")):
        for at, colour in enumerate(COLOURS[kind]):
            yield colour, f"{short}{at}", LIGHT[kind][at], DARK[kind][at]


def for_page(svg):
    """In the colours of the page that it stands in."""
    for stand_in, name, _, _ in stand_ins():
        svg = svg.replace(stand_in, f"var(--{name})")
    return svg


def for_file(svg):
    """On a ground of its own, light, and dark where the reader's screen is: the page around may be either."""
    rules = ""
    for stand_in, _, light, dark in stand_ins():
        for what in ("fill", "stroke"):
            if f"{what}: {stand_in}" in svg or stand_in == COLOURS["page"]:
                rules += f'[style*="{what}: {light}"] {{ {what}: {dark} !important }}\n'
        svg = svg.replace(stand_in, light)
    head = (f"<style>@media (prefers-color-scheme: dark) {{\n{rules}}}</style>\n"
            f'<rect width="100%" height="100%" style="fill: {LIGHT["page"]}"/>\n')
    return re.sub(r"<svg [^>]*>\n?", lambda m: m[0] + head, svg, count=1)


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


class Looks:
    """How each row is called and drawn, the same in all pictures: a backend has one colour, whatever its precision."""

    def __init__(self, rows):
        self.backends = list(dict.fromkeys(name_of(r) for r in rows))
        self.precisions = list(dict.fromkeys(r["precision"] for r in rows if not r.get("peer")))

    def label(self, row):
        return f"{name_of(row)} {row['precision']}" if len(self.precisions) > 1 and not row.get("peer") else name_of(row)

    def style(self, row):
        turns = -(-len(self.backends) // len(COLOURS["series"]))  # of the colours, for all backends
        precision = 0 if row.get("peer") else self.precisions.index(row["precision"])
        return line_style(self.backends.index(name_of(row)) + len(COLOURS["series"]) * turns * precision)

    def mark(self, row):
        """What the row is found by in a picture: an identifier of SVG."""
        return "of-" + re.sub(r"\W+", "-", name_of(row)).strip("-")
