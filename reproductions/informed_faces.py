"""S0 section 3.2, S1 section 3 on faces under known lights: told the person, the map shows the light, and turned round.

The forward map then puts a light on a face it was never seen with. Two models can do so: one that was told the person
(this place in the plane of lights, shown for that person), and one that was told the light (this person, shown for
that light).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.informed_protocols import Protocol, yale_light, yale_person
from reproductions.figures import bare, house_style
from reproductions.harness import Outcome
from sidelight import Conditioning, KernelInformationEmbedding

TITLE = "Faces and lights, each factored out of the other"
SOURCE = "S0 (Memisevic 2007), section 3.2; S1 (Memisevic 2006), section 3 (our faces: the sources show no such set)"
PEOPLE, SIDE = 8, 32
SHOWN, LENDER = (0, 2, 4, 6), 1
LIGHTS = ((-95, 0), (-35, 15), (0, 45), (35, -20), (70, 0))
FRONT = (0, 0)
NUMBERS = Conditioning(types="number")
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#222222", "#999933")


def run() -> Outcome:
    by_person, by_light = yale_person(PEOPLE), yale_light()
    person, light = by_person.given, by_light.given
    maps = {
        "plain": KernelInformationEmbedding().fit(by_person.X).embedding_,
        "given the person": KernelInformationEmbedding().fit(by_person.X, given=person).embedding_,
        "given the light": KernelInformationEmbedding(conditioning=NUMBERS).fit(by_light.X, given=light).embedding_,
    }
    grid = relit(by_person.X, person, light)
    outcome = Outcome(
        "Extended Yale B, the first eight people under 64 lights at 32 × 32, 2-D, our defaults; given the person (a "
        "category), or azimuth and elevation of the light (two numbers). The grid comes from models fitted without its "
        "20 true pictures.",
        _draw(maps, person, light, grid),
        "Left: the maps, coloured by the azimuth of the light (above) and by the person (below). Told the person, the "
        "map is a plane of lights in which the people lie on top of each other; told the light, it shows the people. "
        "Right: this light on that face. First line: the second person under five lights. Then for four others the "
        "true pictures, which the models have not seen; the lender's pictures as they would be of that person (a model "
        "told the person); and the person's frontal picture as it would be under that light (told the light).",
    )
    _compare(outcome, maps, by_person, by_light)
    for name, rows in grid.items():
        if name not in ("true", "lender"):
            outcome.note(f"R² of the 20 unseen pictures, {name}", _explained(grid["true"], rows, by_person.X), "-")
    outcome.notes += _NOTES
    return outcome


def relit(X: Any, person: Any, light: Any) -> dict[str, Any]:
    """Pictures (people shown, lights, pixels) that no model has seen, by several ways; and the lender's (lights, .)."""
    cell = np.array([[_row(person, light, who, where) for where in LIGHTS] for who in SHOWN])
    lender = np.array([_row(person, light, LENDER, where) for where in LIGHTS])
    front = np.array([_row(person, light, who, FRONT) for who in SHOWN])
    seen = np.setdiff1d(np.arange(len(X)), cell)
    lights = KernelInformationEmbedding().fit(X[seen], given=person[seen])
    people = KernelInformationEmbedding(conditioning=NUMBERS).fit(X[seen], given=light[seen])
    who, where = np.repeat(SHOWN, len(LIGHTS)), np.tile(np.array(LIGHTS, dtype=float), (len(SHOWN), 1))
    means = _means_of_both(X, person, light, seen)
    lent, own = X[np.tile(lender, len(SHOWN))], np.full(len(who), LENDER)
    place = lights.transform(lent, given=own)
    change = lights.inverse_transform(place, given=who) - lights.inverse_transform(place, given=own)
    ways = {
        "told the person": lights.counterfactual(lent, given=who),
        "told the person, the change added to the lender's picture": lent + change,
        "told the light": people.counterfactual(X[np.repeat(front, len(LIGHTS))], given=where),
        "mean of the person + mean of the light": np.stack([means(*pair) for pair in zip(who, where, strict=True)]),
    }
    return {"true": X[cell], "lender": X[lender]} | {name: rows.reshape(*cell.shape, -1) for name, rows in ways.items()}


def _row(person: Any, light: Any, who: int, where: tuple[int, int]) -> int:
    return int(np.flatnonzero((person == who) & (light == where).all(axis=1))[0])


def _means_of_both(X: Any, person: Any, light: Any, seen: Any) -> Any:
    def means(who: int, where: Any) -> Any:
        of_person, of_light = person[seen] == who, (light[seen] == where).all(axis=1)
        return X[seen][of_person].mean(axis=0) + X[seen][of_light].mean(axis=0) - X[seen].mean(axis=0)

    return means


def _explained(true: Any, made: Any, X: Any) -> float:
    return float(1 - np.sum((made - true) ** 2) / np.sum((true - X.mean(axis=0)) ** 2))


