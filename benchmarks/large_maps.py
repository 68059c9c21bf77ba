"""Maps of many rows by levels, beside umap-learn, openTSNE, PaCMAP and LocalMAP at their defaults, two threads each.

===========  =====================================================================================================
mnist        70,000 x 784 pixels to a plane: total time ≤ half of a second fit of UMAP and of PaCMAP, memory ≤ the
             smallest; 10-NN accuracy at most 0.003 below LocalMAP's, trustworthiness (15 neighbours, 5,000 queries
             among all rows) at most 0.002 below openTSNE's
growth       10,000 to 1,000,000 rows of a mixture of sheets in 50 columns: exponent ≤ 1.15; a million in ≤ 12 GB, and
             (``--opentsne``) in ≤ half of four times openTSNE's time on 250,000 rows
small        2,000, 5,000 and 10,000 digits: in a fresh process ≤ the time of UMAP and of PaCMAP in one, and a second
             fit ≤ their second; quality as above
seeds        ten seeds, rows in another order each, on 10,000 digits: spread of the accuracy ≤ 0.005 (rivals: of three
             seeds, reported); bytes of threads
evaluations  10,000 digits: evaluations to the same objective, those on merged rows counted by their share of the
             rows, against L-BFGS on all rows from the same kind of start, along the same attractions: ≥ 3x fewer
             (and, reported, with the levels' inverse Hessian on all rows, and without annealing)
informed     70,000 digits seen by two cameras, the camera given: told from the map at most 0.05 better than by chance,
             and the digit's accuracy not below that of a fit without; time and memory beside that fit's (reported)
dial         10,000 digits and 6,000 made garments at six values of ``regularization`` (reported)
others       sets that nothing here was chosen on (but Yale B), real and made, up to 20,000 rows: quality as above
===========  =====================================================================================================

In the first three every fit is in a process of its own, which loads the rows, and is then timed from the import to the
map; memory is what its resident set rises by meanwhile, at its highest. A second fit in one process is timed in another
one. Estimates of time and memory are compared with what happened: within a factor of 2.

    python -m benchmarks large_maps                       all of it (hours)
    python -m benchmarks.large_maps growth --opentsne     some of it, to ``results/large_maps_growth.json``
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np

from benchmarks import map_methods
from benchmarks.harness import RESULTS, Report, Timing, growth_exponent, table
from benchmarks.made_pictures import garment_pictures, gene_counts, vowel_spectra
from benchmarks.map_methods import MAPS, PACKAGES, THREADS, Fit, fitted, import_memory
from benchmarks.neighbours import mixture, pixels
from sidelight import KernelInformationEmbedding, datasets
from sidelight.evaluate import leakage, neighbour_hit, trustworthiness
from sidelight.information import _multilevel
from sidelight.information._settings import LatentSettings
from sidelight.objectives.bound import InformationBound
from sidelight.solvers.anneal import best_size
from sidelight.solvers.lbfgs import minimise
from sidelight.solvers.levels import Level, levels_of
from sidelight.solvers.multigrid import DIRECT, Hierarchy

TITLE = "maps of many rows by levels, beside UMAP and openTSNE: time, memory, quality, growth, seeds, estimates"
RIVALS = PACKAGES
QUERIES = 5000
_SOME = 2500  # rows of a quick run: levels begin beyond 2,000
_GROWN = (10_000, 30_000, 100_000, 300_000, 1_000_000)


def digits(n: int = 70_000) -> tuple[Any, Any]:
    """Pixels (n, 784), float32, and labels of ``n`` digits drawn at random, or of all."""
    X = pixels()
    y = np.concatenate([datasets.load_mnist(split).factors["label"] for split in ("train", "test")])
    if n >= len(X):
        return X, y
    rows = np.sort(np.random.default_rng(0).choice(len(X), n, replace=False))
    return X[rows], y[rows]


def trusted(X: Any, Z: Any) -> float:
    """Trustworthiness of 15 neighbours of some rows among all."""
    return float(trustworthiness(X, Z, n_neighbors=15, sample=min(QUERIES, len(X))))


def run(*, quick: bool, sections: Sequence[str] = (), opentsne: bool = False) -> Report:
    report = Report()
    for name in sections or SECTIONS:
        print(f"  {name} ...", flush=True)
        if name == "growth":
            _growth(report, quick, opentsne)
        else:
            SECTIONS[name](report, quick)
    return report


def _mnist(report: Report, quick: bool) -> None:
    X, y = digits(_SOME if quick else 70_000)
    fits = {method: fitted(method, X) for method in ("ours", *map_methods.RIVALS)}
    what = f"MNIST {len(X):,} x 784"
    seconds = {method: fit.cold for method, fit in fits.items()}
    memory = _mebibytes(fits)
    report.details["mnist"] = {"seconds": seconds, "MiB": memory}
    report.at_most(f"{what}: MiB, from import to map", memory["ours"], _best(memory, min), **_beside(memory, min))
    report.note(f"{what}: seconds, from import to map", seconds["ours"], **_beside(seconds, min))
    own = fitted("ours", X, fits=2).seconds[1]
    report.details["mnist"]["ours, warm"] = own
    report.note(f"{what}: seconds of a second fit", own, unit="s")
    for rival in ("UMAP", "PaCMAP"):
        warm, ours = fitted(rival, X, fits=2).seconds[1], fits["ours"].cold
        report.details["mnist"][f"{rival}, warm"] = warm
        named = {"rival": warm, "rival_name": f"{rival}, second fit", "ratio": warm / ours}
        report.at_most(f"{what}: seconds, half of the rival's second fit", ours, warm / 2, **named)
    _judge_quality(report, what, X, y, {method: fit.Z for method, fit in fits.items()})
    _judge_estimate(report, what, X, fits["ours"])


def _judge_quality(report: Report, what: str, X: Any, labels: Any, maps: dict[str, Any], k: int = 10) -> None:
    """Accuracy at most 0.003 below LocalMAP's, trustworthiness at most 0.002 below openTSNE's; the best is beside."""
    hits = {method: neighbour_hit(Z, labels, n_neighbors=k) for method, Z in maps.items()}
    trust = {method: trusted(X, Z) for method, Z in maps.items()}
    report.details[f"{what}: quality"] = {f"{k}-NN accuracy": hits, "trustworthiness": trust}
    report.at_least(f"{what}: {k}-NN accuracy", hits["ours"], hits["LocalMAP"] - 0.003, **_beside(hits, max))
    report.at_least(f"{what}: trustworthiness", trust["ours"], trust["openTSNE"] - 0.002, **_beside(trust, max))


def _best(found: dict[str, float], better: Callable[..., Any]) -> float:
    """The best number of a rival."""
    return float(better(value for method, value in found.items() if method != "ours"))


def _beside(found: dict[str, float], better: Callable[..., Any]) -> dict[str, Any]:
    """The best rival's number, and the others' in its name."""
    value = _best(found, better)
    best = next(method for method, one in found.items() if method != "ours" and one == value)
    others = ", ".join(f"{found[method]:.4g} {method}" for method in found if method not in ("ours", best))
    return {"rival": value, "rival_name": f"{best}, {others}" if others else best}


def _judge_estimate(report: Report, what: str, X: Any, fit: Fit) -> None:
    """How far the estimates are from what a first fit took, as a factor, whichever way; imports are not estimated."""
    report.note(f"{what}: processor seconds of a fit", fit.processor, unit="s")
    cost = KernelInformationEmbedding(n_jobs=THREADS).estimate_cost(*X.shape)
    for name, said, happened in (
        ("seconds", cost.seconds, fit.seconds[0]),
        ("MiB", cost.bytes / 2**20, (fit.peak - import_memory("ours")) / 2**20),
    ):
        factor = max(said / happened, happened / said)
        about = f"measured; {said:.3g} estimated"
        report.at_most(f"{what}: estimate of {name}, factor", factor, 2.0, rival=happened, rival_name=about)


def _growth(report: Report, quick: bool, opentsne: bool = False) -> None:
    sizes = (_SOME, 2 * _SOME) if quick else _GROWN
    seconds = []
    for n in sizes:
        X = mixture(n)
        fit = fitted("ours", X)
        seconds.append(fit.cold)
        what = f"mixture {n:,} x 50"
        report.note(f"{what}: seconds", fit.cold, unit="s")
        report.note(f"{what}: trustworthiness", trusted(X, fit.Z))
        peak = (fit.peak + X.nbytes) / 1e9
        if n == _GROWN[-1]:
            report.at_most(f"{what}: memory, data included", peak, 12.0, unit="GB")
        else:
            report.note(f"{what}: memory, data included", peak, unit="GB")
        _judge_estimate(report, what, X, fit)
    exponent, what = growth_exponent(sizes, seconds), f"growth exponent, n = {sizes[0]:,} to {sizes[-1]:,}"
    if quick:
        report.note(what, exponent)
    else:
        report.at_most(what, exponent, 1.15)
    report.details["growth"] = {"sizes": list(sizes), "seconds": seconds}
    if opentsne:
        few = sizes[-1] // 4
        theirs = fitted("openTSNE", mixture(few)).cold
        what, name = f"mixture {sizes[-1]:,} x 50: seconds, half of four times", f"openTSNE, {few:,} rows"
        report.at_most(what, seconds[-1], 2 * theirs, rival=theirs, rival_name=name, ratio=2 * theirs / seconds[-1])


def _small(report: Report, quick: bool) -> None:
    for n in (_SOME,) if quick else (2000, 5000, 10_000):
        X, y = digits(n)
        methods = ("ours", "UMAP", "PaCMAP", "LocalMAP")
        fits: dict[str, list[Fit]] = {method: [] for method in methods}
        for _ in range(1 if quick else 3):
            for method, found in fits.items():
                found.append(fitted(method, X, fits=2))
        cold = {method: Timing(tuple(fit.cold for fit in found)) for method, found in fits.items()}
        warm = {method: Timing(tuple(fit.seconds[1] for fit in found)) for method, found in fits.items()}
        what = f"MNIST {n:,} x 784"
        for rival in methods[1:]:
            bar = 1.0 if rival != "LocalMAP" else None
            report.faster(f"{what}: fresh process", cold["ours"], cold[rival], rival, at_least=bar)
            report.faster(f"{what}: second fit", warm["ours"], warm[rival], rival, at_least=bar)
        maps = {method: found[0].Z for method, found in fits.items()} | {"openTSNE": MAPS["openTSNE"](X, 0)}
        _judge_quality(report, what, X, y, maps)
        _judge_estimate(report, what, X, min(fits["ours"], key=lambda fit: fit.seconds[0]))


def _seeds(report: Report, quick: bool) -> None:
    X, y = digits(_SOME if quick else 10_000)
    found: dict[str, list[float]] = {method: [] for method in MAPS}
    for seed in range(2 if quick else 10):
        order = np.random.default_rng(seed).permutation(len(X))
        for method, embed in MAPS.items():
            if method == "ours" or seed < 3:
                found[method].append(neighbour_hit(embed(X[order], seed), y[order], n_neighbors=10))
    report.details["seeds"] = found
    what, spread = f"MNIST {len(X):,} x 784", {method: float(np.ptp(values)) for method, values in found.items()}
    worst = {method: min(values) for method, values in found.items()}
    report.note(f"{what}: 10-NN accuracy, worst seed", worst["ours"], **_beside(worst, max))
    beside = _beside(spread, min)
    report.at_most(f"{what}: 10-NN accuracy, spread over seeds and orders", spread["ours"], 0.005, **beside)
    maps = [KernelInformationEmbedding(random_state=0, n_jobs=jobs).fit_transform(X).tobytes() for jobs in (1, 2)]
    report.at_least(f"{what}: same bytes with 1 and 2 threads (1: yes)", float(maps[0] == maps[1]), 1.0)


class _Counted(InformationBound):
    """A bound that remembers what it was made of, and how often it was evaluated."""

    made: ClassVar[list[_Counted]] = []

    def __init__(self, K: Any, profile: Any, **options: Any) -> None:
        super().__init__(K, profile, **options)
        self.kernel, self.options, self.evaluations = K, options, 0
        _Counted.made.append(self)

    def value_and_grad(self, Z: Any) -> Any:
        self.evaluations += 1
        return super().value_and_grad(Z)


@contextmanager
def _counting() -> Iterator[list[_Counted]]:
    """Inside, fits by levels use bounds that count; gives those that were made."""
    module: Any = _multilevel
    kept, module.InformationBound, _Counted.made = module.InformationBound, _Counted, []
    try:
        yield _Counted.made
    finally:
        module.InformationBound = kept


def _cost(made: Sequence[_Counted], n: int) -> float:
    """Evaluations, each counted by its share of the rows."""
    return sum(objective.evaluations * len(objective.weights) for objective in made) / n


def _evaluations(report: Report, quick: bool) -> None:
    X, _ = digits(_SOME if quick else 10_000)
    n, what = len(X), f"MNIST {len(X):,} x 784: evaluations to the same objective"
    with _counting() as made:
        model = KernelInformationEmbedding(solver="multilevel", n_jobs=THREADS).fit(X)
        ours, finest, target = _cost(made, n), made[-1], float(model.history_[-1]["objective"])
    annealed = _multilevel._ANNEALED
    for name, times, helped in (
        ("L-BFGS", annealed, False),
        ("L-BFGS, our inverse", annealed, True),
        ("L-BFGS, not annealed", (1.0,), False),
        ("L-BFGS, our inverse, not annealed", (1.0,), True),
    ):
        with _counting() as made:
            value = _all_rows(model, X, finest, target, times, helped)
            theirs = _cost(made, n)
        ratio, label = theirs / ours, name if value <= target else f"{name}, ended at {value:.5g}, not {target:.5g}"
        if name != "L-BFGS" or quick:
            report.note(what, ours, rival=theirs, rival_name=label, ratio=ratio)
        else:
            report.at_most(what, ours, theirs / 3, rival=theirs, rival_name=label, ratio=ratio)


def _all_rows(model: Any, X: Any, finest: _Counted, target: float, times: tuple[float, ...], helped: bool) -> float:
    """Minimise over all rows at once until the objective is that of the levels; returns where it ended."""
    n, options = len(X), dict(finest.options)
    attraction = options.pop("attraction")
    level, hierarchy = Level(finest.kernel, np.ones(n)), Hierarchy(levels_of(finest.kernel, DIRECT))
    latent = LatentSettings(model.n_components, model.latent_kernel_, model.penalty, model.init, model.random_state)
    points = model.frame_.points(X)
    Z = _multilevel.coarse_start(points, level, np.arange(n), latent, precomputed=False, n_jobs=THREADS)
    value = np.inf
    for stage, factor in enumerate(times):
        last = stage == len(times) - 1
        objective = _Counted(finest.kernel, finest.profile, attraction=factor * attraction, **options)
        Z = Z if stage else best_size(objective.value_and_grad, Z)
        found = minimise(
            objective.value_and_grad,
            Z,
            max_iter=3000 if last else model.max_iter,
            tolerance=1e-7 if last else _multilevel._COARSE_TOL * model.tol,
            inverse_at=_multilevel.attraction_inverse(hierarchy, 0, objective) if helped else None,
            on_step=(lambda iteration, f, at, terms: f <= target) if last else None,
        )
        Z, value = found.point, found.value
    return float(value)


def two_cameras(X: Any) -> tuple[Any, Any]:
    """The rows, half of them, at random, darker and under a pattern of dirt of their own; and which camera saw each."""
    camera = np.random.default_rng(0).integers(0, 2, len(X))
    dirt = 40 * np.random.default_rng(1).standard_normal(X.shape[1])
    return (X * np.where(camera, 0.7, 1.0)[:, None] + camera[:, None] * dirt).astype(X.dtype), camera


def _informed(report: Report, quick: bool) -> None:
    X, y = digits(2 * _SOME + 500 if quick else 70_000)
    X, camera = two_cameras(X)
    fits = {"given": fitted("ours", X, given=camera.astype(str)), "without": fitted("ours", X)}
    what = f"MNIST {len(X):,} x 784, two cameras"
    leaks = {name: leakage(fit.Z, camera) for name, fit in fits.items()}
    hits = {name: neighbour_hit(fit.Z, y, n_neighbors=10) for name, fit in fits.items()}
    beside: Any = {"rival_name": "without given"}
    found, chance = leaks["given"].value, leaks["given"].chance
    report.at_most(f"{what}: camera told from the map", found, chance + 0.05, rival=leaks["without"].value, **beside)
    report.at_least(f"{what}: 10-NN accuracy", hits["given"], hits["without"], rival=hits["without"], **beside)
    for name, values in (("seconds", {m: f.cold for m, f in fits.items()}), ("MiB", _mebibytes(fits))):
        ratio = values["without"] / values["given"]
        report.note(f"{what}: {name}", values["given"], rival=values["without"], ratio=ratio, **beside)


def _dial(report: Report, quick: bool) -> None:
    sets = {"MNIST": digits(_SOME if quick else 10_000)}
    if not quick:
        sets["made garments"] = garment_pictures(6000, seed=3)
    for name, (X, labels) in sets.items():
        for value in (0.02, 0.1, 0.4) if quick else (0.02, 0.05, 0.1, 0.2, 0.4, 0.8):
            Z = KernelInformationEmbedding(regularization=value, n_jobs=THREADS).fit_transform(X)
            what = f"{name} {len(X):,} x {X.shape[1]}, regularization {value}"
            report.note(f"{what}: 10-NN accuracy", neighbour_hit(Z, labels, n_neighbors=10))
            report.note(f"{what}: trustworthiness", trusted(X, Z))


def _mebibytes(fits: dict[str, Fit]) -> dict[str, float]:
    return {method: fit.peak / 2**20 for method, fit in fits.items()}


def _real(load: Callable[[], Any], factor: str) -> Callable[[], tuple[Any, Any]]:
    def loaded() -> tuple[Any, Any]:
        data = load()
        return data.X, data.factors[factor]

    return loaded


SETS: dict[str, tuple[Callable[[], tuple[Any, Any]], int]] = {
    "mfeat digits": (_real(datasets.load_mfeat, "label"), 10),
    "USPS digits": (_real(datasets.load_usps, "label"), 10),
    "CMU people": (_real(datasets.load_cmu_people, "subject"), 1),
    "Yale B faces (0042 chose on it)": (_real(datasets.load_yaleb, "person"), 1),
    "made garments": (lambda: garment_pictures(20_000, seed=0), 10),
    "made vowels": (lambda: vowel_spectra(1200, seed=0), 10),
    "made genes": (lambda: gene_counts(15_000, seed=0), 10),
}
"""Sets by name: loads rows and labels, and of how many neighbours accuracy is."""


def _others(report: Report, quick: bool) -> None:
    for name, (load, k) in list(SETS.items())[: 1 if quick else None]:
        print(f"    {name} ...", flush=True)
        X, labels = load()
        maps = {method: embed(X, 0) for method, embed in MAPS.items() if method != "ours"}
        maps["ours"] = KernelInformationEmbedding(solver="multilevel", random_state=0).fit_transform(X)
        _judge_quality(report, f"{name}, {len(X):,} rows", X, labels, maps, k)


SECTIONS: dict[str, Callable[[Report, bool], None]] = {
    "mnist": _mnist,
    "growth": _growth,
    "small": _small,
    "seeds": _seeds,
    "evaluations": _evaluations,
    "informed": _informed,
    "dial": _dial,
    "others": _others,
}


def main(arguments: list[str] | None = None) -> int:
    """Run some sections; 0 when every bar was met."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large_maps", description=TITLE)
    parser.add_argument("sections", nargs="+", choices=list(SECTIONS), metavar="SECTION", help=", ".join(SECTIONS))
    parser.add_argument("--quick", action="store_true", help="a few thousand rows")
    parser.add_argument("--opentsne", action="store_true", help="growth: openTSNE on a quarter of the rows, too")
    chosen = parser.parse_args(arguments)
    report = run(quick=chosen.quick, sections=chosen.sections, opentsne=chosen.opentsne)
    print(table(report))
    path = RESULTS / f"large_maps_{'_'.join(chosen.sections)}.json"
    print(f"  written to {report.write(path, name='large_maps', quick=chosen.quick)}")
    return 0 if report.passed else 1


if __name__ == "__main__":
    sys.exit(main())
