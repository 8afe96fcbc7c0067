"""Reports for people."""

import html as _html


def _lines(report):
    for name, value in report.to_dict().items():
        if value is None or value == [] or value == {}:
            continue
        if isinstance(value, dict):
            value = ", ".join(
                f"{key} {number:.3g}" if isinstance(number, float) else f"{key} {number}"
                for key, number in value.items()
            )
        elif isinstance(value, list):
            value = "; ".join(f"{v:.3g}" if isinstance(v, float) else v for v in value)
        elif isinstance(value, float):
            value = f"{value:.4g}"
        yield name, str(value)


def text(report):
    """A report as lines."""
    return "\n".join(f"{name:<22} {value}" for name, value in _lines(report))


def html(report):
    """A report as a table of HTML."""
    rows = "".join(f"<tr><th style='text-align:left'>{_html.escape(n)}</th><td style='text-align:left'>{_html.escape(v)}</td></tr>"
                   for n, v in _lines(report))  # fmt: skip
    return f"<table>{rows}</table>"
