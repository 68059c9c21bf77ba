"""The section about what a model makes of samples: input, true output and its own side by side, and the errors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.plot._plane import Floats

from ._context import Context
from ._examples import Examples
from ._rivals import errors_of
from ._section import Section, table, write_number
from ._strips import MOST_POINTS, chart, charts, key, strips

__all__ = ["pairs_section"]

LONG = (960, 150)
"""Size of the chart of a sequence."""


def pairs_section(context: Context) -> Section | None:
    """Inputs, outputs and what the model makes, and squared errors beside simple rivals'."""
    examples = context.examples
    if examples is None or len(examples) == 0:
        return None
    measured = errors_of(examples)
    rows = [(name, write_number(error), write_number(share)) for name, error, share in measured.lines()]
    html = _drawn(examples) + table(rows, ("", "mean squared error", "variance explained"), "numbers")
    known = "They may have been used in the fit."
    words = f"{_method_sentence(examples)} {measured.words} {known}{_left_out(examples)}"
    title = "Pairs" if examples.paired else "Rows and reconstructions"
    return Section("pairs", title, f'{html}<p class="caption">{words}</p>')


def _method_sentence(examples: Examples) -> str:
    if not examples.paired:
        return "Each row is encoded and decoded."
    if examples.sees_outputs:
        return (
            "The model reconstructs an output from its mapping units, which shows whether these encode the "
            "transformation. The rivals use the input alone."
        )
    return "The model uses the input alone."


def _left_out(examples: Examples) -> str:
    """What is not drawn of fields."""
    samples = examples.after(examples.shown)
    long = examples.structure == "sequence" and max(map(len, samples)) > MOST_POINTS
    several = examples.structure != "rows" and max(examples.n_inputs, examples.n_outputs) > 1
    return (f" The first {MOST_POINTS} sites are drawn." if long else "") + (
        " The first channel is drawn." if several else ""
    )


def _drawn(examples: Examples) -> str:
    which = examples.shown
    before, after, made = examples.before(which), examples.after(which), examples.made(which)
    kinds = {"input": before, "output": after, "model": made} if examples.paired else {"row": after, "model": made}
    drawn = {name: examples.pictures(samples) for name, samples in kinds.items()}
    if drawn["model"] is not None:
        return strips({name: line for name, line in drawn.items() if line is not None})
    if examples.structure == "sequence":
        return _sequences(examples)
    return _charts(examples)


def _charts(examples: Examples) -> str:
    """Rows that are no pictures, each with its output and the model's."""
    which, parts = examples.shown, _parts(examples)
    samples = [{name: np.asarray(part[k], dtype=np.float64) for name, part in parts.items()} for k in range(len(which))]
    titles = [f"row {int(row)}" for row in which]
    return charts(samples, titles, examples.output_names) + _key(examples, list(parts))


def _parts(examples: Examples) -> dict[str, list[Any]]:
    """What is drawn over each other; the input only where it has the columns of the output."""
    which = examples.shown
    parts = {"output": examples.after(which), "model": examples.made(which)}
    if examples.paired and examples.n_inputs == examples.n_outputs:
        return {"input": examples.before(which), **parts}
    return parts


def _sequences(examples: Examples) -> str:
    """The beginning of each sequence."""
    parts, drawn = _parts(examples), []
    for k in range(len(examples.shown)):
        series = {name: _first_channel(part[k]) for name, part in parts.items()}
        values = np.concatenate(list(series.values()))
        drawn.append(chart(series, (float(values.min()), float(values.max())), size=LONG))
    return f'<div class="charts long">{"".join(drawn)}</div>' + _key(examples, list(parts))


def _first_channel(sample: NDArray[Any]) -> Floats:
    return np.asarray(sample[:, 0] if sample.ndim == 2 else sample, dtype=np.float64)


def _key(examples: Examples, names: list[str]) -> str:
    truth = "true output" if examples.paired else "row"
    return key(names, {"input": "input", "output": truth, "model": "the model's"})
