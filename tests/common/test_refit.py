"""Nothing of an earlier fit survives a later one, and what is not a fit's stays."""

from __future__ import annotations

import inspect

import numpy as np
import pandas as pd
import pytest
from optional_torch import TORCH_THERE, gated, needs_torch
from refit_cases import CASES, NEW, OLD, gaps, related, two_views, with_given, with_hints
from registry import blobs, public_estimators
from sklearn.base import BaseEstimator

from sidelight import (
    BernoulliMixture,
    CoordinatedCCA,
    CoordinatedMixture,
    EquivalenceMetric,
    HybridEmbedding,
    JointInformationEmbedding,
    KernelInformationEmbedding,
    MultipleRelationalEmbedding,
    PPCAMixture,
    ProbabilisticPCA,
    Relation,
    TwoWayEmbedding,
)
from sidelight.base.fitting import is_fitted_name

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
FEW = {"max_iter": 2}
X, OTHER = blobs(**OLD), blobs(**NEW)


def _given(data, **parameters):
    """Set parameters and fit."""

    def fit(model):
        args, kwargs = data
        return model.set_params(**parameters).fit(*args, **kwargs)

    return fit


plain, framed = _given(((OTHER,), {})), _given(((pd.DataFrame(X, columns=list("abcde")),), {}))
labels = Relation.from_labels(np.arange(26) % 3)
KIE, JOINT = (lambda: KernelInformationEmbedding(**FEW)), (lambda: JointInformationEmbedding(**FEW))
SECOND = {
    "given, then none": (KIE, _given(with_given(**OLD)), plain),
    "none, then given": (KIE, plain, _given(with_given(**NEW))),
    "hints, then none": (KIE, _given(with_hints(**OLD)), _given(with_given(**NEW))),
    "columns with names, then without": (KIE, framed, plain),
    "levels, then path": (KIE, _given(((X,), {}), solver="multilevel"), _given(((OTHER,), {}), solver="annealed")),
    "path, then levels": (KIE, plain, _given(((X,), {}), solver="multilevel")),
    "gaps filled, then none": (KIE, _given(gaps(**OLD), missing="impute"), _given(((OTHER,), {}), missing="refuse")),
    "one bandwidth, then many": (
        KIE, _given(((X,), {}), bandwidth=2.0), _given(((OTHER,), {}), bandwidth="perplexity"),
    ),
    "two views, then one": (JOINT, _given(two_views(**OLD)), plain),
    "two views of charts, then one": (
        lambda: CoordinatedCCA(1, n_charts=2, **FEW), _given(two_views(**OLD)), plain,
    ),
    "relations, then none": (lambda: MultipleRelationalEmbedding(**FEW), _given(related(**OLD)), plain),
    "rows, then relations alone": (
        lambda: MultipleRelationalEmbedding(**FEW), plain, _given(((None,), {"relations": {"class": labels}})),
    ),
    "an estimator, then an embedding": (TwoWayEmbedding, plain, _given(((X,), {"embedding": X[:, :2]}))),
    "an embedding, then an estimator": (TwoWayEmbedding, _given(((X,), {"embedding": X[:, :2]})), plain),
    "a kernel, then none": (
        EquivalenceMetric, _given(((X, X[:, 0] > 0), {}), kernel="rbf"), _given(((OTHER,), {}), kernel=None),
    ),
    "distances, then rows": (
        HybridEmbedding, _given(((np.abs(X[:, :1] - X[:, :1].T),), {}), metric="precomputed"),
        _given(((OTHER,), {}), metric="geodesic"),
    ),
    "a search for charts, then a number": (
        lambda: PPCAMixture("bic", 1, n_init=1, **FEW), plain, _given(((X,), {}), n_charts=2),
    ),
    "rows, then batches": (
        lambda: CoordinatedMixture(n_charts=2, **FEW), plain, lambda model: model.fit_batches([X[:20], X[20:]]),
    ),
    "gaps, then none": (lambda: ProbabilisticPCA(2, **FEW), _given(gaps(**OLD)), plain),
    "a stream, then rows": (lambda: ProbabilisticPCA(2), lambda model: model.partial_fit(X), plain),
    "rows, then a stream": (lambda: ProbabilisticPCA(2), framed, lambda model: model.partial_fit(OTHER)),
    "a stream of a mixture, then rows": (
        lambda: PPCAMixture(2, 1, n_init=1, **FEW), lambda model: model.partial_fit(X), plain,
    ),
}  # fmt: skip
if TORCH_THERE:
    SECOND["a stream of a network, then rows"] = (
        lambda: gated.Autoencoder(2, optimizer="adam", **FEW), lambda model: model.partial_fit(X), plain,
    )  # fmt: skip


