"""A table of what was measured: it prints, and shows itself in Jupyter."""

from __future__ import annotations

import html
import io
from collections.abc import Iterable, Iterator
from typing import Any


def _cell(value):
    return f"{value:.4g}" if isinstance(value, float) else "" if value is None else str(value)


class Table:
    """Rows of the same columns, each a dict; with .to_pandas() and .plot()."""

    def __init__(self, rows: Iterable[dict[str, Any]], by: Iterable[str] = ("gemm",)):
        self.rows, self.by = list(rows), list(by)
        self.columns = list(self.rows[0]) if self.rows else []

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __getitem__(self, column: str) -> list:
        return [row[column] for row in self.rows]

    def __repr__(self):
        lines = [self.columns, *([_cell(row[c]) for c in self.columns] for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines)]
        return "\n".join("  ".join(map(str.rjust, line, widths)) for line in lines)

    def to_pandas(self) -> Any:
        """The same as a pandas.DataFrame."""
        import pandas

        return pandas.DataFrame(self.rows)

    def plot(self, y: str = "gflops", *, x: str = "n", by: str | Iterable[str] | None = None, ax: Any = None) -> Any:
        """Lines over x, one for each value of `by`, a column or several, with matplotlib; None: what tells rows apart. Returns the axes."""
        by = [by] if isinstance(by, str) else list(by or self.by)
        def line_of(row):
            return ", ".join(str(row[column]) for column in by)

        for name in (x, y, *by):
            if self.columns and name not in self.columns:
                raise ValueError(f"lasolve: there is no column {name!r}; there are {', '.join(self.columns)}")
        if ax is None:
            from matplotlib.figure import Figure  # without a window, and closed by nobody

            ax = Figure(figsize=(6.4, 4), layout="constrained").subplots()
        for name in dict.fromkeys(map(line_of, self.rows)):
            points = [(row[x], row[y]) for row in self.rows if line_of(row) == name and row[y] is not None]
            ax.plot(*zip(*points), marker="o", label=name)
        ax.set_xscale("log", base=2)
        ax.set_xticks(sorted(set(self[x])), [str(v) for v in sorted(set(self[x]))])
        heights = [row[y] for row in self.rows if row[y] is not None]
        if heights and 0 < 30 * min(heights) < max(heights):  # else all but the tallest lie on the axis
            ax.set_yscale("log")
        else:
            ax.set_ylim(bottom=0)
        ax.set_xlabel(x)
        ax.set_ylabel(y)
        ax.legend()
        return ax

    def _repr_html_(self):
        row = "<tr>{}</tr>".format
        head = row("".join(f"<th>{html.escape(c)}</th>" for c in self.columns))
        body = "".join(row("".join(f"<td>{html.escape(_cell(r[c]))}</td>" for c in self.columns)) for r in self.rows)
        return f"<table>{head}{body}</table>{self._picture()}"

    def _picture(self):
        """The plot as SVG; nothing where it cannot be made."""
        if not {"n", "gemm", "gflops"} <= set(self.columns):
            return ""
        try:
            axes = self.plot()
        except ImportError:
            return ""
        text = io.StringIO()
        axes.figure.savefig(text, format="svg")
        return text.getvalue()[text.getvalue().index("<svg") :]
