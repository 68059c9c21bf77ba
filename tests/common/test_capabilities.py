"""What a class declares that it can do is what its models do, after a fit and before."""

from __future__ import annotations

import inspect
from dataclasses import fields, replace
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from registry import DISTANCES, ENCODERS, METRICS, MIXTURES, TORCH, VARIANTS, blobs
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sidelight
from sidelight import (
    CoordinatedCCA,
    EquivalenceMetric,
    HybridEmbedding,
    JointInformationEmbedding,
    KernelInformationEmbedding,
    MultipleRelationalEmbedding,
    ProbabilisticPCA,
    Relation,
    SemidefiniteEmbedding,
    TwoWayEmbedding,
)
from sidelight.base.capabilities import FIELDS, Capabilities, capabilities, declared, feature_names_of, given_of
from sidelight.base.chain import Chain
from sidelight.persistence._tables import ESTIMATORS

N, D = 40, 5
ROWS = {**VARIANTS, **MIXTURES, **ENCODERS, **TORCH}
METHODS = {name: shown["method"] for name, shown in FIELDS.items() if "method" in shown}
FITTED = {name: shown["fitted"] for name, shown in FIELDS.items() if "fitted" in shown}
ARGUMENTS = {name: shown["argument"] for name, shown in FIELDS.items() if "argument" in shown}


def rows() -> pd.DataFrame:
    return pd.DataFrame(blobs(N, D), columns=list("abcde"))


def pictures() -> tuple[list[np.ndarray], list[np.ndarray]]:
    before = list(np.random.default_rng(0).normal(size=(3, 9, 9)))
    return before, [np.roll(one, 1, axis=1) for one in before]


def rows_for(name: str) -> pd.DataFrame:
    X = rows()
    return (X.mean() < X).astype(float) if name.startswith(("bernoulli", "count")) else X


def of_pairs(model):
    X = rows()
    return model.fit(X, X.to_numpy()[:, ::-1].copy())


def of_fields(model, *, paired: bool):
    before, after = pictures()
    return model.fit(before, after) if paired else model.fit(before)


def fields_and_pairs():
    """Models that need torch and take more than rows; made when asked for."""
    g, quick = sidelight.gated, {"max_iter": 5, "random_state": 0}
    machine, gae = g.GatedBoltzmannMachine, g.GatedAutoencoder
    return {
        "gbm": lambda: of_pairs(machine(4, **quick)),
        "gbm-premapped": lambda: of_pairs(machine(4, premapping=3, **quick)),
        "gated-autoencoder": lambda: of_pairs(gae(4, **quick)),
        "gated-autoencoder-predictor": lambda: of_pairs(gae(4, predictor=(3,), **quick)),
        "biased-autoencoder": lambda: of_pairs(g.BiasedAutoencoder(3, **quick)),
        "gated-field": lambda: of_fields(g.GatedField(machine(4, **quick), 3), paired=True),
        "manifield": lambda: of_fields(g.Manifield(g.BiasedAutoencoder(3, **quick), 3, "grid"), paired=True),
        "manifield-gated": lambda: of_fields(g.Manifield(gae(4, **quick), 3, "grid"), paired=True),
        "manifield-alone": lambda: of_fields(g.Manifield(g.Autoencoder(2, **quick), 3, "grid"), paired=False),
    }


PAIRED = (
    "gbm", "gbm-premapped", "gated-autoencoder", "gated-autoencoder-predictor", "biased-autoencoder", "gated-field",
    "manifield", "manifield-gated", "manifield-alone",
)  # fmt: skip
"""Names of the above, without torch."""


EVERY = [*ROWS, *METRICS, *DISTANCES, *PAIRED]


