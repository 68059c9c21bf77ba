"""The contracts of DESIGN for Boltzmann machines: one takes rows, the other pairs of rows."""

from __future__ import annotations

import functools
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from registry import TORCH, blobs, turned
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from test_bad_input import ODD, REFUSED

import sidelight
import sidelight.base.cost
from sidelight.gated import GatedBoltzmannMachine, RestrictedBoltzmannMachine

RESTRICTED = {
    "rbm": lambda: RestrictedBoltzmannMachine(4, max_iter=30, random_state=0),
    "rbm-learned-persistent": lambda: RestrictedBoltzmannMachine(
        4, visible="gaussian-learned", persistent=True, max_iter=30, random_state=0
    ),
    "rbm-gaussian-hidden": lambda: RestrictedBoltzmannMachine(
        3, hidden="gaussian", negatives="mean-field", learning_rate=1e-3, max_iter=30, random_state=0
    ),
}
GATED = {
    "gbm": lambda: GatedBoltzmannMachine(4, max_iter=30, random_state=0),
    "gbm-factored": lambda: GatedBoltzmannMachine(4, n_factors=6, max_iter=30, random_state=0),
    "gbm-premapped": lambda: GatedBoltzmannMachine(4, premapping=(6, 3), max_iter=30, random_state=0),
    "gbm-learned-few-biases": lambda: GatedBoltzmannMachine(
        4, visible="gaussian-learned", biases=("xy", "y"), negatives="sampled", max_iter=30, random_state=0
    ),
    "gbm-persistent": lambda: GatedBoltzmannMachine(4, persistent=True, max_iter=30, random_state=0),
}
rows = pytest.mark.parametrize("make", RESTRICTED.values(), ids=RESTRICTED.keys())
pairs = pytest.mark.parametrize("make", GATED.values(), ids=GATED.keys())
one_pair = pytest.mark.parametrize("make", [GATED["gbm"]], ids=["gbm"])
one_row = pytest.mark.parametrize("make", [RESTRICTED["rbm"]], ids=["rbm"])


@pytest.fixture(autouse=True)
def _one_torch_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@parametrize_with_checks([make() for make in TORCH.values()])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def row_answers(model, X):
    return (
        model.transform(X),
        model.inverse_transform(model.transform(X)),
        model.reconstruct(X),
        model.score_samples(X),
    )


def pair_answers(model, X, Y):
    mapping = model.infer(X, Y)
    return (
        mapping,
        model.apply(X, mapping),
        model.transfer(X, Y, X[::-1]),
        model.reconstruct(X, Y),
        model.score_samples(X, Y),
    )


@functools.cache
def fitted(make):
    """A model of ``blobs()`` and, if it takes pairs, of the same rows turned: made once for all that only ask it."""
    X = blobs()
    return make().fit(X, turned(X)) if make in GATED.values() else make().fit(X)


@rows
def test_answers_about_rows_have_their_shapes_and_are_finite(make):
    X = blobs()
    model = fitted(make)
    k = model.n_components
    assert [part.shape for part in row_answers(model, X)] == [(90, k), (90, 5), (90, 5), (90,)]
    assert all(np.isfinite(part).all() for part in row_answers(model, X))
    assert model.sample(4, random_state=0).shape == (4, 5)
    assert model.n_iter_ == 30
    assert model.score(X) <= 1


@pairs
def test_answers_about_pairs_have_their_shapes_and_are_finite(make):
    X = blobs()
    Y = turned(X)[:, :4]
    model = make().fit(X, Y)
    assert [part.shape for part in pair_answers(model, X, Y)] == [(90, 4), (90, 4), (90, 4), (90, 4), (90,)]
    assert all(np.isfinite(part).all() for part in pair_answers(model, X, Y))
    assert model.distance(X[:7], Y[:9]).shape == (7, 9)
    assert (model.distance(X[:7], Y[:9]) >= 0).all()
    assert model.n_outputs_ == 4


