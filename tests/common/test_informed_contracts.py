"""The contracts of DESIGN for a model that is told something: every kind of ``given``, every way of using it."""

from __future__ import annotations

import copy
import functools
import pickle

import numpy as np
import pandas as pd
import pytest
from registry import blobs
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import sidelight
from sidelight import Annealing, Conditioning, KernelInformationEmbedding, Pairs


def groups(n=90):
    return np.array(["b", "a", "c"])[np.arange(n) % 3]


def quantity(n=90):
    return np.random.default_rng(7).uniform(-3, 5, n)


def table(n=90):
    return pd.DataFrame({"who": groups(n), "turn": (37.0 * np.arange(n)) % 360})


def with_gaps(n=90):
    return np.where(np.arange(n) % 7 == 3, None, groups(n))


QUICK = {"tol": 1e-4}
SHORT = Annealing(0.1, start=0.2)
GIVEN = {"category": groups, "number": quantity, "table": table, "gaps": with_gaps}
INFORMED = {
    "category": ({}, groups),
    "number": ({}, quantity),
    "table": ({"conditioning": Conditioning(types={"turn": "angle"})}, table),
    "period": ({"conditioning": Conditioning(types=4.0)}, quantity),
    "gaps": ({}, with_gaps),
    "weight-0": ({"conditioning": Conditioning(weight=0.0)}, groups),
    "weight-2": ({"conditioning": Conditioning(weight=2)}, groups),
    "product": ({"conditioning": "product"}, groups),
    "product-number": ({"conditioning": "product"}, quantity),
    "loo-l2": (
        {"bandwidth": "loo", "penalty": "l2", "regularization": 0.01, "init": "pca"},
        groups,
    ),
    "fixed": ({"bandwidth": 4.0}, quantity),
    "cosine": ({"metric": "cosine"}, groups),
    "student-straight": ({"latent_kernel": "student", "n_neighbors": None}, groups),
    "random-3d": ({"init": "random", "random_state": 3, "n_components": 3}, with_gaps),
}
every = pytest.mark.parametrize("name", INFORMED)
each = pytest.mark.parametrize("name", ["category", "number", "table", "gaps"])


def shifted(n=90, d=5, seed=0):
    return blobs(n, d, seed) + 2.0 * np.eye(d)[np.arange(n) % 3]


@functools.cache
def fitted(name, n=90, d=5, **parameters):
    """A model, its rows and what is known of them; made once and not to be changed."""
    chosen, make = INFORMED[name]
    X, given = shifted(n, d), make(n)
    return KernelInformationEmbedding(**{**QUICK, **chosen, **parameters}).fit(X, given=given), X, given


@every
def test_every_map_is_finite_with_and_without_given(name):
    model, X, given = fitted(name)
    Z = model.embedding_
    q = Z.shape[1]
    for known in (None, given):
        for values, shape in (
            (model.transform(X, given=known), (90, q)),
            (model.inverse_transform(Z, given=known), (90, 5)),
            (model.denoise(X, given=known), (90, 5)),
            (model.predictive_variance(Z, given=known), (90, 5)),
        ):
            assert values.shape == shape
            assert np.isfinite(values).all()
        assert (model.predictive_variance(Z, given=known) > 0).all()
        assert model.score(X, given=known) <= 1.0
    assert np.isfinite(Z).all()
    assert model.counterfactual(X, given=given).shape == (90, 5)
    assert model.sample(4, random_state=0).shape == (4, 5)
    assert np.isfinite(model.score_samples(X)).all()
    assert model.given_ is not None


def rows_of(given, part):
    return given.iloc[part] if hasattr(given, "iloc") else given[part]


@pytest.mark.filterwarnings("ignore:.*extrapolation")  # one of the new rows is at the edge
@pytest.mark.parametrize("name", ["category", "number", "gaps", "product", "fixed", "cosine"])
def test_one_by_one_equals_batch(name):
    model, _, given = fitted(name, d=12)
    new = shifted(d=12, seed=1)[:14]
    known = rows_of(given, slice(14))
    Z = model.embedding_[:14] + 0.01
    calls = {
        "transform": lambda part: model.transform(new[part], given=rows_of(known, part)),
        "inverse_transform": lambda part: model.inverse_transform(Z[part], given=rows_of(known, part)),
        "counterfactual": lambda part: model.counterfactual(new[part], given=rows_of(known, part)),
        "predictive_variance": lambda part: model.predictive_variance(Z[part], given=rows_of(known, part)),
        "transform without": lambda part: model.transform(new[part]),
    }
    for call in calls.values():
        together = call(slice(None))
        alone = np.concatenate([call(slice(i, i + 1)) for i in range(14)])
        np.testing.assert_allclose(alone, together, rtol=1e-12, atol=1e-12 * np.abs(together).max())


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ["category", "product"])
def test_the_same_bytes_with_one_and_two_threads_and_again(name):
    """Bytes may be compared: fixed tiles, each on one BLAS thread, are added in the order of the tiles."""
    results = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            model, X, given = fitted(name, n=520, d=6, n_jobs=threads, max_iter=2, regularization=SHORT)
            parts = (
                model.embedding_,
                model.transform(X, given=given),
                model.transform(X),
                model.inverse_transform(model.embedding_, given=given),
                model.counterfactual(X, given=given),
            )
            results.append([part.tobytes() for part in parts])
    assert results[0] == results[1]


