"""Whether all words of pictures stand out from the ground of the picture, by day and by night. Usage: pictures.py FILE.svg...

Where a file is shown is not known: on a light page or a dark one, which need not be as the reader's screen is. So a picture has a
ground of its own, and both go with the screen."""
import re
import sys
import xml.etree.ElementTree as tree

LEAST = 4.5  # of WCAG 2.1, 1.4.3


def luminance(colour):
    if len(colour) == 4:
        colour = "#" + "".join(2 * c for c in colour[1:])
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    parts = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one, other):
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def fills(css):
    """Of each selector of a style sheet, the fill."""
    found = {}
    for selector, body in re.findall(r"([^{}]+)\{([^{}]*)\}", css):
        fill = re.search(r"(?:^|;)\s*fill:\s*(#[0-9a-f]+)", body)
        if fill:
            found[selector.strip()] = fill[1]
    return found


def fill_of(element, sheets):
    """As a browser finds it, as far as these files need it. Later sheets go before earlier ones."""
    own = re.search(r"(?:^|;)\s*fill:\s*(#[0-9a-f]+)", element.get("style", ""))
    colour = own and own[1]
    for sheet in sheets:
        for selector in (element.tag.split("}")[1], "." + element.get("class", "")):
            colour = colour if own else sheet.get(selector, colour)
        colour = sheet.get(f'[style*="fill: {own[1]}"]', colour) if own else colour
    return colour


def faults(path):
    root = tree.parse(path).getroot()
    css = "".join(e.text or "" for e in root.iter() if e.tag.endswith("}style"))
    dark = "".join(re.findall(r"@media \(prefers-color-scheme: dark\) \{((?:[^{}]|\{[^{}]*\})*)\}", css))
    by_day, by_night = fills(css.replace(dark, "") if dark else css), fills(dark)
    ground = next((e for e in root if e.tag.endswith("}rect") and e.get("width") == e.get("height") == "100%"), None)
    if ground is None:
        yield "has no ground of its own"
        return
    words = [e for e in root.iter() if e.tag.endswith("}text")]
    if not words:
        yield "has no words"
    for name, sheets in (("light", [by_day]), ("dark", [by_day, by_night])):
        behind = fill_of(ground, sheets)
        if (luminance(behind) > 0.5) != (name == "light"):
            yield f"has the ground {behind} where all is {name}"
        for colour in {fill_of(e, sheets) or "#000000" for e in words}:
            if contrast(colour, behind) < LEAST:
                yield f"has words in {colour} on {behind} where all is {name}: contrast {contrast(colour, behind):.1f}, not {LEAST}"


found = [f"{path} {fault}" for path in sys.argv[1:] for fault in faults(path)]
print("\n".join(found))
sys.exit(bool(found) or len(sys.argv) < 2)