@rows
def test_rows_one_by_one_equal_a_batch(make):
    model, new = make().fit(blobs(d=12)), blobs(d=12, seed=1)[:12]
    for number, together in enumerate(row_answers(model, new)):
        alone = np.concatenate([row_answers(model, new[i : i + 1])[number] for i in range(len(new))])
        np.testing.assert_allclose(alone, together, rtol=1e-12, atol=1e-12 * np.abs(together).max())


@pairs
def test_pairs_one_by_one_equal_a_batch(make):
    X = blobs(d=12)
    model = make().fit(X, turned(X))
    new = blobs(d=12, seed=1)[:12]
    out = turned(new)
    for name in ("infer", "reconstruct", "score_samples"):
        together = getattr(model, name)(new, out)
        alone = np.concatenate([getattr(model, name)(new[i : i + 1], out[i : i + 1]) for i in range(len(new))])
        np.testing.assert_allclose(alone, together, rtol=1e-12, atol=1e-12 * np.abs(together).max())
    together = model.distance(new, out)
    alone = np.concatenate([model.distance(new[i : i + 1], out) for i in range(len(new))])
    np.testing.assert_allclose(alone, together, rtol=1e-9, atol=1e-7 * together.max())


@rows
def test_float32_rows_give_float32(make):
    X = blobs().astype(np.float32)
    model = make().fit(X)
    assert all(part.dtype == np.float32 for part in row_answers(model, X))
    alone = np.concatenate([model.transform(X[i : i + 1]) for i in range(9)])
    np.testing.assert_allclose(alone, model.transform(X[:9]), rtol=1e-5, atol=1e-6)


@pairs
def test_float32_pairs_give_float32_close_to_those_of_64_bits(make):
    X = blobs()
    Y = turned(X)
    model = fitted(make)
    singles = pair_answers(model, X.astype(np.float32), Y.astype(np.float32))
    for single, double in zip(singles, pair_answers(model, X, Y), strict=True):
        assert single.dtype == np.float32
        assert double.dtype == np.float64
        np.testing.assert_allclose(single, double, rtol=1e-3, atol=1e-4 * np.abs(double).max())
    near = model.distance(X.astype(np.float32)[:9], Y.astype(np.float32)[:8])
    assert near.dtype == np.float32
    np.testing.assert_allclose(near, model.distance(X[:9], Y[:8]), atol=2e-3 * np.abs(Y).max())


@rows
def test_a_restricted_machine_is_saved_and_pickled_to_the_bit(make, tmp_path):
    X = blobs()
    model = fitted(make)
    sidelight.save(model, tmp_path / "m")
    for other in (sidelight.load(tmp_path / "m"), pickle.loads(pickle.dumps(model))):
        for one, two in zip(row_answers(other, X), row_answers(model, X), strict=True):
            np.testing.assert_array_equal(one, two)
        np.testing.assert_array_equal(other.sample(3, random_state=1), model.sample(3, random_state=1))
        assert other.score(X) == model.score(X)


@pairs
def test_a_gated_machine_is_saved_and_pickled_to_the_bit(make, tmp_path):
    X = blobs()
    Y = turned(X)
    model = fitted(make)
    sidelight.save(model, tmp_path / "m")
    for other in (sidelight.load(tmp_path / "m"), pickle.loads(pickle.dumps(model))):
        assert type(other) is GatedBoltzmannMachine
        for one, two in zip(pair_answers(other, X, Y), pair_answers(model, X, Y), strict=True):
            np.testing.assert_array_equal(one, two)
        np.testing.assert_array_equal(other.distance(X, Y), model.distance(X, Y))


@pairs
def test_a_repeated_fit_forgets_the_first_and_input_is_not_changed(make):
    X = blobs(n=70, d=3, seed=4)
    Y = turned(X)
    before = X.copy(), Y.copy()
    for part in (X, Y):
        part.setflags(write=False)
    model = make().fit(blobs(), turned(blobs())).fit(X, Y)
    np.testing.assert_array_equal(model.infer(X, Y), clone(make()).fit(X, Y).infer(X, Y))
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(Y, before[1])


