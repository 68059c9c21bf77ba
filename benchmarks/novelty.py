"""Rows unlike the training rows: is_novel beside IsolationForest, LocalOutlierFactor and KernelDensity.

One kind of rows is left out of the fit and asked for with a third of the others: area under the ROC curve (1: every
novel row is more novel than every other; 0.5: by chance), and how many of the others are called novel at a stated rate
of false alarms, two draws. Columns are standardised by the training rows; at most 600 rows of
the known kinds. KernelDensity has the bandwidth of the best held-out likelihood (20 from 0.05 to 3, five folds), the
others their defaults (LocalOutlierFactor with ``novelty=True``). Breast cancer and the other sets that the design was
chosen on are listed apart.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity, LocalOutlierFactor

from benchmarks.family_sets import Missing
from benchmarks.harness import Report
from benchmarks.interval_sets import NOVEL, NOVEL_CHOOSING, standardised
from sidelight import KernelInformationEmbedding

TITLE = "novelty: rows of a kind that was not in the training rows, and false alarms"
RIVALS: tuple[str, ...] = ()

RATES = (0.01, 0.05, 0.1)
_MOST = 600


def run(*, quick: bool) -> Report:
    """Measure every set."""
    report = Report()
    sets = [(name, load, "reported") for name, load in NOVEL.items()]
    sets += [(name, load, "chosen on") for name, load in NOVEL_CHOOSING.items()]
    for name, load, role in sets[:1] if quick else sets:
        try:
            X, novel = load()
        except (Missing, FileNotFoundError, OSError) as reason:
            report.details.setdefault("missing", {})[name] = str(reason)
            continue
        found = [_measured(X, novel, seed) for seed in range(1 if quick else 2)]
        mean = {key: float(np.mean([one[key] for one in found])) for key in found[0]}
        report.details[name] = {"role": role, **mean}
        print(f"  {name}: {mean}", flush=True)
        for rival in ("LOF", "IsolationForest", "KernelDensity"):
            report.note(f"{name} ({role}), area under ROC", mean["ours"], rival=mean[rival], rival_name=rival)
        for rate in RATES:
            report.note(f"{name} ({role}), false alarms at {rate:g}", mean[f"alarms at {rate:g}"])
    return report


def _measured(X: Any, novel: Any, seed: int) -> dict[str, float]:
    known = np.random.default_rng(seed).permutation(np.flatnonzero(~novel))[:_MOST]
    cut = 2 * len(known) // 3
    learned, held = standardised(X[known[:cut]], np.concatenate([X[known[cut:]], X[novel]]))
    truth = np.r_[np.zeros(len(known) - cut), np.ones(int(novel.sum()))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KernelInformationEmbedding(n_jobs=1, random_state=0).fit(learned)
        grid = GridSearchCV(KernelDensity(), {"bandwidth": np.geomspace(0.05, 3, 20)}, cv=5).fit(learned)
    scores = {
        "ours": -model.score_samples(held),
        "LOF": -LocalOutlierFactor(novelty=True).fit(learned).score_samples(held),
        "IsolationForest": -IsolationForest(random_state=seed).fit(learned).score_samples(held),
        "KernelDensity": -np.maximum(grid.best_estimator_.score_samples(held), -1e300),
    }
    out = {name: float(roc_auc_score(truth, values)) for name, values in scores.items()}
    p = model.novelty_p_value(held)
    for rate in RATES:
        out[f"alarms at {rate:g}"] = float(np.mean(p[truth == 0] <= rate))
        out[f"found at {rate:g}"] = float(np.mean(p[truth == 1] <= rate))
    return out
