"""The sections that are words, tables and one chart: quality, cost, annealing path, parameters, origin."""

from __future__ import annotations

import platform
import warnings
from html import escape
from importlib import metadata
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.base.capabilities import capabilities, history_of
from sidelight.base.chain import last_step_of, name_of, steps_of
from sidelight.base.messages import count_of
from sidelight.plot._annealing import path_of

from ._chart import line_chart, path_chart
from ._context import Context
from ._section import Section, table, write_number

__all__ = [
    "cost_section",
    "measure_notes",
    "origin_section",
    "parameters_section",
    "path_section",
    "quality_section",
    "summary",
    "training_section",
]


FEWEST_ROWS = 4
"""With fewer rows neighbourhoods say nothing."""
NOTATION = (
    "In the files beside this report, <code>row</code> is the number of a row in its file, from 0, without a heading. "
    "<code>z1</code>, <code>z2</code>, ... are its place on the map (the axes latent 1, latent 2, ...). "
    "<code>density</code> is the share of the rows that are less typical, and <code>unusual</code> says where it is "
    "below 0.01. An encoded category is called after its column and its value: site_Dayton is 1 where site is Dayton. "
    "The two of date_year_sin and date_year_cos are the time of the year (week and day likewise), and note_text1, ... "
    "are what a free text is about."
)
"""What the columns of embedding.csv and the names of features mean."""
SHOWN_NOTES = 3
"""Notes below the summary; more of them are folded."""
SCORED_ROWS = 2000
"""Rows, evenly spaced, that are sent back from the map."""


def summary(context: Context) -> str:
    """Return one sentence about the report, and the notes, as markup."""
    values = f" of {_widths(context)} values" if context.n_features else ""
    pictures = "" if context.image_shape is None else f" ({context.image_shape[0]}×{context.image_shape[1]} pictures)"
    sentence = f"{_samples(context)}{values}{pictures} {_made_by(context)}."
    notes = [f"<p class='note'>{escape(note)}</p>" for note in context.notes]
    shown = "".join(notes[:SHOWN_NOTES])
    if len(notes) > SHOWN_NOTES:
        rest = "".join(notes[SHOWN_NOTES:])
        shown += f"<details><summary>{count_of(len(notes) - SHOWN_NOTES, 'more note')}</summary>{rest}</details>"
    return f"<p class='summary'>{escape(sentence)}</p>{shown}"


def _widths(context: Context) -> str:
    """Columns of a row; of the input and the output where there are both."""
    d, examples = context.n_columns, context.examples
    e = examples.n_outputs if examples is not None and examples.paired else d
    return f"{d:,}" if e == d else f"{d:,} and {e:,}"


def _samples(context: Context) -> str:
    """Number and kind of samples, in words."""
    examples, n = context.examples, context.n_rows
    if examples is None or (examples.structure == "rows" and not examples.paired):
        return count_of(n, "row")
    kind = {"rows": "rows", "sequence": "sequences", "grid": "pictures"}[examples.structure]
    return f"{n:,} {'pair of' if n == 1 else 'pairs of'} {kind}" if examples.paired else f"{n:,} {kind}"


def _made_by(context: Context) -> str:
    """Model and duration of the fit, in words."""
    name = name_of(context.described)
    took = "" if context.seconds is None else f" in {_duration(float(context.seconds))}"
    if context.map is not None:
        return f"on a map of {_dimensions(context.map.n_components)}, made by {name}{took}"
    return f"shown to {name}" + (f", trained{took}" if took else "")


def _dimensions(q: int) -> str:
    return "one dimension" if q == 1 else f"{q} dimensions"