@one_pair
def test_data_frames_are_taken_and_their_names_checked(make):
    X = pd.DataFrame(blobs(), columns=list("abcde"))
    Y = pd.DataFrame(turned(blobs()), columns=list("vwxyz"))
    model = make().fit(X, Y)
    assert list(model.feature_names_in_) == list("abcde")
    np.testing.assert_array_equal(model.infer(X, Y), make().fit(X.to_numpy(), Y.to_numpy()).infer(blobs(), Y))
    with pytest.raises(ValueError, match="feature names should match"):
        model.infer(X.rename(columns={"a": "q"}), Y)


@one_row
@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_set_output_names_the_hidden_units(make, kind):
    X = blobs()
    frame = make().set_output(transform=kind).fit(X).transform(X)
    assert next(iter(frame.columns)) == "restrictedboltzmannmachine0"
    np.testing.assert_array_equal(np.asarray(frame), make().fit(X).transform(X))


@one_row
def test_works_in_a_pipeline_and_a_search(make):
    X = blobs()
    pipe = make_pipeline(StandardScaler(), make())
    np.testing.assert_array_equal(clone(pipe).fit_transform(X), pipe.fit(X).transform(X))
    assert pipe.inverse_transform(pipe.transform(X)).shape == X.shape
    assert np.isfinite(GridSearchCV(make(), {"n_components": [2, 4]}, cv=3).fit(X).best_score_)


@one_pair
def test_a_search_over_pairs_works(make):
    X = blobs()
    search = GridSearchCV(make(), {"learning_rate": [1e-6, 0.01]}, cv=3).fit(X, turned(X))
    assert search.best_params_ == {"learning_rate": 0.01}


def test_not_fitted_is_said():
    X = blobs()
    for call in ("transform", "inverse_transform", "reconstruct", "score_samples", "score"):
        with pytest.raises(NotFittedError):
            getattr(RESTRICTED["rbm"](), call)(X)
    with pytest.raises(NotFittedError):
        RESTRICTED["rbm"]().sample()
    for call in ("infer", "apply", "reconstruct", "distance", "flow", "score_samples", "score"):
        with pytest.raises(NotFittedError):
            getattr(GATED["gbm"](), call)(X, X)


@one_pair
@pytest.mark.parametrize("name", [name for name in REFUSED if name != "text"])
def test_bad_pairs_are_refused_with_a_sentence(make, name):
    X, message = REFUSED[name]
    good = blobs(len(X))[:, :1] if len(X) else np.empty((0, 1))
    with pytest.raises(ValueError, match=message):
        make().fit(X, good)
    if name != "empty":
        with pytest.raises(ValueError, match=message):
            make().fit(good, X)


@one_row
@pytest.mark.parametrize("name", REFUSED)
def test_bad_rows_are_refused_with_a_sentence(make, name):
    X, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        make().fit(X)


def test_sparse_rows_are_refused_with_a_sentence():
    with pytest.raises(TypeError, match="dense data is required"):
        RESTRICTED["rbm"]().fit(sp.csr_array(blobs()))
    with pytest.raises(TypeError, match="dense data is required"):
        GATED["gbm"]().fit(blobs(), sp.csr_array(blobs()))


def test_mismatched_rows_and_columns_are_said():
    X = blobs()
    with pytest.raises(ValueError, match="y=array of 40 rows does not match the 90 rows of X"):
        GATED["gbm"]().fit(X, X[:40])
    model = GATED["gbm"]().fit(X, X)
    with pytest.raises(ValueError, match="expecting 5 features"):
        model.infer(X[:, :3], X)
    with pytest.raises(ValueError, match="y=3 columns does not match the 5 of the fit"):
        model.infer(X, X[:, :3])
    with pytest.raises(ValueError, match="mapping=3 columns does not match the 4 of the fit"):
        model.apply(X, np.zeros((90, 3)))
    with pytest.raises(ValueError, match="mapping=2 rows does not match the 90 rows of X"):
        model.apply(X, np.zeros((2, 4)))
    with pytest.raises(ValueError, match=r"X=3 columns does not match the 4 of the fit"):
        RESTRICTED["rbm"]().fit(X).inverse_transform(np.zeros((2, 3)))