def fitted(name: str):
    """A model of the registry, or of pairs or fields, after a fit on few rows."""
    if name in (*TORCH, *PAIRED):
        pytest.importorskip("torch", reason="needs the extra torch")
    if name in METRICS:
        return METRICS[name]().fit(rows(), np.arange(N) % 3)
    if name in DISTANCES:
        X = blobs(N, D)
        return DISTANCES[name]().fit(np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2)))
    return ROWS[name]().fit(rows_for(name)) if name in ROWS else fields_and_pairs()[name]()


def test_every_estimator_declares_what_it_can_do():
    for name, module in ESTIMATORS.items():
        if module.endswith("gated") and find_spec("torch") is None:
            continue
        kind = getattr(sidelight.gated if module.endswith("gated") else sidelight, name)
        assert isinstance(vars(kind).get("_capabilities"), Capabilities), name


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", EVERY)
def test_a_fitted_model_has_what_its_class_declares_and_nothing_else(name):
    model = fitted(name)  # once for all that is asked of it
    check_methods(model)
    check_attributes(model, has_names=name not in DISTANCES)
    check_arguments(model, of_distances=name in DISTANCES)
    if name in PAIRED:
        check_answers_to_pairs(model, alone=name == "manifield-alone")
    elif name not in DISTANCES:
        check_answers_to_rows(model, rows_for(name))


def check_methods(model) -> None:
    """Declared methods are there, or hidden in this model (``available_if``); others are not there."""
    most, offers = declared(type(model)), capabilities(model)
    for capability, method in METHODS.items():
        there = callable(getattr(model, method, None))
        assert getattr(offers, capability) == there, method
        assert getattr(most, capability) or not there, f"{method} is there and not declared"


def check_attributes(model, *, has_names: bool) -> None:
    """A whole fit leaves the declared attributes and no others; ``has_names``: the columns had names."""
    for capability, attribute in FITTED.items():
        wanted = getattr(declared(type(model)), capability) and (has_names or capability != "has_feature_names")
        assert hasattr(model, attribute) == getattr(capabilities(model), capability) == wanted, attribute


def check_arguments(model, *, of_distances: bool) -> None:
    offers, taken = capabilities(model), inspect.signature(model.fit).parameters
    for capability, argument in ARGUMENTS.items():
        assert getattr(offers, capability) == (argument in taken), argument
    assert offers.takes_second_view == hasattr(model, "transform_view")
    assert offers.takes_distances == of_distances


def check_answers_to_rows(model, X) -> None:
    offers = capabilities(model)
    Z = np.asarray(model.transform(X))
    assert len(Z) == N
    if offers.has_inverse:
        assert np.shape(model.inverse_transform(Z)) == (N, D)
    if offers.has_latent_density:
        assert np.shape(model.latent_log_density(Z)) == (N,)
    if offers.has_variance:
        assert np.shape(model.predictive_variance(Z)) == (N, D)
    if offers.has_denoise:
        assert np.shape(model.denoise(X)) == (N, D)
    if offers.has_reconstruct:
        assert np.shape(model.reconstruct(X)) == (N, D)
    if offers.has_cost:
        assert model.estimate_cost(N, D).bytes > 0
    if offers.score_is_log_density:
        assert model.score(X) == pytest.approx(np.mean(model.score_samples(X)))
    elif offers.has_score:
        assert model.score(X) <= 1.0
    if offers.has_density:
        assert np.shape(model.score_samples(X)) == (N,)


def check_answers_to_pairs(model, *, alone: bool) -> None:
    offers = capabilities(model)
    X, Y = pictures() if offers.takes_fields else (rows(), blobs(N, D)[:, ::-1].copy())
    assert offers.makes_outputs != alone
    if offers.has_transfer:
        assert np.shape(model.transfer(X, Y, X)) == np.shape(X)
    if offers.has_predict:
        assert np.shape(model.predict(X)) == np.shape(Y)
    if offers.has_denoise:
        assert np.shape(model.denoise(X)) == np.shape(X)
    if offers.has_flow and offers.has_column_weights:
        assert np.shape(model.flow(X, Y)) == (N, D)
    elif offers.has_flow:
        with pytest.raises(ValueError, match="premapping"):
            model.flow(X, Y)


