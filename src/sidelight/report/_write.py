"""Put the sections together and write the file."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from sidelight.base.alias import renamed_argument
from sidelight.base.files import atomic_write

from ._across_section import across_section
from ._axes_section import axes_section
from ._change_sections import analogy_section, flow_section
from ._context import Context, context_of
from ._filters_section import filters_section
from ._given_section import given_section
from ._groups_section import groups_section
from ._map_sections import density_section, forward_section, map_section
from ._meaning_section import meaning_section
from ._options import ReportOptions
from ._pairs_section import pairs_section
from ._section import Section, to_json
from ._spectrum_section import spectrum_section
from ._text_sections import (
    cost_section,
    origin_section,
    parameters_section,
    path_section,
    quality_section,
    summary,
    training_section,
)

__all__ = ["SECTIONS", "Builder", "page_of", "write"]

Builder = Callable[[Context], Section | None]

SECTIONS: tuple[Builder, ...] = (
    map_section,
    axes_section,
    spectrum_section,
    given_section,
    across_section,
    meaning_section,
    groups_section,
    forward_section,
    density_section,
    pairs_section,
    analogy_section,
    flow_section,
    filters_section,
    quality_section,
    cost_section,
    path_section,
    training_section,
    parameters_section,
    origin_section,
)
"""The sections of a report, in their order."""

NOSCRIPT = (
    '<noscript><p class="note">The map and its pictures need JavaScript, which is switched off; tables and the '
    "annealing path do not.</p></noscript>\n"
)

SCRIPTS = ("drawing.js", "scatter.js", "selection.js", "informed.js", "report.js")


@renamed_argument("Y", "y")
def write(
    model: Any,
    path: str | os.PathLike[str],
    *,
    X: Any = None,
    y: Any = None,
    table: Any = None,
    to_data: Callable[[Any], Any] | None = None,
    n_columns: int | None = None,
    row_names: Any = None,
    row_numbers: Any = None,
    embedding: Any = None,
    colours: Any = None,
    colour: str | None = None,
    labels: Any = None,
    given: Any = None,
    attributes: Any = None,
    plain: Any = None,
    periods: Mapping[str, float] | None = None,
    image_shape: Sequence[int] | None = None,
    title: str | None = None,
    command: str | None = None,
    notes: Sequence[str] = (),
    seconds: float | None = None,
    date: str | None = None,
    max_rows: int = 50_000,
    sections: Sequence[Builder] = SECTIONS,
) -> Path:
    """Write a report: one self-contained HTML file that needs no network. The same arguments give the same bytes.

    Parameters
    ----------
    model : fitted model
        Its ``embedding_`` is the map. A model that predicts outputs from inputs (gated machines and auto-encoders,
        fields) has none: pairs, transformations and filters are shown instead. Sections that need
        ``inverse_transform``, ``latent_log_density``, ``history_`` or ``estimate_cost`` are left out if the model lacks
        it. For a Pipeline, the map of the last step is shown.
    path : path
        The file to write, atomically.
    X : array-like of shape (n, d), optional
        The rows on the map. Needed for the quality measures and the images of rows. If their number differs from that
        of ``embedding_``, they are embedded by ``transform`` and shown instead.
        For a model of fields: sequences or images. A sparse graph of distances is not shown.
    y : array-like of shape (n, e), optional
        For a model that predicts outputs: the outputs of ``X``, preferably of held-out pairs.
    table : data frame or mapping of name to array-like of shape (n,), optional
        The rows in their original form: numbers in their own units, categories, dates, text. They are shown in the
        tooltip and as colours of the map. By default ``X``; pass it if the model was fitted on scaled or encoded
        numbers.
    to_data : function, optional
        From rows of the model (m, d) to rows in the units of ``table``: an array, or a table with its columns. By
        default the model returns them in these units itself, as a Pipeline does.
    n_columns : int, optional
        Number of embedded columns, for the summary. By default those that ``to_data`` returns, without free text.
    row_names : array-like of shape (n,), optional
        Names of the rows, shown at every point; by default the index of a data frame that has one of its own.
    row_numbers : array-like of int of shape (n,), optional
        Number of each row in its source, if rows were left out; by default 0, 1, 2, ....
    embedding : array-like of shape (n, q), optional
        The map to show instead of ``embedding_``.
    colours : mapping of name to array-like of shape (n,), or data frame, optional
        Columns to colour by and to show at every point.
    colour : str, optional
        The column of ``colours`` shown first. By default the labels; without labels the column that neighbours on the
        map predict best, preferring 2 to 12 categories named in ``colours``.
    labels : array-like of shape (n,), optional
        Class labels: the first colour, and in the quality measures.
    given : array-like of shape (n,) or (n, g), or table, optional
        The known variables of the rows, for a model that was fitted with ``given``; by default the columns of
        ``colours`` with the same names.
    attributes : mapping of relation name to array-like of shape (n,) or table of n rows, optional
        For a model fitted with relations: the labels or values that each relation is based on, also for held-out rows,
        on which the report measures how well each axis predicts them. By default the columns of ``colours`` with the
        names of relations.
    plain : array-like of shape (n, q) or "fit", optional
        The embedding of the same rows without ``given``, for comparison. "fit" fits it here with the model's settings,
        which takes about as long as a fit of the model. By default none is shown: a report fits no second model.
    periods : mapping of name to float, optional
        Periodic columns of ``colours``, with their periods (360 for degrees).
    image_shape : (height, width) or (height, width, 3), optional
        Rows are images of this shape; for pairs, inputs and outputs with that many values.
    title, command, date : str, optional
        Title of the report, the command that made it, and the date, if given. By default the file has no date, so that
        two files can be compared.
    notes : sequence of str
        Sentences shown below the summary, for example on the treatment of text columns.
    seconds : float, optional
        Duration of the fit, shown if given. By default the file has no measured time, so that the same fit gives the
        same bytes.
    max_rows : int
        Maximum number of rows on the interactive map; of more, evenly spaced ones are shown, with a note.
    sections : sequence of functions
        Each takes the context of the report and returns a section, or None.


    See Also
    --------
    show : In a cell of a notebook.
    sidelight.explore : A page that can be asked and told.
    """
    asked = ReportOptions(
        X=X, y=y, table=table, to_data=to_data, n_columns=n_columns, row_names=row_names, row_numbers=row_numbers,
        embedding=embedding, colours=colours, colour=colour, labels=labels, given=given, attributes=attributes,
        plain=plain, periods=periods, image_shape=image_shape, title=title, command=command, notes=notes,
        seconds=seconds, date=date, max_rows=max_rows,
    )  # fmt: skip
    page = page_of(model, sections, asked)
    with atomic_write(path) as unfinished:
        unfinished.write_bytes(page.encode("utf-8"))
    return Path(path)


def page_of(model: Any, sections: Sequence[Builder], asked: ReportOptions) -> str:
    """Return the report of a model as text."""
    context = context_of(model, asked)
    return _page(context, [section for section in (build(context) for build in sections) if section is not None])


def _page(context: Context, sections: list[Section]) -> str:
    """Fill the template; all placeholders are replaced in one pass, so that no inserted text can act as one."""
    style = _resource("report.css")
    script = "\n".join(_resource(name) for name in SCRIPTS)
    filling = {
        "policy": f"default-src 'none'; img-src data:; style-src {_digest(style)}; script-src {_digest(script)}",
        "title": escape(context.title),
        "summary": summary(context),
        "noscript": NOSCRIPT if any(section.data for section in sections) else "",
        "sections": "\n".join(_section(section, wide) for section, wide in _layout(sections)),
        "style": style,
        "script": script,
        "data": to_json({section.name: dict(section.data) for section in sections if section.data}),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda place: filling[place.group(1)], _resource("template.html"))


def _layout(sections: list[Section]) -> list[tuple[Section, bool]]:
    """Whether each section takes the full width; a half-width section without a neighbour does, too."""
    placed: list[tuple[Section, bool]] = []
    rest = list(sections)
    while rest:
        paired = not rest[0].wide and len(rest) > 1 and not rest[1].wide
        count = 2 if paired else 1
        placed += [(section, not paired) for section in rest[:count]]
        rest = rest[count:]
    return placed


def _section(section: Section, wide: bool) -> str:
    kind = "wide" if wide else "half"
    name = escape(section.name)
    return (
        f'<section id="{name}" class="{kind}" aria-labelledby="{name}-title">'
        f'<h2 id="{name}-title">{escape(section.title)}</h2>{section.html}</section>'
    )


def _resource(name: str) -> str:
    return resources.files("sidelight.report").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """The hash that allows exactly this inline text in the content security policy."""
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
    return f"'sha256-{digest}'"
