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

from sidelight.base.files import replacing

from ._across_section import across_section
from ._axes_section import axes_section
from ._change_sections import analogy_section, flow_section
from ._context import Context, context_of
from ._filters_section import filters_section
from ._given_section import given_section
from ._map_sections import density_section, forward_section, map_section
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

__all__ = ["SECTIONS", "Builder", "write"]

Builder = Callable[[Context], Section | None]

SECTIONS: tuple[Builder, ...] = (
    map_section,
    axes_section,
    spectrum_section,
    given_section,
    across_section,
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

SCRIPTS = ("drawing.js", "scatter.js", "informed.js", "report.js")


def write(
    model: Any,
    path: str | os.PathLike[str],
    *,
    X: Any = None,
    Y: Any = None,
    embedding: Any = None,
    colours: Any = None,
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
    """Write a report: one HTML file that needs no other file and no network. Same arguments, same bytes.

    Parameters
    ----------
    model : fitted model
        Its ``embedding_`` is the map. A model that learns outputs of inputs (gated machines and auto-encoders, fields)
        has none: pairs, changes and filters are shown instead. What it has of ``inverse_transform``,
        ``latent_log_density``, ``history_`` and ``estimate_cost`` is shown; what it does not have is left out. A
        Pipeline is shown by the map of its last step.
    path : path
        Where to write. The file appears whole or not at all.
    X : array-like of shape (n, d), optional
        The rows on the map. Needed for the quality measures and the rows' own pictures. Of another length
        than ``embedding_``, they are sent through ``transform`` and shown instead.
        For a model of fields: sequences or pictures. Of a sparse graph of distances nothing is shown.
    Y : array-like of shape (n, e), optional
        For a model that learns outputs: those of ``X``, best of pairs that the fit did not see.
    embedding : array-like of shape (n, q), optional
        The map to show, where it is not ``embedding_``.
    colours : mapping of name to array-like of shape (n,), or data frame, optional
        Columns to colour by and to show at every point.
    labels : array-like of shape (n,), optional
        Class labels: the first colour, and in the quality measures.
    given : array-like of shape (n,) or (n, g), or table, optional
        What is known of the rows, for a model that was fitted with ``given``; by default the columns of ``colours``
        that have the names of the model's.
    attributes : mapping of relation name to array-like of shape (n,) or table of n rows, optional
        What the relations of a model are about, for a model that was fitted with some; also of rows whose entry the
        model did not see, on which the report measures what each axis tells. By default the columns of ``colours`` that
        have the names of relations.
    plain : array-like of shape (n, q) or "fit", optional
        The map of the same rows without ``given``, to compare with. "fit" fits it here with the model's settings, which
        takes about as long as a fit of the model. By default no such map is shown: a report fits no second model.
    periods : mapping of name to float, optional
        Columns of ``colours`` that go round, with their periods (360 for degrees).
    image_shape : (height, width) or (height, width, 3), optional
        Rows are pictures of this shape; of pairs, inputs and outputs that have as many values.
    title, command, date : str, optional
        Title of the report, the command that made it, and when: shown if given. By default the file carries no
        date, so that two of them can be compared.
    notes : sequence of str
        Sentences to be shown under the summary, for example what was done with text columns.
    seconds : float, optional
        What the fit took; by default the model's own record.
    max_rows : int
        Of more rows, so many evenly spaced ones are on the interactive map (the report says so).
    sections : sequence of functions
        From the context of the report to a section, or None.

    """
    context = context_of(
        model, X=X, Y=Y, embedding=embedding, colours=colours, labels=labels, given=given, attributes=attributes,
        plain=plain, periods=periods, image_shape=image_shape, title=title, command=command, notes=notes,
        seconds=seconds, date=date, max_rows=max_rows,
    )  # fmt: skip
    built = [section for section in (build(context) for build in sections) if section is not None]
    page = _page(context, built)
    with replacing(path) as unfinished:
        unfinished.write_bytes(page.encode("utf-8"))
    return Path(path)


def _page(context: Context, sections: list[Section]) -> str:
    """Fill the template; every place is filled in one pass, so no text can pass for a place."""
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
    """Say of each section whether it takes the whole width: also the half that has no half beside it."""
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
    """What lets exactly this inline text through the content security policy."""
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
    return f"'sha256-{digest}'"