@pytest.mark.thorough
def test_what_depends_on_the_fit_is_asked_of_the_model():
    X, labels = blobs(N, D), np.arange(N) % 2
    plain = KernelInformationEmbedding(tol=1e-2).fit(X)
    informed = KernelInformationEmbedding(tol=1e-2).fit(X, given=labels)
    assert given_of(plain) is None
    assert not capabilities(plain).has_counterfactual
    assert [column.name for column in given_of(informed).columns] == ["given"]
    assert capabilities(informed).has_counterfactual
    for kind in (JointInformationEmbedding, lambda: CoordinatedCCA(n_charts=2)):
        assert not capabilities(kind().fit(X)).has_predict
        assert capabilities(kind().fit(X, X[:, :2])).has_predict
    assert not capabilities(ProbabilisticPCA(2).partial_fit(X)).has_embedding
    assert not capabilities(KernelInformationEmbedding()).has_embedding
    related = MultipleRelationalEmbedding(2).fit(None, relations={"kind": Relation.from_labels(labels)})
    offers = capabilities(related)
    assert (offers.has_relations, offers.has_score, offers.has_columns) == (True, False, False)


def test_names_of_columns_are_those_of_the_frame():
    assert feature_names_of(TwoWayEmbedding().fit(rows())) == list("abcde")
    assert feature_names_of(TwoWayEmbedding().fit(blobs(N, D))) is None


def test_what_a_foreign_estimator_can_do_is_derived():
    X = blobs(N, D)
    linear, one_way = PCA(2).fit(X), TSNE(2, perplexity=5, init="random", random_state=0, max_iter=250).fit(X)
    offers = capabilities(linear)
    assert (offers.has_transform, offers.has_inverse, offers.has_embedding) == (True, True, False)
    offers = capabilities(one_way)
    assert (offers.has_transform, offers.has_inverse, offers.has_embedding) == (False, False, True)
    assert capabilities(TSNE(metric="precomputed")).takes_distances
    assert not capabilities(linear).takes_given
    assert capabilities(X) == capabilities(None) == Capabilities()


@pytest.mark.parametrize("kernel", [None, "rbf"])
def test_a_chain_offers_what_all_its_steps_offer(kernel):
    X, labels = blobs(N, D), np.arange(N) % 3
    metric = EquivalenceMetric(kernel=kernel).fit(X, labels)
    chain = Chain.of(make_pipeline(metric, "passthrough", HybridEmbedding().fit(metric.transform(X))))
    offers = capabilities(chain)
    assert offers.has_inverse == offers.has_score == (kernel is None)
    assert offers == offers.also("has_transform", "has_latent_density", "has_embedding", "has_cost")
    assert not offers.has_density
    assert len(chain.before) == 1
    np.testing.assert_array_equal(chain.transform(X), chain.last.transform(metric.transform(X)))
    with pytest.raises(AttributeError, match="cannot assign"):
        chain.last = None


def test_a_chain_asks_the_last_step_of_the_map_and_the_first_of_the_columns():
    X = rows()
    scaler = StandardScaler().fit(X)
    model = SemidefiniteEmbedding(gap=0.3, tol=0.05).fit(scaler.transform(X))
    chain = Chain.of(make_pipeline(scaler, model))
    offers = capabilities(chain)
    assert offers == offers.also("has_spectrum", "has_history")
    assert not offers.has_cost
    assert chain.n_features_in_ == D
    assert feature_names_of(chain) == list("abcde")
    assert chain.embedding_ is model.embedding_


def test_capabilities_are_named_once():
    assert [one.name for one in fields(Capabilities)] == list(FIELDS)
    assert Capabilities().also("has_inverse") == replace(Capabilities(), has_inverse=True)
    with pytest.raises(TypeError):
        Capabilities().also("has_wings")
