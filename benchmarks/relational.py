"""MultipleRelationalEmbedding: seconds and memory against rows and relations, beside openTSNE's exact and FFT modes.

The rows lie on an S-shaped sheet; a tenth of them say their height, up to a thousand. Ours is told both kinds of
likeness and finds an axis for the height; openTSNE embeds the rows and is told nothing. Its exact mode is Barnes-Hut
with an angle of 0, which leaves nothing out, to the size it can do; FFT is its default for many rows. One thread each.
Fits differ in how many iterations they take, so that seconds of an iteration are given beside seconds of a fit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import spearmanr

from benchmarks.harness import Report, growth_exponent, peak_memory, race
from sidelight import MultipleRelationalEmbedding, Relation
from sidelight.datasets import s_curve

TITLE = "multiple relational embedding to 20,000 rows, beside openTSNE exact and FFT"
RIVALS = ("openTSNE",)
SIZES, LARGEST = (500, 1000, 2000, 5000, 10_000), 20_000
EXACT_LARGEST = 2000
RELATIONS, RELATION_ROWS, RELATION_AXES = (1, 2, 4, 8), 1000, 4
MOST_LABELS = 1000

_SETUP = """
from benchmarks.relational import ours, openTSNE, rows
X, relations, _ = rows({n})
small, few, _ = rows(300)
{name}(small, few)
"""


def rows(n: int) -> tuple[Any, dict[str, Relation], Any]:
    """The sheet, the relation of the height of some of its rows, and the height of all."""
    data = s_curve(n, random_state=0)
    height = data.factors["height"]
    known = np.sort(np.random.default_rng(0).choice(n, min(n // 10, MOST_LABELS), replace=False))
    return data.X, {"height": Relation.from_values(height[known], known, n_samples=n)}, height


def ours(X: Any, relations: dict[str, Relation]) -> Any:
    """Our fit with its defaults, one thread."""
    return MultipleRelationalEmbedding(2, n_jobs=1).fit(X, relations=relations)


def openTSNE(X: Any, relations: object = None, *, exact: bool = False) -> Any:
    """The rival's fit with its defaults, one thread."""
    from openTSNE import TSNE

    del relations
    mode = {"negative_gradient_method": "bh", "theta": 0.0} if exact else {"negative_gradient_method": "fft"}
    return TSNE(n_jobs=1, random_state=0, **mode).fit(X)


def run(*, quick: bool) -> Report:
    report = Report()
    _against_rows(report, (300, 600) if quick else (*SIZES, LARGEST))
    _against_relations(report, 300 if quick else RELATION_ROWS)
    _memory(report, (600,) if quick else (5000, LARGEST))
    return report


def _against_rows(report: Report, sizes: tuple[int, ...]) -> None:
    seconds: dict[str, dict[int, float]] = {
        "ours": {},
        "ours, an iteration": {},
        "openTSNE exact": {},
        "openTSNE FFT": {},
    }
    for n in sizes:
        X, relations, height = rows(n)
        fits: list[Any] = []
        raced = {
            "ours": lambda X=X, r=relations, fits=fits: fits.append(ours(X, r)),
            "openTSNE FFT": lambda X=X: openTSNE(X),
        }
        if n <= EXACT_LARGEST:
            raced["openTSNE exact"] = lambda X=X: openTSNE(X, exact=True)
        times = race(raced, repeats=1, warm_up=False)
        for name, timing in times.items():
            seconds[name][n] = timing.best
        model = fits[0]
        seconds["ours, an iteration"][n] = _iteration(model)
        for rival in sorted(set(times) - {"ours"}):
            report.faster(f"fit, n = {n}", times["ours"], times[rival], rival)
        report.note(f"an iteration, n = {n} ({model.n_iter_} in all)", seconds["ours, an iteration"][n], unit="s")
        told = abs(spearmanr(model.embedding_[:, 0], height)[0])
        report.note(f"|Spearman| of the first axis and the height, n = {n}", told)
    for name, found in seconds.items():
        if len(found) > 1:
            exponent = growth_exponent(list(found), list(found.values()))
            report.note(f"growth exponent of {name}, n = {min(found)} to {max(found)}", exponent)
    report.details["seconds"] = seconds


def _iteration(model: Any) -> float:
    """Seconds of an iteration, on average (``history_`` says how long after the beginning each ended)."""
    return float(model.history_[-1]["seconds"]) / model.n_iter_


def _against_relations(report: Report, n: int) -> None:
    data = s_curve(n, random_state=0)
    sheet = np.column_stack(list(data.factors.values()))
    rng = np.random.default_rng(0)
    known = np.sort(rng.choice(n, n // 10, replace=False))
    turns = rng.standard_normal((sheet.shape[1], max(RELATIONS)))
    values = ((sheet - sheet.mean(axis=0)) / sheet.std(axis=0) @ turns)[known]
    seconds = {}
    for count in RELATIONS:  # the first is that of the data
        given = {f"number {c}": Relation.from_values(values[:, c], known, n_samples=n) for c in range(count - 1)}
        fits: list[Any] = []
        model = MultipleRelationalEmbedding(RELATION_AXES, n_jobs=1)
        work = {"ours": lambda m=model, g=given, fits=fits: fits.append(m.fit(data.X, relations=g))}
        report.note(f"fit, {count} relations, n = {n}", race(work, repeats=1, warm_up=False)["ours"].best, unit="s")
        seconds[count] = _iteration(fits[0])
        report.note(f"an iteration, {count} relations, n = {n} ({fits[0].n_iter_} in all)", seconds[count], unit="s")
    report.note("growth exponent of an iteration in relations", growth_exponent(list(seconds), list(seconds.values())))
    report.details["seconds by relations"] = seconds


def _memory(report: Report, sizes: tuple[int, ...]) -> None:
    for n in sizes:
        peaks = {
            name: peak_memory(_SETUP.format(n=n, name=name), f"{name}(X, relations)") / 2**20
            for name in ("ours", "openTSNE")
        }
        more = {"unit": "MiB", "rival": peaks["openTSNE"], "rival_name": "openTSNE FFT"}
        ratio = peaks["openTSNE"] / peaks["ours"]
        if n == LARGEST:
            report.at_most(f"peak memory, n = {n}", peaks["ours"], 1536, ratio=ratio, **more)
        else:
            report.note(f"peak memory, n = {n}", peaks["ours"], ratio=ratio, **more)
