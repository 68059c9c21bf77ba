"""S0 figs. 3.7-3.9 (S1 figs. 2, 3): objects on a turntable, told which object it is, or from which angle it is seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.decomposition import KernelPCA

from benchmarks.informed_protocols import CARS, Protocol, cars_angle, cars_object, five_objects
from reproductions.figures import COLOURS, GREY, INK, bare, house_style
from reproductions.harness import Outcome
from sidelight import Annealing, Conditioning, KernelInformationEmbedding
from sidelight.datasets import load_coil20
from sidelight.plot.placement import place_apart

TITLE = "Turntable objects, informed"
SOURCE = "S0 (Memisevic 2007), section 3.2, figs. 3.7-3.9; S1 (Memisevic 2006), figs. 2, 3"
SIDE, SEEDS, STEPS = 32, 4, 12
HINTED = (0.0, 70.0, 145.0)
SHRUNK = (128 / SIDE) ** 2
QUARTER = 2 * np.rad2deg(np.arcsin(0.25))  # degrees at which the kernel on a circle of radius 2 has fallen to 1/e


WIDTH, POWER = 5e7, 0.6
"""The source's h of the data kernel, and its λ, which is not annealed."""
RADII = (1.0, 2.0, 3.0, 5.0, 10.0)  # of the circle of angles, which is not given: all are tried
FIRST = "source's setting"


def run() -> Outcome:
    cars, turned = cars_object(), cars_angle()
    five, hinted = five_objects(), five_objects(HINTED)
    source = source_maps(cars, turned, five)
    maps = {
        "plain": ours(cars, informed=False),
        "given the car": ours(cars),
        "given the angle": ours(turned),
    }
    places = {
        f"{FIRST}, first start": source["five objects, informed"][0],
        f"{FIRST}, plain": source["five objects, plain"][0],
        "informed": ours(five),
        "informed, three hints": ours(hinted),
        "data space": five.X,
        "plain": ours(five, informed=False),
    }
    outcome = Outcome(
        "Cars: objects 3, 6 and 19 of COIL-20, 72 views each. Five objects: the first, with their first 30 views (0 to "
        "145°); hints: their views at 0°, 70° and 145° are said to be the same pose. Source's setting: pictures of "
        "128 × 128, the product of kernels, h = 5e7, cars at 1, 2 and 3 with a Gaussian of bandwidth 1 (five objects: "
        "one-hot codes, bandwidth 1), second-power penalty with λ = 0.6 from small random values, no annealing; not "
        f"given: the radius of the circle of angles (1, and the best of 1, 2, 3, 5 and 10). {SEEDS} starts. Annealed: "
        "the same on 32 × 32 "
        f"(h divided by {SHRUNK:.0f}), one-hot codes, λ from 1 by 0.8 in {STEPS} steps; given the angle, h = 2e7 and a "
        "circle of radius 2. Ours: defaults on 32 × 32, 2-D.",
        _draw(source, maps, places, cars, five, hinted),
        "First line, as in fig. 3.8: kernel PCA (three dimensions), and the source's setting given the car (upright: "
        "the place of the car) and given the angle (the best radius), first start. Second line: ours; views of the "
        "three cars, a colour each, are joined at the same angle, every 15°. Told the car, the map shows the angle and "
        "the lines are short; told the angle, it shows the cars. Below, as in fig. 3.9: every third duck, and under it "
        "the nearest picture of each other object. The error is the median over all rows and objects.",
    )
    _compare_source(outcome, source, cars, turned, five)
    _compare_cars(outcome, maps, cars, turned)
    _compare_five(outcome, places, five, hinted)
    for way, value in unseen_views(cars).items():
        outcome.note(f"R² of unseen views, {way}", value, "-")
    outcome.notes += _NOTES
    return outcome