def _compare(outcome: Outcome, maps: Mapping[str, Any], by_person: Protocol, by_light: Protocol) -> None:
    limits = {bar.measure: bar.limit for bar in (*by_person.bars, *by_light.bars) if bar.rival is None}
    informed = maps["given the person"]
    for what in ("azimuth R² across people", "elevation R² across people"):
        outcome.at_least(f"given the person: {what}", by_person.measures[what](informed), limits[what])
    leakage = by_person.measures["person leakage"]
    outcome.at_most("given the person: person leakage (chance 0.125)", leakage(informed), limits["person leakage"])
    hit, left = by_light.measures["person 10-NN hit"], by_light.measures["light leakage"]
    needed = round(hit(maps["plain"]) + 0.15, 4)
    outcome.at_least("given the light: person hit", hit(maps["given the light"]), needed)
    outcome.at_most("given the light: light leakage, R²", left(maps["given the light"]), limits["light leakage"])
    forests = by_person.measures["person leakage, forest"], by_light.measures["light leakage, forest"]
    outcome.note("given the person: person leakage by a forest", forests[0](informed), "-")
    outcome.note("given the light: light leakage by a forest, R²", forests[1](maps["given the light"]), "-")
    for what in ("azimuth R² across people", "elevation R² across people", "person leakage"):
        outcome.note(f"plain: {what}", by_person.measures[what](maps["plain"]), "-")
    outcome.note("plain: person leakage by a forest", forests[0](maps["plain"]), "-")
    outcome.note("plain: person hit", hit(maps["plain"]), "-")
    outcome.note("plain: light leakage, R²", left(maps["plain"]), "-")


_NOTES = [
    "R² across people: the light of each row is predicted from its five nearest rows of other people. Leakage and hit "
    "are those of ten neighbours. The bar of the person's hit is that of the plain map + 0.15.",
    "Told the person, a picture under an unseen light is an average of the same person under the lights around it, and "
    "an average blurs shadows that move with the light; the means of person and light do better. Told the light, the "
    "other people have shown what it does.",
]


def _draw(maps: Mapping[str, Any], person: Any, light: Any, grid: Mapping[str, Any]) -> Any:
    with house_style() as plt:
        figure = plt.figure(figsize=(10.2, 6.0))
        left, right = figure.subfigures(1, 2, width_ratios=(3, 1.5))
        axes = left.subplots(2, len(maps))
        for (above, below), (name, Z) in zip(axes.T, maps.items(), strict=True):
            x, y = Z.T
            drawn = bare(above, name).scatter(x, y, c=light[:, 0], s=7, cmap="coolwarm", linewidths=0)
            bare(below).scatter(x, y, c=np.array(PALETTE)[person], s=7, linewidths=0)
            above.set_adjustable("datalim")
            below.set_adjustable("datalim")
        where = {"ax": axes, "shrink": 0.4, "aspect": 20, "anchor": (0.0, 0.93)}
        bar = left.colorbar(drawn, label="azimuth of the light, degrees", **where)
        bar.outline.set_visible(False)
        handles = [plt.Line2D([], [], marker="o", linestyle="", markersize=4, color=colour) for colour in PALETTE]
        left.legend(handles, range(1, PEOPLE + 1), loc="outside lower center", ncols=PEOPLE, title="person")
        _faces(right.subplots(), grid)
        return figure


def _faces(ax: Any, grid: Mapping[str, Any]) -> None:
    """The lender's lights, then of each person the true line and the two that were made."""
    lines, labels = [grid["lender"]], ["lender"]
    for k, who in enumerate(SHOWN):
        lines += [grid[name][k] for name in ("true", "told the person", "told the light")]
        labels += [f"person {who + 1}, true", "told the person", "told the light"]
    gaps = np.cumsum([0, *(6 if k % 3 == 0 else 0 for k in range(len(lines) - 1))])
    height, width = len(lines) * (SIDE + 1) + int(gaps[-1]), len(LIGHTS) * (SIDE + 1)
    sheet = np.full((height, width), 255.0)
    tops = [k * (SIDE + 1) + int(gap) for k, gap in enumerate(gaps)]
    for top, line in zip(tops, lines, strict=True):
        for column, picture in enumerate(line):
            across = column * (SIDE + 1)
            sheet[top : top + SIDE, across : across + SIDE] = picture.reshape(SIDE, SIDE)
    ax.imshow(sheet, cmap="gray", vmin=0, vmax=255, interpolation="nearest")
    ax.set_yticks([top + SIDE / 2 for top in tops], labels)
    middles = (np.arange(len(LIGHTS)) + 0.5) * (SIDE + 1)
    ax.set_xticks(middles, [f"{azimuth}°\n{elevation}°" for azimuth, elevation in LIGHTS])
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_title("azimuth, elevation of the light")