def _duration(seconds: float) -> str:
    """Return a time as people say it.

    Examples
    --------
    >>> [_duration(s) for s in (0.0213, 12.34, 200.0)]
    ['0.021 s', '12.3 s', '3 min 20 s']
    """
    if seconds < 1.0:
        return f"{seconds:.2g} s"
    if seconds < 120.0:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def quality_section(context: Context) -> Section | None:
    """Measures of the map beside those of PCA with as many dimensions."""
    if context.map is None or context.X is None or context.n_rows < FEWEST_ROWS:
        return None
    from sidelight.evaluate import compare

    whole = complete_rows(context.X)
    if len(whole) < FEWEST_ROWS:
        return None
    labels = None if context.labels is None else context.labels.codes[whole]
    if labels is not None and (labels < 0).any():
        labels = None
    measured = compare(context.X[whole], context.plane.Z[whole], labels=labels)
    rows = [(name.replace("_", " "), *_pair(values)) for name, values in measured.items()]
    rest = _after_given(context, whole)
    rows += rest
    rows += _kept_variance(context)
    html = table(rows, ("", "this map", "PCA"), "numbers")
    words = "One is best. PCA has as many dimensions and the same rows."
    words = " ".join([words, *measure_notes(informed=context.informed, after_a_step=context.after_a_step)])
    if rest:
        words += " After what was given: beside the rows without its effect, which is what this map is to show."
    if len(whole) < context.n_rows:
        words += f" Measured on the {len(whole):,} complete rows."
    if context.reliability is not None:
        told = escape(f"{context.reliability.words} The map can be coloured by reliability, and fade the other rows.")
        words = f'{words}</p><p class="caption">{told}'
    return Section("quality", "Quality", f'{html}<p class="caption">{words}</p>', wide=False)


def complete_rows(X: NDArray[Any]) -> NDArray[np.intp]:
    """Return the numbers of the rows without missing entries."""
    return np.flatnonzero(np.isfinite(X).all(axis=1))


def measure_notes(*, informed: bool, after_a_step: bool) -> list[str]:
    """Sentences that say why the measures of a map may be low by intention."""
    notes = []
    if informed:
        notes.append(
            "Neighbours in the data also share given values, which this map factors out, so lower values are expected."
        )
    if after_a_step:
        notes.append("Neighbours in the data are by plain distances, which a step before the map changed.")
    return notes


def _after_given(context: Context, rows: NDArray[np.intp]) -> list[tuple[str, str, str]]:
    """Trustworthiness and continuity beside rows without the effect of what was given, where the model can say it."""
    if context.X is None or not context.informed or not capabilities(context.model).has_corrected:
        return []
    if context.known is None or not context.known.complete[rows].all():
        return []
    from sidelight.evaluate import compare

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        rest = np.asarray(context.model.corrected(context.X[rows], **context.given_of(rows)))
    names = escape(", ".join(column.name for column in context.model.given_.columns))
    measured = compare(rest, context.plane.Z[rows])
    return [(f"{name} after {names}", *_pair(values)) for name, values in measured.items()]


def _pair(values: Any) -> tuple[str, str]:
    return write_number(values["embedding"]), write_number(values["pca"])