def source_maps(cars: Protocol, turned: Protocol, five: Protocol) -> dict[str, list[Any]]:
    """Maps in the source's setting, one for each start; of kernel PCA there is one."""
    large = _same_distances(load_coil20(128, objects=CARS).X)
    data = load_coil20(128, objects=range(5))
    large_five = _same_distances(data.take(np.isin(data.factors["view"], np.arange(30))).X)
    place = 1.0 + np.array([CARS.index(int(car)) for car in cars.given])
    one_hot = Conditioning("product", "category", 1.0)
    starts = range(SEEDS)
    maps = {
        "kernel PCA": [KernelPCA(3, kernel="rbf", gamma=1 / WIDTH).fit_transform(large)],
        "given the car": [_source_map(large, seed, place, Conditioning("product", "number", 1.0)) for seed in starts],
        "five objects, informed": [_source_map(large_five, seed, five.given, one_hot) for seed in starts],
        "five objects, plain": [_source_map(large_five, seed) for seed in starts],
    }
    by_radius = {radius: [_given_angle(large, seed, turned.given, radius) for seed in starts] for radius in RADII}
    hits = {r: np.mean([turned.measures["car 10-NN hit"](Z) for Z in found]) for r, found in by_radius.items()}
    maps["given the angle, radius 1"] = by_radius[1.0]
    maps["given the angle, the best radius"] = by_radius[max(hits, key=lambda radius: hits[radius])]
    return maps


def _given_angle(X: Any, seed: int, angle: Any, radius: float) -> Any:
    """The map given the angle, by a Gaussian of bandwidth 1 on a circle."""
    reach = 2 * np.rad2deg(np.arcsin(0.5 / radius))  # degrees at which that kernel has fallen to 1/e
    return _source_map(X, seed, angle, Conditioning("product", "angle", reach))


def _same_distances(X: Any) -> Any:
    """Coordinates of the rows in their span: as many columns as rows, and the distances of the pictures."""
    U, S, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    return U * S


def _source_map(X: Any, seed: int, given: Any = None, conditioning: str | Conditioning = "auto") -> Any:
    model = KernelInformationEmbedding(
        bandwidth=WIDTH,
        latent_kernel="gaussian",
        penalty="l2",
        regularization=Annealing(POWER, start=POWER),
        init="random",
        random_state=seed,
        conditioning=conditioning,
    )
    return model.fit(X, given=given).embedding_


def ours(protocol: Protocol, *, informed: bool = True) -> Any:
    """Our map, told what the protocol gives or nothing."""
    if not informed:
        return KernelInformationEmbedding().fit(protocol.X).embedding_
    model = KernelInformationEmbedding(conditioning=Conditioning(types=protocol.kind))
    return model.fit(protocol.X, given=protocol.given, same=protocol.same).embedding_


def annealed(protocol: Protocol, seed: int) -> Any:
    """The map of the published objective with a slow schedule of λ, on the smaller pictures."""
    angle = protocol.kind == "angle"
    model = KernelInformationEmbedding(
        bandwidth=(2e7 if angle else 5e7) / SHRUNK,
        conditioning=Conditioning("product", protocol.kind, QUARTER if angle else 1.0),
        penalty="l2",
        regularization=Annealing(0.8 ** (STEPS - 1), start=1.0, decay=0.8),
        init="random",
        random_state=seed,
    )
    return model.fit(protocol.X, given=protocol.given).embedding_