def same(one, other):
    """Equal to the bit, also inside of dictionaries, lists and records; times and states of torch are not compared."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one.keys() - {"seconds", "_paused_"})
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.tobytes() == other.tobytes()
    if isinstance(one, int | float | str | np.generic | None):
        return one == other or (one != one and other != other)
    return type(one) is type(other) and (callable(one) or same(vars(one), vars(other)))


@pytest.mark.parametrize("name", SECOND)
def test_no_attribute_of_an_earlier_fit_survives_a_later_one(name):
    make, first, second = SECOND[name]
    model = first(make())
    once = make().set_params(**model.get_params(deep=False))
    assert vars(second(model)).keys() == vars(second(once)).keys()
    assert same(vars(model), vars(once))


@pytest.mark.parametrize("name", CASES)
def test_what_a_fit_sets_ends_with_an_underscore(name):
    model = CASES[name].fitted()
    assert vars(model).keys() - set(filter(is_fitted_name, vars(model))) == set(model.get_params(deep=False))


@pytest.mark.parametrize(
    "name", ["kie", "semidefinite", "ppca-mixture", "distance", *(("rbm", "gbm") if TORCH_THERE else ())]
)
def test_what_the_user_has_set_stays(name):
    case = CASES[name]
    model = case.new()
    model.note = "mine"
    if hasattr(model, "set_output"):
        model.set_output(transform="pandas")
    before = dict(vars(model))
    case.fit(model, NEW)
    assert {key: value for key, value in vars(model).items() if not is_fitted_name(key)} == before


def test_a_parameter_that_the_callback_sets_stays():
    model = KernelInformationEmbedding(**FEW)
    model.set_params(callback=lambda state: model.set_params(perplexity=9.0) and None)
    assert model.fit(X).perplexity == 9.0


def test_the_callback_sees_the_old_model():
    seen = []
    model = KernelInformationEmbedding(**FEW).fit(X)
    model.set_params(callback=lambda state: seen.append(model.n_features_in_)).fit(OTHER)
    assert set(seen) == {5}
    assert model.n_features_in_ == 4


def estimators():
    networks = [getattr(gated, name) for name in gated.__all__]
    return [kind for kind in [*public_estimators(), *networks] if issubclass(kind, BaseEstimator)]


@pytest.mark.parametrize("kind", estimators(), ids=lambda kind: kind.__name__)
def test_every_method_that_fits_changes_everything_or_nothing(kind):
    found = [name for name in ("fit", "fit_batches", "partial_fit") if hasattr(kind, name)]
    assert "fit" in found
    for name in found:
        method = getattr(kind, name)
        assert method.__code__.co_filename.endswith("base/fitting.py"), f"{kind.__name__}.{name} is not all_or_nothing"
        assert next(iter(inspect.signature(method).parameters)) == "self"


STREAMS = {
    "ppca": lambda: ProbabilisticPCA(2),
    "ppca-mixture": lambda: PPCAMixture(2, 1, n_init=1),
    "bernoulli-mixture": lambda: BernoulliMixture(2, binarize=0.0, n_init=1),
}
if TORCH_THERE:
    STREAMS |= {
        "autoencoder": lambda: gated.Autoencoder(2, optimizer="adam"),
        "rbm-persistent": lambda: gated.RestrictedBoltzmannMachine(3, persistent=True, negatives="sampled"),
        "gbm": lambda: gated.GatedBoltzmannMachine(3, negatives="sampled"),
    }


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_goes_on_after_a_refused_batch_as_if_it_had_not_been(name):
    pair = name == "gbm"
    batches = [(part, part[:, :3]) if pair else (part,) for part in (X[:15], X[15:], X[5:25])]
    plainly, refused = STREAMS[name](), STREAMS[name]()
    for batch in batches:
        plainly.partial_fit(*batch)
        before = dict(vars(refused))
        with pytest.raises(ValueError, match=r"(?i)input x contains infinity"):
            refused.partial_fit(*(np.where(np.arange(part.shape[1]) == 1, np.inf, part) for part in batch))
        assert vars(refused).keys() == before.keys()
        refused.partial_fit(*batch)
    assert same(vars(plainly), vars(refused))


@needs_torch
def test_a_stream_goes_on_after_ctrl_c_as_if_it_had_not_been(monkeypatch):
    """Ctrl-C comes in the second of two updates: the first is undone, with the optimiser's memory of it."""
    from sidelight.gated._objectives import PredictionObjective

    model, other = (gated.Autoencoder(2, optimizer="adam", batch_size=8) for _ in range(2))
    for one in (model, other):
        one.partial_fit(X[:8])
    before = dict(vars(model))
    loss, calls = PredictionObjective.loss, []

    def interrupted(self, *args):
        calls.append(args)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return loss(self, *args)

    with monkeypatch.context() as patched:
        patched.setattr(PredictionObjective, "loss", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(X[8:24])
    assert all(vars(model)[name] is before[name] for name in before)
    assert same(model.partial_fit(X[8:24]).parameters_, other.partial_fit(X[8:24]).parameters_)