def _kept_variance(context: Context) -> list[tuple[str, str, str]]:
    """Share of the variance of X that comes back from its place on the map, 1 - |X - x(Z)|² / |X - mean|²."""
    if context.X is None or not capabilities(context.model).has_inverse:
        return []
    from sklearn.decomposition import PCA

    whole = complete_rows(context.X)
    some = whole[:: -(-len(whole) // SCORED_ROWS)]
    rows, Z = context.X[some].astype(np.float64), context.plane.Z[some]
    spread = float(np.square(rows - rows.mean(axis=0)).sum())
    if spread == 0.0:
        return []
    linear = PCA(min(Z.shape[1], *rows.shape), random_state=0).fit(rows)
    side = context.given_of(some)
    back = np.asarray(context.model.inverse_transform(Z, **side)), linear.inverse_transform(linear.transform(rows))
    ours, theirs = (1.0 - float(np.square(rows - given).sum()) / spread for given in back)
    name = "variance reconstructed from the map" + (" and given" if side else "")
    return [(name, write_number(ours), write_number(theirs))]


def cost_section(context: Context) -> Section:
    """Cost of the map: time, iterations, and estimated memory."""
    n, d, offers = context.n_rows, context.n_features, capabilities(context.model)
    rows = [("rows × columns", f"{n:,} × {_widths(context)}")] if d else [("samples", f"{n:,}")]
    if context.seconds is not None:
        rows.append(("time of the fit", _duration(float(context.seconds))))
    if offers.has_iterations:
        rows.append(("iterations", f"{int(np.max(context.model.n_iter_)):,}"))
    if offers.has_cost and d and context.map is not None:
        cost = context.model.estimate_cost(n, d)
        rows.append(("memory, estimated peak", _size(float(cost.bytes))))
        rows.append(("time, estimated", _duration(float(cost.seconds))))
    return Section("cost", "Cost", table(rows, kind="pairs"), wide=False)


def _size(size: float) -> str:
    """Return bytes as people say them.

    Examples
    --------
    >>> [_size(b) for b in (900, 2.5e6, 3.2e9)]
    ['1 kB', '2.5 MB', '3.2 GB']
    """
    for unit, scale in (("GB", 1e9), ("MB", 1e6)):
        if size >= scale:
            return f"{size / scale:.3g} {unit}"
    return f"{max(1, round(size / 1e3))} kB"


def path_section(context: Context) -> Section | None:
    """The objective and its terms along the annealing path."""
    if not history_of(context.model) or capabilities(last_step_of(context.model)).is_network:
        return None
    path = path_of(context.model)
    words = count_of(len(path.objective), "iteration")
    if path.annealed:
        stages = len(path.stages)
        words += f" in {stages} stage{'s' if stages > 1 else ''}; a line marks where the regularization λ changes"
    caption = f'<p class="caption">{words}.</p>'
    return Section("path", "Annealing path" if path.annealed else "Path of the fit", path_chart(path) + caption)


def training_section(context: Context) -> Section | None:
    """The loss along training, and that of held-out rows where some were held out."""
    history, offers = history_of(context.model), capabilities(last_step_of(context.model))
    if not history or not offers.is_network:
        return None
    at = np.array([record["iteration"] for record in history])
    loss = np.array([record["objective"] for record in history])
    held = np.array([record["terms"].get("held_out", np.nan) for record in history])
    every = f", each point the mean of {int(at[-1]) // len(at)}" if at[-1] > len(at) else ""
    words = f"{int(at[-1]):,} steps{every}."
    looked = {"held-out rows, the best so far": held} if np.isfinite(held).any() else {}
    if offers.learns_by_contrast:
        # A contrast and a squared error have nothing in common that one axis could show.
        charts = [{"contrast": loss}, looked]
        words += " The contrast compares data with the model's own samples; it does not measure the fit."
    else:
        charts = [{"loss": loss, **looked}]
    html = "".join(line_chart(series, at, "step") for series in charts if series)
    return Section("training", "Training", f'{html}<p class="caption">{words}</p>')


_NOT_THE_MODEL = ("callback", "n_jobs", "verbose")  # how it was run, not what was fitted


def parameters_section(context: Context) -> Section | None:
    """The parameters of the model, those that are not the default marked."""
    steps = [(prefix, step) for prefix, step in steps_of(context.described) if capabilities(step).has_parameters]
    if not steps:
        return None
    items = [item for prefix, step in steps for item in _parameters(prefix, step)]
    html = f'<dl class="parameters">{"".join(items)}</dl><p class="caption">Bold: not the default.</p>'
    return Section("parameters", "Parameters", html)


def _parameters(prefix: str, step: Any) -> list[str]:
    """The parameters of a step, as scikit-learn names them in a Pipeline."""
    usual, items = _defaults(type(step)), []
    for name, value in step.get_params(deep=False).items():
        if name in _NOT_THE_MODEL:
            continue
        kind = "changed" if name in usual and repr(usual[name]) != repr(value) else "default"
        shown = f"{prefix}__{name}" if prefix else name
        items.append(f'<div class="{kind}"><dt>{escape(shown)}</dt><dd>{escape(_shown(value))}</dd></div>')
    return items


def _defaults(kind: type) -> dict[str, Any]:
    import inspect

    found = inspect.signature(kind).parameters.values()
    return {p.name: p.default for p in found if p.default is not inspect.Parameter.empty}


def _shown(value: Any) -> str:
    """A parameter as text; callables by name, because their repr holds an address that changes."""
    if callable(value) and hasattr(value, "__qualname__"):
        return str(value.__qualname__)
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 120 else text[:117] + "..."


def origin_section(context: Context) -> Section:
    """The command that made the report and the versions it was made with."""
    known = [f"{name} {metadata.version(name)}" for name in ("sidelight", "numpy", "scipy", "scikit-learn")]
    words = ", ".join([*known, f"Python {platform.python_version()}"])
    if context.date is not None:
        words = f"{context.date}. {words}"
    command = "" if context.command is None else f'<pre class="command">{escape(context.command)}</pre>'
    notation = f'<p class="caption">{NOTATION}</p>' if command and context.map is not None else ""
    return Section("origin", "How it was made", f'{command}<p class="versions">{escape(words)}.</p>{notation}')