def unseen_views(cars: Protocol) -> dict[str, float]:
    """R² of every fifth view, which no model has seen, made from another car's picture at that angle, by three ways."""
    order, views = np.arange(len(cars.X)), len(cars.X) // len(CARS)
    hidden = np.flatnonzero((order + order // views) % 5 == 0)  # other angles of each car, so that one can be asked
    lender = (hidden + views) % len(cars.X)
    seen = np.setdiff1d(order, hidden)
    model = KernelInformationEmbedding().fit(cars.X[seen], given=cars.given[seen])
    asked, own, true = cars.given[hidden], cars.given[lender], cars.X[hidden]
    place = model.transform(cars.X[lender], given=own)
    change = model.inverse_transform(place, given=asked) - model.inverse_transform(place, given=own)
    means = {car: cars.X[seen][cars.given[seen] == car].mean(axis=0) for car in CARS}
    moved = np.stack([means[to] - means[of] for to, of in zip(asked, own, strict=True)])
    ways = {
        "counterfactual": model.counterfactual(cars.X[lender], given=asked),
        "the change added to the other car's picture": cars.X[lender] + change,
        "the difference of mean pictures added to it": cars.X[lender] + moved,
    }
    total = np.sum((true - cars.X[seen].mean(axis=0)) ** 2)
    return {way: float(1 - np.sum((rows - true) ** 2) / total) for way, rows in ways.items()}


def _compare_source(
    outcome: Outcome, source: Mapping[str, list[Any]], cars: Protocol, turned: Protocol, five: Protocol
) -> None:
    """The rows of the source's setting, which come first: the worst of the starts, and the best where it differs."""
    picture = "a picture"
    error, left, hit = "angle error across cars, mean, degrees", "car leakage (chance 0.33)", "car hit"
    asked = [
        ("given the car", error, cars, "angle error, mean"),
        ("given the car", left, cars, "car leakage"),
        ("given the angle, radius 1", hit, turned, "car 10-NN hit"),
        ("given the angle, the best radius", hit, turned, "car 10-NN hit"),
        ("five objects, informed", "angle error, median, degrees", five, "angle error, median"),
        ("five objects, informed", "object leakage (chance 0.2)", five, "object leakage"),
        ("five objects, plain", "angle error, median, degrees", five, "angle error, median"),
        ("five objects, plain", "object leakage (chance 0.2)", five, "object leakage"),
    ]
    for which, what, protocol, name in asked:
        values = [float(protocol.measures[name](Z)) for Z in source[which]]
        best, worst = (max(values), min(values)) if what == hit else (min(values), max(values))
        outcome.details[f"{FIRST}, {which}: {what}"] = values
        outcome.note(f"{FIRST}, {which}: {what}, worst of {SEEDS} starts", worst, picture)
        outcome.note(f"{FIRST}, {which}: {what}, best", best, picture)
    for what, protocol, name in (
        (error, cars, "angle error, mean"),
        (left, cars, "car leakage"),
        (hit, turned, "car 10-NN hit"),
    ):
        outcome.note(f"{FIRST}, kernel PCA in 3-D: {what}", protocol.measures[name](source["kernel PCA"][0]), picture)


def _compare_cars(outcome: Outcome, maps: Mapping[str, Any], cars: Protocol, turned: Protocol) -> None:
    bars = {bar.measure: bar.limit for bar in (*cars.bars, *turned.bars)}
    asked = (
        ("given the car", "angle error across cars, mean, degrees", cars, "angle error, mean"),
        ("given the car", "car leakage (chance 0.33)", cars, "car leakage"),
        ("given the angle", "car hit", turned, "car 10-NN hit"),
        ("given the car", "car leakage by a forest (chance 0.33)", cars, "car leakage, forest"),
        ("given the angle", "angle leakage, R²", turned, "angle leakage"),
    )
    for given, what, protocol, name in asked:
        value = protocol.measures[name](maps[given])
        if name not in bars:
            outcome.note(f"{given}: {what}", value)
        else:
            hold = outcome.at_least if name == "car 10-NN hit" else outcome.at_most
            hold(f"{given}: {what}", value, bars[name])
    for _, what, protocol, name in asked:
        outcome.note(f"plain: {what}", protocol.measures[name](maps["plain"]), "-")
    starts = {id(protocol): [annealed(protocol, seed) for seed in range(SEEDS)] for protocol in (cars, turned)}
    for given, what, protocol, name in asked:
        values = [protocol.measures[name](Z) for Z in starts[id(protocol)]]
        worst = min(values) if name == "car 10-NN hit" else max(values)
        outcome.details[f"annealed, {given}: {what}"] = values
        outcome.note(f"annealed, {given}: {what}, worst of {SEEDS} starts", worst)


def _compare_five(outcome: Outcome, places: Mapping[str, Any], five: Protocol, hinted: Protocol) -> None:
    leakage, error = "object leakage", "angle error, median"
    limit = {bar.measure: bar.limit for bar in hinted.bars}
    for name, Z in places.items():
        if name.startswith(FIRST):  # has its rows already
            continue
        measures = (hinted if "hint" in name else five).measures
        left, off = f"five objects, {name}: object leakage (chance 0.2)", f"five objects, {name}: {error}, degrees"
        if "informed" in name:
            outcome.at_most(left, measures[leakage](Z), limit[leakage])
        else:
            outcome.note(left, measures[leakage](Z), "-")
        outcome.note(left.replace("leakage", "leakage by a forest"), measures[f"{leakage}, forest"](Z), "-")
        if "hint" in name:
            outcome.at_most(off, measures[error](Z), limit[error], "-")
        else:
            outcome.note(off, measures[error](Z), "a picture")
    maps = [annealed(five, seed) for seed in range(SEEDS)]
    for measure in (leakage, error):
        values = [five.measures[measure](Z) for Z in maps]
        outcome.details[f"five objects, annealed: {measure}"] = values
        for which, value in (("best", min(values)), ("worst", max(values))):
            outcome.note(f"five objects, annealed: {measure}, {which} of {SEEDS} starts", value)


_NOTES = [
    "Source's setting, fig. 3.8: given the car, the map shows the angle (3.5 to 4.3° off, as kernel PCA does), and the "
    "car in part: leakage 0.41 to 0.56 by start, where kernel PCA has 0.63 and chance is 0.33. Given the angle, three "
    "classes do not come out: at the best of five radii the best start has a hit of 0.61, kernel PCA 0.63.",
    "Source's setting, fig. 3.9: by start 15 to 30° off, and half to two thirds of the rows still have neighbours of "
    "their own object. Better than the plain map (30 to 40°), but not the clean rotation of the figure: it holds with "
    "luck.",
    "Angle errors of the cars are modulo 180° (they look alike from front and back), to the nearest row of another "
    "car; those of the five objects are to the nearest row of each other object, chance 42.5° over these views.",
    "Leakage by neighbours falls below chance where the groups are aligned: left out, a row leaves its own group in "
    "the minority around it. A forest on the map is asked beside it, whose folds hold out all groups of an angle.",
    "The source does not say which 30 views it took. The five objects do not look alike, and without hints nothing in "
    "the data says which view of a duck is which of a box: the figure's clean neighbours were luck or choice (the best "
    "start is nearer than our map without hints, the worst is not). Hinted rows are not asked.",
]


def _draw(
    source: Mapping[str, list[Any]],
    maps: Mapping[str, Any],
    places: Mapping[str, Any],
    cars: Protocol,
    five: Protocol,
    hinted: Protocol,
) -> Any:
    with house_style() as plt:
        figure = plt.figure(figsize=(9.6, 14.2))
        first, upper, lower = figure.subfigures(3, 1, height_ratios=(3.3, 3.5, 7.4))
        _draw_source(first, source, cars)
        for ax, (name, Z) in zip(upper.subplots(1, len(maps)), maps.items(), strict=True):
            _car_map(bare(ax, name), np.asarray(Z), cars)
        for ax, (name, Z) in zip(lower.subplots(3, 2).ravel(), places.items(), strict=True):
            measures = (hinted if "hint" in name else five).measures
            error, left = (measures[what](Z) for what in ("angle error, median", "object leakage"))
            _neighbour_sheet(ax, np.asarray(Z), five)
            ax.set_title(f"{name}: {error:.0f}° off, leakage {left:.2f}")
        return figure


def _draw_source(figure: Any, source: Mapping[str, list[Any]], cars: Protocol) -> None:
    """The three panels of fig. 3.8: kernel PCA, given the car (its place upright), given the angle."""
    Z = source["given the car"][0]
    place = 1.0 + np.array([CARS.index(int(car)) for car in cars.given])
    panels = {"kernel PCA": source["kernel PCA"][0], "given the car": np.column_stack([Z, place])}
    for k, (name, points) in enumerate(panels.items()):
        ax = figure.add_subplot(1, 3, 1 + k, projection="3d")
        for car, colour in zip(CARS, COLOURS, strict=False):
            ax.plot(*points[cars.given == car].T, "o", color=colour, markersize=2.2, linewidth=0)
        ax.set(xticks=[], yticks=[], zticks=[1, 2, 3] if k else [])
        ax.set_title(f"{FIRST}: {name}")
    informed = source["given the angle, the best radius"][0]
    ax = bare(figure.add_subplot(1, 3, 3), f"{FIRST}: given the angle")
    for car, colour in zip(CARS, COLOURS, strict=False):
        ax.plot(*informed[cars.given == car].T, "o", color=colour, markersize=3, linewidth=0)


def _car_map(ax: Any, Z: Any, protocol: Protocol) -> None:
    """Points by car, views at the same angle joined, and some of the pictures."""
    places = np.stack([Z[protocol.given == car] for car in CARS])
    for view in range(0, places.shape[1], 3):
        ax.plot(*places[:, view].T, color=GREY, linewidth=0.4, zorder=1)
    for points, colour in zip(places, COLOURS, strict=False):
        ax.scatter(*points.T, s=9, color=colour, linewidths=0, zorder=2)
    size = 0.105 * float(np.ptp(Z, axis=0).max())
    for row in place_apart(Z, 1.7 * size, 1.7 * size, 16):
        car = CARS.index(int(protocol.given[row]))
        x, y = Z[row]
        box = (x - size / 2, x + size / 2, y - size / 2, y + size / 2)
        ax.imshow(protocol.X[row].reshape(SIDE, SIDE), extent=box, cmap="gray", aspect="equal", zorder=3)
        frame = ax.plot(*np.array(box)[[[0, 1, 1, 0, 0], [2, 2, 3, 3, 2]]], color=COLOURS[car], linewidth=1.4, zorder=4)
        frame[0].set_solid_joinstyle("miter")
    middle, reach = (Z.max(axis=0) + Z.min(axis=0)) / 2, float(np.ptp(Z, axis=0).max()) / 2 + 0.8 * size
    ax.set(xlim=middle[0] + reach * np.array([-1, 1]), ylim=middle[1] + reach * np.array([-1, 1]))


def _neighbour_sheet(ax: Any, Z: Any, protocol: Protocol) -> None:
    """Every third duck, and below it the nearest row of each other object."""
    ducks = np.flatnonzero(protocol.given == 0)[::3]
    lines = [ducks]
    for thing in np.unique(protocol.given)[1:]:
        rows = np.flatnonzero(protocol.given == thing)
        lines.append(rows[((Z[ducks, None] - Z[None, rows]) ** 2).sum(axis=2).argmin(axis=1)])
    tiles = protocol.X[np.stack(lines)].reshape(len(lines), len(ducks), SIDE, SIDE)
    tiles = np.pad(tiles, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=255)
    wide = SIDE + 2
    sheet = tiles.transpose(0, 2, 1, 3).reshape(len(lines) * wide, len(ducks) * wide)
    ax.imshow(sheet, cmap="gray", vmin=0, vmax=255, interpolation="nearest")
    ax.axhline(wide - 0.5, color=INK, linewidth=1.0)
    ax.set(yticks=[])
    ax.set_xticks(wide * (np.arange(len(ducks)) + 0.5), [f"{15 * k}°" for k in range(len(ducks))])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
