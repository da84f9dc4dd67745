"""Figures by matplotlib."""

from __future__ import annotations

from typing import Any, Optional

from .results import Results


def plot(results: Any, *columns: str, x: Optional[str] = None, axes: Any = None) -> Any:
    """Columns of a history or table over `x`, its first column unless told, by matplotlib. Gives the axes."""
    import matplotlib.pyplot as pyplot

    table = results.table if isinstance(results, Results) else results
    x = x or next(iter(table))
    axes = axes if axes is not None else pyplot.subplots()[1]
    for name in columns:
        axes.plot(table[x], table[name], label=name)
    axes.set_xlabel(x)
    axes.legend()
    return axes