@pytest.mark.parametrize("make", [RESTRICTED["rbm"], RESTRICTED["rbm-learned-persistent"]], ids=["rbm", "learned"])
@pytest.mark.parametrize("name", ODD)
def test_odd_rows_get_a_finite_answer(make, name):
    X = ODD[name]
    model = make().fit(X)
    assert all(np.isfinite(part).all() for part in row_answers(model, X))
    assert np.isfinite(model.sample(3, random_state=0)).all()
    assert np.isfinite(model.score(X))


@pytest.mark.parametrize("make", [GATED["gbm"], GATED["gbm-factored"]], ids=["full", "factored"])
@pytest.mark.parametrize("name", ODD)
def test_odd_pairs_get_a_finite_answer(make, name):
    X = ODD[name]
    model = make().fit(X, X)
    assert all(np.isfinite(part).all() for part in pair_answers(model, X, X) if len(part))
    assert np.isfinite(model.distance(X, X)).all()


@pytest.mark.parametrize("factor", [1e150, 1e-150])
def test_the_scale_of_the_data_does_not_change_the_mapping(factor):
    X = blobs()
    Y = turned(X)
    plain, scaled = GATED["gbm"]().fit(X, Y), GATED["gbm"]().fit(X * factor, Y * factor)
    np.testing.assert_allclose(scaled.infer(X * factor, Y * factor), plain.infer(X, Y), atol=1e-4)
    rows_plain, rows_scaled = RESTRICTED["rbm"]().fit(X), RESTRICTED["rbm"]().fit(X * factor)
    np.testing.assert_allclose(rows_scaled.transform(X * factor), rows_plain.transform(X), atol=1e-4)


BAD = {
    "n_mapping": [0, 1.5, None],
    "n_factors": [0, "many"],
    "visible": ["binomial", None],
    "mapping": ["real", 3],
    "noise": [0.0, -1, "loud"],
    "levels": [1, "two"],
    "biases": [("xx",), ("x",)],
    "premapping": [0, (5, 0), "deep"],
    "cd_steps": [0, 1.5],
    "negatives": ["none"],
    "optimizer": ["newton"],
    "learning_rate": [0.0, -1, "fast"],
    "momentum": [1.0, -0.5],
    "weight_decay": [-1.0],
    "batch_size": [0],
    "max_iter": [0],
    "validation_fraction": [1.0, -0.1],
    "patience": [-1],
}


@pytest.mark.parametrize(("name", "value"), [(k, v) for k, values in BAD.items() for v in values])
def test_a_bad_parameter_is_named_with_its_value_and_a_way_out(name, value):
    with pytest.raises(ValueError, match=rf"^GatedBoltzmannMachine: {name}=.* is not .*\. (Give|Choose) .*\.$"):
        GatedBoltzmannMachine(**{name: value}).fit(blobs(), blobs())


def test_cost_grows_with_the_model_and_a_fit_that_does_not_fit_is_refused(monkeypatch):
    small, large = GatedBoltzmannMachine(10).estimate_cost(1000, 50), GatedBoltzmannMachine(50).estimate_cost(1000, 400)
    assert large.bytes > 10 * small.bytes
    assert large.seconds > 10 * small.seconds
    assert GatedBoltzmannMachine(50, n_factors=100).estimate_cost(1000, 400).bytes < large.bytes / 10
    monkeypatch.setattr(sidelight.base.cost, "available_memory", lambda: 1000)
    for fit in (lambda: GATED["gbm"]().fit(blobs(), blobs()), lambda: RESTRICTED["rbm"]().fit(blobs())):
        with pytest.raises(MemoryError, match=r"X=90 rows needs about .*"):
            fit()