@every
def test_saved_and_pickled_models_give_the_same_bits(name, tmp_path):
    model, X, given = fitted(name)
    sidelight.save(model, tmp_path / "model")
    for again in (sidelight.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert again.given_ == model.given_
        assert again.explained_ == model.explained_
        assert again.confounded_ == model.confounded_
        for call in ("transform", "denoise", "counterfactual", "score"):
            ours, theirs = (getattr(one, call)(X, given=given) for one in (model, again))
            np.testing.assert_array_equal(theirs, ours)
        np.testing.assert_array_equal(again.transform(X), model.transform(X))
        np.testing.assert_array_equal(again.embedding_, model.embedding_)


@pytest.mark.parametrize("name", ["category", "table", "gaps", "product", "cosine"])
def test_float32_in_float32_out_near_the_float64_map(name):
    chosen, make = INFORMED[name]
    X, given = shifted().astype(np.float32), make()
    model = KernelInformationEmbedding(**{**QUICK, **chosen}).fit(X, given=given)
    assert model.embedding_.dtype == np.float32
    assert model.transform(X, given=given).dtype == np.float32
    assert model.inverse_transform(model.embedding_, given=given).dtype == np.float32
    assert model.counterfactual(X, given=given).dtype == np.float32
    assert model.denoise(X, given=given).dtype == np.float32


@each
def test_fit_transform_of_a_clone_returns_the_embedding_and_does_not_change_its_input(name):
    model = fitted(name)[0]
    X, given = shifted(), INFORMED[name][1]()
    X.setflags(write=False)
    if isinstance(given, np.ndarray):
        given.setflags(write=False)
    again = clone(model)
    np.testing.assert_array_equal(again.fit_transform(X, given=given), model.embedding_)
    again.counterfactual(X, given=given)
    np.testing.assert_array_equal(X, shifted())
    assert np.array_equal(given, INFORMED[name][1]())


@each
def test_a_later_fit_forgets_what_was_given(name):
    model, X, given = fitted(name)
    plain = clone(model).fit(X)
    model = copy.deepcopy(model).fit(X)
    np.testing.assert_array_equal(model.embedding_, plain.embedding_)
    np.testing.assert_array_equal(model.denoise(X), plain.denoise(X))
    assert not hasattr(model, "counterfactual")
    with pytest.raises(ValueError, match="given=something cannot be used by a model that was fitted without given"):
        model.transform(X, given=given)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_set_output_names_the_latent_columns(kind):
    plain, X, given = fitted("category")
    model = copy.deepcopy(plain).set_output(transform=kind)
    frame = model.transform(X, given=given)
    assert list(frame.columns) == list(model.get_feature_names_out())
    assert list(frame.columns) == ["kernelinformationembedding0", "kernelinformationembedding1"]
    np.testing.assert_array_equal(np.asarray(frame), plain.transform(X, given=given))
    np.testing.assert_array_equal(model.counterfactual(X, given=given), plain.counterfactual(X, given=given))


@pytest.mark.filterwarnings("ignore:KernelInformationEmbedding. given=what was given explains X entirely")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # an honest answer to some of these
@pytest.mark.parametrize("name", GIVEN)
@pytest.mark.parametrize(
    "make",
    [
        lambda: shifted(2),
        lambda: shifted(3),
        lambda: shifted(5),
        lambda: np.ones((30, 4)),
        lambda: np.repeat(shifted(12), 5, axis=0),
        lambda: np.tile(shifted(12), (5, 1)),
        lambda: shifted() * 1e150,
        lambda: shifted() * 1e-150,
        lambda: np.concatenate([shifted(60), np.full((1, 5), 1e8)]),
        lambda: np.random.default_rng(0).normal(size=(20, 300)),
    ],
    ids=["2 rows", "3 rows", "5 rows", "constant", "copies beside", "copies across", "huge", "tiny", "outlier", "wide"],
)
@pytest.mark.thorough
def test_odd_data_gets_a_finite_answer(name, make):
    X = make()
    given = GIVEN[name](len(X))
    if name == "gaps" and len(X) < 5:
        given = groups(len(X))
    model = KernelInformationEmbedding(**QUICK).fit(X, given=given)
    assert np.isfinite(model.embedding_).all()
    for known in (given, None):
        Z = model.transform(X, given=known)
        assert np.isfinite(Z).all()
        assert np.isfinite(model.inverse_transform(Z, given=known)).all()
        assert np.isfinite(model.score(X, given=known))
    assert np.isfinite(model.counterfactual(X, given=given)).all()
    assert not np.isnan(model.score_samples(X)).any()


@pytest.mark.parametrize("factor", [1e150, 1e-150])
@pytest.mark.parametrize("name", ["category", "number"])
def test_the_scale_of_the_data_does_not_change_the_map(name, factor):
    model, X, given = fitted(name)
    scaled = clone(model).fit(X * factor, given=given)
    assert np.abs(scaled.embedding_ - model.embedding_).max() < 0.05 * np.abs(model.embedding_).max()
    np.testing.assert_allclose(scaled.explained_, model.explained_, rtol=1e-6)


@pytest.mark.parametrize("factor", [1e150, 1e-150])
def test_the_scale_of_given_does_not_change_the_map(factor):
    model, X, given = fitted("number")
    scaled = clone(model).fit(X, given=given * factor)
    assert np.abs(scaled.embedding_ - model.embedding_).max() < 0.05 * np.abs(model.embedding_).max()
    far = np.array([1e150, -1e150])
    assert np.isfinite(scaled.inverse_transform(scaled.embedding_[:2], given=far)).all()
    assert np.isfinite(scaled.transform(X[:2], given=far)).all()


REFUSED = {
    "other length": ({}, {"given": ["a", "b"]}, "given=2 entries in 'given' does not match the 90 rows of X"),
    "all missing": ({}, {"given": [None] * 90}, "given=column 'given' has no entry at all"),
    "one known row": ({}, {"given": ["a"] + [None] * 89}, "given=missing entries leaves 1 row of which everything"),
    "infinite": ({}, {"given": np.r_[np.inf, quantity()[1:]]}, "given=column 'given' holds infinite entries"),
    "hints without groups": ({}, {"same": [[0, 1]]}, "same=pairs is a hint across groups, and there are no groups"),
    "hints outside": ({}, {"given": groups(), "same": [[0, 90]]}, "index=90 points outside the 90 rows"),
    "hints of other data": ({}, {"given": groups(), "same": Pairs([[0, 1]], 80)}, "n_samples=80 does not match the 90"),
    "hints and product": (
        {"conditioning": "product"},
        {"given": groups(), "same": [[0, 1]]},
        "same=1 pair needs the balanced kernel",
    ),
    "hints and one bandwidth": (
        {"bandwidth": "loo"},
        {"given": groups(), "same": [[0, 1]]},
        "same=1 pair needs the balanced kernel",
    ),
    "weight and product": (
        {"conditioning": Conditioning("product", weight=2.0)},
        {"given": groups()},
        r"conditioning\.weight=2.0 needs the balanced kernel",
    ),
    "negative weight": (
        {"conditioning": Conditioning(weight=-1.0)},
        {"given": groups()},
        r"conditioning\.weight=-1.0 is not a number in range",
    ),
    "unknown conditioning": ({"conditioning": "hard"}, {"given": groups()}, "conditioning=hard is not an option"),
    "unknown type": (
        {"conditioning": Conditioning(types="length")},
        {"given": groups()},
        r"conditioning\.types=length is not a type of column",
    ),
    "a type for no column": (
        {"conditioning": Conditioning(types={"b": "angle"})},
        {"given": table()},
        r"conditioning\.types=entry for 'b' is not",
    ),
    "no width": (
        {"conditioning": Conditioning(bandwidth=-1.0)},
        {"given": groups()},
        r"conditioning\.bandwidth=-1.0 is not a number in range",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_used_gets_a_sentence(name):
    parameters, known, message = REFUSED[name]
    with pytest.raises(ValueError, match=f"{message}.*\\. [A-Z].*\\.$"):
        KernelInformationEmbedding(**parameters).fit(shifted(), **known)


def test_new_rows_get_the_same_care():
    model, X, given = fitted("category")
    for call in (model.transform, model.denoise, model.counterfactual, model.score):
        with pytest.raises(ValueError, match="given=z is not among the categories of 'given' that fit saw"):
            call(X[:1], given=["z"])
        with pytest.raises(ValueError, match="given=90 entries in 'given' does not match the 3 rows of X"):
            call(X[:3], given=given)
    with pytest.raises(ValueError, match="given=2 columns does not match the 1 column of fit"):
        model.transform(X[:2], given=[["a", "b"], ["a", "b"]])
    with pytest.raises(ValueError, match="given=nothing does not say what is to be different"):
        model.counterfactual(X, given=None)


@pytest.mark.parametrize("name", ["category", "number", "product"])
def test_a_callback_sees_the_terms_and_stops_the_fit(name):
    seen = []

    def stop(state):
        seen.append((state.embedding.shape, sorted(state.terms)))
        return len(seen) == 5

    model, X, given = fitted(name, callback=stop)
    joint = "H(G,X,Z)" if name == "product" else "H(X,Z)"
    assert seen == [((90, 2), sorted(["-I", "H(G,Z)", joint, "penalty"]))] * 5
    assert model.n_iter_ == 5
    assert np.isfinite(model.transform(X, given=given)).all()


@pytest.mark.parametrize("name", ["category", "number", "gaps"])
def test_ctrl_c_keeps_the_best_so_far_and_is_raised_again(name):
    def interrupt(state):
        if state.stage == 2:
            raise KeyboardInterrupt

    X, given = shifted(), INFORMED[name][1]()
    model = KernelInformationEmbedding(callback=interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, given=given)
    assert model.history_[-1]["stage"] == 2
    assert np.isfinite(model.embedding_).all()
    assert model.embedding_.shape == model.path_[-1].shape == (90, 2)
    assert np.isfinite(model.counterfactual(X, given=given)).all()


def requesting(model):
    return (
        model.set_fit_request(given=True, same=True)
        .set_transform_request(given=True)
        .set_inverse_transform_request(given=True)
        .set_score_request(given=True)
    )


@pytest.mark.thorough
def test_a_pipeline_routes_given_to_every_step_that_asks_for_it():
    X, given, same = shifted(), groups(), Pairs([[0, 1], [30, 31], [60, 62]], 90)
    scaled = StandardScaler().fit_transform(X)
    direct = KernelInformationEmbedding().fit(scaled, given=given, same=same)
    with config_context(enable_metadata_routing=True):
        pipe = Pipeline([("scale", StandardScaler()), ("embed", requesting(KernelInformationEmbedding()))])
        pipe.fit(X, given=given, same=same)
        np.testing.assert_array_equal(pipe[-1].embedding_, direct.embedding_)
        Z = pipe.transform(X, given=given)
        np.testing.assert_array_equal(Z, direct.transform(scaled, given=given))
        back = pipe.inverse_transform(Z, given=given)
        np.testing.assert_array_equal(pipe.fit_transform(X, given=given, same=same), direct.embedding_)
        assert pipe.score(X, given=given) == direct.score(scaled, given=given)
    assert np.mean((back - X) ** 2) < 0.5 * np.mean((X - X.mean(axis=0)) ** 2)


@pytest.mark.thorough
def test_cross_validation_scores_with_the_given_of_each_fold():
    X, given = shifted(), groups()
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    by_hand = [
        KernelInformationEmbedding(**QUICK).fit(X[train], given=given[train]).score(X[test], given=given[test])
        for train, test in folds
    ]
    with config_context(enable_metadata_routing=True):
        model = requesting(KernelInformationEmbedding(**QUICK))
        found = cross_validate(model, X, cv=folds, params={"given": given})
    assert found["test_score"].tolist() == by_hand


@pytest.mark.thorough
def test_a_grid_search_with_given_and_hints_chooses_and_refits():
    X, given = shifted(), groups()
    same = Pairs([[i, i + 1] for i in range(0, 88, 3)], 90)
    with config_context(enable_metadata_routing=True):
        model = requesting(KernelInformationEmbedding(**QUICK))
        search = GridSearchCV(model, {"regularization": [0.1, 30.0]}, cv=KFold(2))
        search.fit(X, given=given, same=same)
    assert search.best_params_ == {"regularization": 0.1}
    direct = KernelInformationEmbedding(**QUICK).fit(X, given=given, same=same)
    np.testing.assert_array_equal(search.best_estimator_.embedding_, direct.embedding_)
