"""Every warning points at the line of the user's that made the library give it, and not into the library."""

from __future__ import annotations

import runpy
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest

import sidelight
from sidelight.base.warnings import warn
from sidelight.information import smoother_embedding
from sidelight.spectral import hybrid_embedding

HOME = Path(sidelight.__file__).parent
BEGIN = '''
import dataclasses, warnings
import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
import sidelight.spectral.hybrid_embedding, sidelight.information.smoother_embedding
from sidelight import *
{torch}

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 4))
X[:, 0] += 3 * np.arange(30)
Y = np.roll(X, 1, axis=1)
first, second = np.where(np.arange(30)[:, None] > 15, np.nan, X), np.where(np.arange(30)[:, None] < 15, np.nan, Y)
X_gaps, X_empty = X.copy(), X.copy()
X_gaps[::3, 1] = X_gaps[1::3, 2] = np.nan
X_empty[0] = np.nan
labels = np.arange(30) % 3
pairs = np.column_stack([np.arange(20), np.arange(20) + 5])
relations = {"a": Relation.from_labels(labels)}
apart = {"a": Relation.from_labels(labels[:9], np.arange(9)), "b": Relation.from_labels(labels[9:], np.arange(9, 30))}
one = {"max_iter": 1}
found = []


def unconverged(module, name):
    """Let a solver say that it has not converged."""
    solve = getattr(module, name)

    def tired(*args, **kwargs):
        result = solve(*args, **kwargs)
        if hasattr(result, "pairs"):
            return dataclasses.replace(result, pairs=dataclasses.replace(result.pairs, converged=False))
        return dataclasses.replace(result, converged=False)

    setattr(module, name, tired)


def said(sentence, call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
        except Exception as error:
            return found.append((sentence, [repr(error)], "no error"))
    told = [(w.filename, w.lineno) for w in caught if sentence in str(w.message)]
    found.append((sentence, told, (__file__, call.__code__.co_firstlineno)))


'''
TORCH = "from sidelight.gated import *" if find_spec("torch") else ""
NEED_TORCH = ("Autoencoder", "BoltzmannMachine", "Manifield")
CONVERGED = "did not let"
SAID = [
    *(
        (CONVERGED, model)
        for model in (
            "KernelInformationEmbedding(**one).fit(X)",
            "KernelInformationEmbedding(**one).fit_transform(X)",
            "KernelInformationEmbedding(**one).set_output(transform='pandas').fit_transform(X)",
            "KernelInformationEmbedding(solver='multilevel', **one).fit(X)",
            "KernelInformationEmbedding(bandwidth='learned', **one).fit(X)",
            "KernelInformationEmbedding(**one).fit(X, given=labels)",
            "KernelInformationEmbedding(solver='multilevel', **one).fit_transform(X, given=labels)",
            "UnsupervisedKernelRegression(**one).fit(X)",
            "UnsupervisedKernelRegression(**one).fit_transform(X)",
            "JointInformationEmbedding(**one).fit(X, Y)",
            "JointInformationEmbedding(**one).fit_transform(X, Y)",
            "MultipleRelationalEmbedding(**one).fit(X)",
            "MultipleRelationalEmbedding(**one).fit_transform(X, relations=relations)",
            "SemidefiniteEmbedding(**one).fit(X)",
            "SemidefiniteEmbedding(**one).fit_transform(X)",
            "ActionRespectingEmbedding(**one).fit(X)",
            "ActionRespectingEmbedding(**one).fit_transform(X)",
            "ProbabilisticPCA(2, **one).fit(X_gaps)",
            "ProbabilisticPCA(2, **one).fit_batches([X_gaps])",
            "ProbabilisticPCA(2, **one).fit_transform(X_gaps)",
            "PPCAMixture(2, 1, **one).fit(X)",
            "PPCAMixture(2, 1, **one).fit_batches([X])",
            "PPCAMixture(2, 1, **one).fit_transform(X)",
            "BernoulliMixture(3, binarize=0.0, **one).fit_transform(X)",
            "CoordinatedMixture(n_charts=2, **one).fit(X)",
            "CoordinatedMixture(n_charts=2, **one).fit_transform(X)",
            "CoordinatedMixture(n_charts=2, **one).fit_batches([X])",
            "CoordinatedCCA(1, n_charts=2, **one).fit(X, Y)",
            "CoordinatedCCA(1, n_charts=2, **one).fit_transform(X, Y)",
            "DistanceMetric(**one).fit(X, pairs=pairs, distances=np.sqrt(np.arange(1.0, 21.0)))",
            "DistanceMetric(**one).fit_transform(X, pairs=pairs, distances=np.sqrt(np.arange(1.0, 21.0)))",
            "Autoencoder(2, **one).fit(X)",
            "Autoencoder(2, **one).fit_transform(X)",
            "BiasedAutoencoder(2, **one).fit(X, Y)",
            "GatedAutoencoder(2, predictor=(), **one).fit(X, Y)",
            "Manifield(BiasedAutoencoder(2, **one), 3).fit([X], [Y])",
            "TwoWayEmbedding(KernelInformationEmbedding(**one)).fit(X)",
            "make_pipeline(StandardScaler(), KernelInformationEmbedding(**one)).fit(X)",
            "make_pipeline(StandardScaler(), UnsupervisedKernelRegression(**one)).fit_transform(X)",
            "make_pipeline(StandardScaler(), PPCAMixture(2, 1, **one)).fit(X)",
            "GridSearchCV(PPCAMixture(2, 1, **one), {'n_charts': [2]}, cv=2).fit(X)",
        )
    ),
    ("while held-out rows", "GatedBoltzmannMachine(2, validation_fraction=0.3, **one).fit(X, Y)"),
    ("while held-out rows", "RestrictedBoltzmannMachine(2, validation_fraction=0.3, **one).fit_transform(X)"),
    ("batch ended before", "RestrictedBoltzmannMachine(2).fit_batches([X])"),
    ("batch ended before", "GatedBoltzmannMachine(2).fit_batches([(X, Y)])"),
    ("not determine the rotation", "JointInformationEmbedding().fit(first, second)"),
    ("same in every row", "JointInformationEmbedding().fit_transform(X, np.ones(30))"),
    ("explains X entirely", "KernelInformationEmbedding().fit(X, given=np.arange(30).astype(str))"),
    ("explains X entirely", "KernelInformationEmbedding().fit_transform(X, given=np.arange(30).astype(str))"),
    ("no observed entry", "ProbabilisticPCA(2).fit(X_empty)"),
    ("no observed entry", "PPCAMixture(1, 1).fit_transform(X_empty)"),
    ("fewer than two rows", "MultipleRelationalEmbedding().fit(X, relations={'a': Relation.from_labels([None] * 30)})"),
    ("same of every row", "MultipleRelationalEmbedding().fit(X, relations={'a': Relation.from_labels([1] * 30)})"),
    ("name of its own", "MultipleRelationalEmbedding().fit(X, relations={'a': Relation.from_labels(range(30))})"),
    ("no row in common", "MultipleRelationalEmbedding().fit_transform(None, relations=apart)"),
    ("into one place", "ActionRespectingEmbedding(merge=0.3).fit(X[[0, 1, 2, 3, 4, 4]], actions=['forward'] * 5)"),
    ("nothing to unfold", "SemidefiniteEmbedding(equality=True).fit(X)"),
    ("eigenvalues above 0", "HybridEmbedding(alpha=0.9999, negative='clip').fit_transform(X)"),
    ("more than once", "EquivalenceMetric().fit(X, same=[[1, 2], [2, 1]])"),
    ("more than once", "EquivalenceMetric().fit_transform(X, same=[[1, 2], [2, 1]])"),
    ("more than once", "MultiAttributeMetric(1).fit(X, same={'a': [[1, 2], [2, 1]]})"),
]
TIRED = [
    ("eigenproblem that did not converge", "HybridEmbedding().fit(X)"),
    ("eigenproblem that did not converge", "HybridEmbedding().fit_transform(X)"),
    ("eigenproblem that did not converge", "SmootherEmbedding().fit(X)"),
    ("eigenproblem that did not converge", "make_pipeline(SmootherEmbedding()).fit_transform(X)"),
]
"""Said once the solvers say that they have not converged."""
if not TORCH:
    SAID = [(sentence, call) for sentence, call in SAID if not any(name in call for name in NEED_TORCH)]
