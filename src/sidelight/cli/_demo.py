"""``sidelight demo``: turning objects. Given the object the map shows the angle, given the angle the object."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.base.messages import count_of
from sidelight.report._understood import understood

from ._columns import ColumnRoles
from ._embed import Fitted, Request, fit, write_results
from ._methods import DEFAULT
from ._output import INTERRUPTED, Output
from ._read import Reading, read

__all__ = ["demo", "demo_page"]

HINTS = 3
"""Views of every object that are said to show the same."""
PERIOD = {"angle": 360.0}


@dataclass(frozen=True)
class Views:
    """The pictures on disk, as anybody's would be, and the two factors that made them."""

    file: Path
    same: Path
    objects: NDArray[Any]
    angles: NDArray[np.float64]
    hinted: NDArray[np.bool_]

    @property
    def neighbours(self) -> int:
        """Number of neighbours that predict a row: ten, or fewer with few views of other objects."""
        return max(1, min(10, int((~self.hinted).sum()) * 2 // 3))


def demo(talk: Output, out: Path, *, n_views: int, settings: dict[str, Any]) -> None:
    """Render the turntable, embed it without and with ``given``, measure, draw, and write the reports."""
    talk.say("Rendering three objects on a turntable ...")
    views = _render(out, n_views)
    talk.say(f"  {count_of(len(views.angles), 'picture')} of {_listed(views.objects)}: {views.file}")
    ask = {
        "plain": _request(views, out / "plain", settings),
        "given object": _request(views, out / "given-object", settings, given="object"),
        "given object, hints": _request(views, out / "given-object", settings, given="object", same=views.same),
        "given angle": _request(views, out / "given-angle", settings, given="angle", kind="angle"),
    }
    talk.say("Embedding them: without given; given the object; with pairs of corresponding views; given the angle.")
    fitted = {name: _fitted(talk, name, request) for name, request in ask.items()}
    measures = {name: _measures(views, one) for name, one in fitted.items()}
    _say_measures(talk, measures, views.neighbours)
    written = [name for name in fitted if name in ("given object, hints", "given angle")]
    plain = np.asarray(fitted["plain"].file.model.embedding_)
    for name in written:
        write_results(ask[name], replace(fitted[name], plain=plain))
    pictures = _draw(talk, views, out, *(fitted[name] for name in written))
    talk.answer |= {
        "reports": [ask[name].results["report"] for name in written],
        "pictures": pictures,
        "seconds": sum(one.seconds for one in fitted.values()),
        "interrupted": any(one.interrupted for one in fitted.values()),
        "measures": measures,
    }
    talk.exit_code = INTERRUPTED if talk.answer["interrupted"] else 0
    _say_where(talk, views, talk.answer["reports"], pictures)


def demo_page(
    talk: Output, out: Path, *, n_views: int, settings: dict[str, Any], wait: bool = True, browser: bool = True
) -> None:
    """Open the map of the turntable without ``given``, with the object and pairs of views already set as hints."""
    from sidelight.explorer import Statement

    from ._explore import Opening, open_page, require_server, table_for

    require_server("sidelight demo --explore")
    talk.say("Rendering three objects on a turntable, and embedding them without given ...")
    views = _render(out, n_views)
    plain = _fitted(talk, "plain", _request(views, out / "plain", settings))
    chosen = [int(row) for row in np.flatnonzero(views.hinted)]
    groups = [[row for row in chosen if views.objects[row] == name] for name in dict.fromkeys(views.objects)]
    said = [Statement("factor_out", column="object")]
    said += [Statement("same", rows=groups[0], others=other) for other in groups[1:]]
    opening = Opening(out / "explore", 0, browser, PERIOD, said, wait)
    talk.say("In the page, press Re-fit: the map then shows the angle, whatever the object.")
    open_page(talk, plain.file, table_for(plain.file, plain.matrix, plain.X), opening, "Turntable", {})


def _render(out: Path, n_views: int) -> Views:
    from sidelight import datasets

    data = datasets.turntable(n_views)
    objects, angles = data.factors["object"], data.factors["angle"]
    out.mkdir(parents=True, exist_ok=True)
    file, same = out / "turntable.npz", out / "same.csv"
    np.savez_compressed(file, images=data.images, object=objects, angle=angles)
    chosen = np.unique(np.arange(HINTS) * n_views // HINTS)
    first = [np.flatnonzero(objects == name)[0] for name in dict.fromkeys(objects)]
    pairs = [(first[0] + view, start + view) for view in chosen for start in first[1:]]
    lines = "".join(f"{one},{other}\n" for one, other in pairs)
    same.write_text(f"row,same as\n{lines}", encoding="utf-8")
    return Views(file, same, objects, angles, np.isin(angles, angles[chosen]))


def _request(
    views: Views, out: Path, settings: dict[str, Any], given: str = "", kind: str = "", same: Path | None = None
) -> Request:
    """What ``sidelight embed`` would be asked for."""
    how = Reading(ColumnRoles(given=[given] if given else ()))
    command = f"sidelight embed {views.file} --out {out} --given {given} --period angle=360"
    command += f" --given-type {kind}" if kind else ""
    command += f" --same {same}" if same else ""
    command += "".join(f" --set {name}={value}" for name, value in settings.items())
    types = [kind] if kind else []
    return Request(
        views.file, out, DEFAULT, settings=settings, how=how, force=True, command=command, given_types=types, same=same,
        periods=PERIOD,
    )  # fmt: skip


def _fitted(talk: Output, name: str, request: Request) -> Fitted:
    found = fit(Output(quiet=True), request, read(request.data, request.how))
    words = understood(found.file.model)
    talk.say(f"  {name}: {found.seconds:.1f} s" + (f"; {words}" if words else ""))
    return found


def _measures(views: Views, fitted: Fitted) -> dict[str, float]:
    """Prediction of each factor from neighbours on the map, and share of variance reconstructed."""
    from sidelight.evaluate import leakage, recovery

    model, k = fitted.file.model, views.neighbours
    Z, asked = model.embedding_, np.where(views.hinted, np.nan, views.angles)
    across = recovery(Z, asked, groups=views.objects, period=360.0, n_neighbors=k)
    return {
        "object": leakage(Z, views.objects, n_neighbors=k).value,
        "angle (R²)": recovery(Z, views.angles, period=360.0, n_neighbors=k),
        "angle, other objects (R²)": across,
        "pictures back (R²)": float(model.score(fitted.X, **fitted.matrix.side)),
    }


def _say_measures(talk: Output, measures: dict[str, dict[str, float]], neighbours: int) -> None:
    chance = ("0.333", "0.000", "0.000", "0.000")
    names = list(measures["plain"])
    rows = [
        (name, *(f"{one[name]:.3f}" for one in measures.values()), guess)
        for name, guess in zip(names, chance, strict=True)
    ]
    talk.say(f"Prediction from {neighbours} neighbours on the map:")
    talk.table(("", "plain", "given object", "+ hints", "given angle", "chance"), rows)
    talk.say(
        "Good: leakage of the given factor at or below chance, recovery of the others near 1. The pictures "
        f"do not tell which view of a duck corresponds to which of a mug: {HINTS} pairs of views decide it "
        "(these are not measured)."
    )


def _draw(talk: Output, views: Views, out: Path, by_object: Fitted, by_angle: Fitted) -> list[Path]:
    """Draw both maps in both colours, this pose of every object, and every pose of these objects."""
    if find_spec("matplotlib") is None:
        talk.say('Pictures need matplotlib: pip install "sidelight[report]".')
        return []
    from matplotlib.figure import Figure

    from sidelight import plot

    names = {"maps": (11.6, 8.6), "every_object": (10.6, 4.3), "every_angle": (4.9, 8.6)}
    figures = {name: Figure(figsize=size, layout="constrained") for name, size in names.items()}
    axes = figures["maps"].subplots(2, 2)
    for ax, fitted, given in zip(axes, (by_object, by_angle), ("object", "angle"), strict=True):
        factors = {"object": (views.objects, None), "angle": (views.angles, 360.0)}
        rest = "angle" if given == "object" else "object"
        (known, first), (other, second) = factors[given], factors[rest]
        told = f"given the {given}" + (f" and {HINTS} hints" if given == "object" else "")
        titles = (f"{told}: coloured by {given}", f"{told}: coloured by {rest}")
        model = fitted.file.model
        plot.known_and_rest(model, known, other, names=(given, rest), periods=(first, second), titles=titles, axes=ax)
    n = len(views.angles) // 3
    poses = n + np.arange(9) * n // 9
    things = np.array([0, n, 2 * n]) + n // 5
    grid = {
        "every_object": (by_object, poses, "this pose of every object"),
        "every_angle": (by_angle, things, "these objects at every angle"),
    }
    for name, (fitted, rows, title) in grid.items():
        shape, own = fitted.file.image_shape, fitted.matrix.given.iloc[rows]
        ax = figures[name].subplots()
        plot.counterfactual_grid(
            fitted.file.model, fitted.matrix.X[rows], given=own, image_shape=shape, title=title, ax=ax
        )
    for name, figure in figures.items():
        figure.savefig(out / f"{name}.png")
    return [out / f"{name}.png" for name in figures]


def _say_where(talk: Output, views: Views, reports: list[Path], pictures: list[Path]) -> None:
    talk.say(f"Yours next: sidelight embed {views.file} --given object --same {views.same} --out mine")
    if pictures:
        talk.say(f"Pictures: {', '.join(str(path) for path in pictures)}")
    for path in reports:
        talk.say(f"Open the report: {path.resolve()}", style="bold")
    talk.say("Or ask the map and steer it in the browser: sidelight demo --explore")


def _listed(objects: NDArray[Any]) -> str:
    return ", ".join(dict.fromkeys(map(str, objects)))