SOLVERS = """
unconverged(sidelight.spectral.hybrid_embedding, "solve_hybrid")
unconverged(sidelight.information.smoother_embedding, "smoother_vectors")
"""


PATCHED = [(hybrid_embedding, "solve_hybrid"), (smoother_embedding, "smoother_vectors")]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What each line of a user's script was told, and where."""
    script = tmp_path_factory.mktemp("user") / "script.py"
    lines = [[f"said({sentence!r}, lambda: {call})" for sentence, call in part] for part in (SAID, TIRED)]
    script.write_text(BEGIN.replace("{torch}", TORCH) + "\n".join(lines[0]) + SOLVERS + "\n".join(lines[1]))
    solvers = {(part, name): getattr(part, name) for part, name in PATCHED}
    try:
        return runpy.run_path(str(script))["found"]
    finally:
        for (part, name), solve in solvers.items():
            setattr(part, name, solve)


@pytest.mark.parametrize("number", range(len(SAID + TIRED)), ids=lambda number: (SAID + TIRED)[number][1])
def test_a_warning_points_at_the_line_of_the_user(found, number):
    _, told, here = found[number]
    assert told, "nothing was said"
    assert all(place == here for place in told), told


def test_nobody_else_counts_frames():
    for path in HOME.rglob("*.py"):
        text = path.read_text()
        assert path == HOME / "base" / "warnings.py" or not ("stacklevel" in text or "warnings.warn(" in text), path


def test_a_warning_without_a_user_is_given_all_the_same():
    """In a thread of a pool there may be no line of the user's above ours."""
    source = "from sidelight.base.warnings import warn\ndef ours():\n    warn('hear me', UserWarning)\n"
    scope: dict = {}
    exec(compile(source, str(HOME / "made_up.py"), "exec"), scope)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scope["ours"]()
        warn("from here", UserWarning)
    assert [str(one.message) for one in caught] == ["hear me", "from here"]
    assert {one.filename for one in caught} == {__file__}
