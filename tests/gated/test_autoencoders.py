"""The auto-encoders: gradients, limits, what they learn, and what they refuse."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import torch
from scipy.linalg import subspace_angles
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

import sidelight
from sidelight.gated import Autoencoder, BiasedAutoencoder, GatedAutoencoder, Manifield
from sidelight.gated._networks import (
    LOSSES,
    PATHS,
    AutoencoderNetwork,
    BiasedNetwork,
    GatedNetwork,
    error,
    finished,
    total_weight,
)
from sidelight.gated._premapping import layers
from sidelight.gated._units import MultinomialUnits, units

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
quick = {"max_iter": 30, "random_state": 0}


def pairs(n=80, d=4, e=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.tanh(X @ rng.normal(size=(d, e)))


PAIRED = {
    "biased": lambda **o: BiasedAutoencoder(3, **{**quick, **o}),
    "biased-deep": lambda **o: BiasedAutoencoder(2, hidden=(6,), reconstruction=0.5, **{**quick, **o}),
    "biased-predictor-alone": lambda **o: BiasedAutoencoder(None, predictor=(), **{**quick, **o}),
    "biased-adam": lambda **o: BiasedAutoencoder(3, optimizer="adam", **{**quick, **o}),
    "gated": lambda **o: GatedAutoencoder(3, predictor=(), **{**quick, **o}),
    "gated-factored": lambda **o: GatedAutoencoder(3, n_factors=4, predictor=(6,), **{**quick, **o}),
    "gated-premapped": lambda **o: GatedAutoencoder(3, premapping=(6, 3), predictor=(), **{**quick, **o}),
    "gated-few-biases": lambda **o: GatedAutoencoder(3, biases=("z", "y"), predictor=(), **{**quick, **o}),
}
paired = pytest.mark.parametrize("make", PAIRED.values(), ids=PAIRED.keys())


@parametrize_with_checks([Autoencoder(max_iter=20), Autoencoder(1, hidden=(4,), tied=True, max_iter=20)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# gradients, against finite differences in double precision


def networks(loss):
    torch.manual_seed(0)
    deep = AutoencoderNetwork((4, 5, 2), "tanh")
    tied = AutoencoderNetwork((4, 5, 2), "sigmoid", tied=True)
    gate = {"predictor": layers((3, 4))}
    return {
        "plain": (deep, lambda m, x, y: [m(y)]),
        "tied": (tied, lambda m, x, y: [m(y)]),
        "biased": (BiasedNetwork((3, 6, 4), deep, loss=loss, levels=2), lambda m, x, y: [m(x), m.autoencoder(y)]),
        "gated": (GatedNetwork(3, 4, 2, **gate), lambda m, x, y: [m.condition(x).project(y), m.predictor(x)]),
        "factored": (
            GatedNetwork(2, 4, 2, n_factors=3, premapping=layers((3, 5, 2)), **gate),
            lambda m, x, y: [m.condition(x).project(finished(loss, m.predictor(x), 2))],
        ),
    }


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", ["plain", "tied", "biased", "gated", "factored"])
def test_gradients_are_those_of_finite_differences(name, loss):
    module, read = networks(loss)[name]
    module.double()
    generator = torch.Generator().manual_seed(1)
    x, y = (torch.rand(6, k, generator=generator, dtype=torch.float64) for k in (3, 4))
    y = y if loss != "multinomial" else MultinomialUnits(4, levels=2).mode(y)

    def value():
        return sum(error(loss, raw, y, 2) for raw in read(module, x, y)) + 0.1 * total_weight(module)

    value().backward()
    for parameter in module.parameters():
        flat = parameter.data.view(-1)
        for index in range(0, len(flat), max(1, len(flat) // 5)):
            step = 1e-6
            flat[index] += step
            above = float(value().detach())
            flat[index] -= 2 * step
            below = float(value().detach())
            flat[index] += step
            assert float(parameter.grad.view(-1)[index]) == pytest.approx((above - below) / (2 * step), abs=1e-7)


@pytest.mark.parametrize(
    ("loss", "kind", "factor"),
    [("squared", "gaussian", 2), ("cross-entropy", "binary", 1), ("multinomial", "multinomial", 1)],
)
def test_a_loss_is_the_density_of_its_unit_type_up_to_a_constant(loss, kind, factor):
    family = units(kind, 4, **({"levels": 2} if kind == "multinomial" else {})).double()
    raw = torch.randn(5, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    y = family.mode(raw.flip(0))
    density = (family.statistic(y) * raw).sum(dim=1) + family.base(y) - family.log_partition(raw)
    constant = 2 * np.log(2 * np.pi) if kind == "gaussian" else 0.0
    assert float(error(loss, raw, y, 2)) == pytest.approx(-factor * float((density + constant).mean()) / 4)
    torch.testing.assert_close(finished(loss, raw, 2), family.mean(raw))


# limits


@pytest.mark.parametrize("options", [{}, {"tied": True}], ids=["free", "tied"])
def test_a_linear_autoencoder_spans_the_subspace_of_pca_within_a_degree(options):
    X = load_digits().data[:600]
    model = Autoencoder(4, random_state=0, **options).fit(X)
    directions = model.inverse_transform(np.eye(4)) - model.inverse_transform(np.zeros((1, 4)))
    angles = np.degrees(subspace_angles(directions.T, PCA(4).fit(X).components_.T))
    assert angles.max() < 1
    assert model.score(X) == pytest.approx(PCA(4).fit(X).explained_variance_ratio_.sum(), abs=1e-4)


def test_a_deep_autoencoder_follows_a_curve_that_a_line_cannot():
    t = np.random.default_rng(0).uniform(-1, 1, (300, 1))
    X = np.hstack([t, np.cos(3 * t), np.sin(3 * t)])
    assert Autoencoder(1, hidden=(10,), max_iter=500, random_state=0).fit(X).score(X) > 0.99
    assert Autoencoder(1, random_state=0).fit(X).score(X) < 0.9


def test_gated_with_one_constant_input_is_an_autoencoder():
    """x = 1 for all rows: A(x) and W(x) are one matrix each."""
    module = GatedNetwork(1, 4, 2, activation="linear", biases=()).double()
    y, x = torch.rand(5, 4, dtype=torch.float64), torch.ones(5, 1, dtype=torch.float64)
    A, W = module.encoding.weights[0], module.decoding.weights[0]
    torch.testing.assert_close(module.condition(x).project(y), (y @ A) @ W.T)


def test_a_gated_code_is_the_loop_over_inputs_and_outputs():
    torch.manual_seed(0)
    module = GatedNetwork(3, 4, 2).double()
    x, y = (torch.rand(5, k, dtype=torch.float64) for k in (3, 4))
    total = module.to_code["z"] + x @ module.to_code["xz"] + y @ module.to_code["yz"]
    for i in range(3):
        for j in range(4):
            total = total + x[:, i : i + 1] * y[:, j : j + 1] * module.encoding.weights[i, j]
    torch.testing.assert_close(module.condition(x).encode(y), torch.sigmoid(total))


@pytest.mark.parametrize("name", PATHS)
def test_each_bias_can_be_switched_off(name):
    every = dict(GatedNetwork(3, 4, 2).named_parameters())
    fewer = dict(GatedNetwork(3, 4, 2, biases=[path for path in PATHS if path != name]).named_parameters())
    (gone,) = every.keys() - fewer.keys()
    assert gone.endswith(f".{name}")


# what is learned


def shifted(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    left = rng.integers(2, size=(n, 1)).astype(bool)
    return X, np.where(left, np.roll(X, -1, axis=1), np.roll(X, 1, axis=1)), left


def test_a_gated_autoencoder_transfers_a_shift_to_new_rows():
    X, Y, _ = shifted(300, 0)
    X_new, Y_new, left = shifted(200, 1)
    model = GatedAutoencoder(2, weight_decay=1e-3, max_iter=150, random_state=0).fit(X, Y)
    others = np.random.default_rng(2).normal(size=(200, 6))
    expected = np.where(left, np.roll(others, -1, axis=1), np.roll(others, 1, axis=1))
    assert np.corrcoef(model.transfer(X_new, Y_new, others).ravel(), expected.ravel())[0, 1] > 0.95
    one = model.apply(others, model.infer(X_new[:1], Y_new[:1]))
    moved = np.roll(others, -1 if left[0] else 1, axis=1)
    assert np.corrcoef(one.ravel(), moved.ravel())[0, 1] > 0.9


def test_a_first_guess_decides_between_two_outputs_of_one_input():
    """Left or right shifts: the mean is neither, a rough guess says which, its projection is clean."""
    X, Y, _ = shifted(300, 0)
    X_new, Y_new, _ = shifted(200, 1)
    rough = Y + np.random.default_rng(3).normal(scale=0.7, size=Y.shape)
    model = GatedAutoencoder(2, weight_decay=1e-3, max_iter=150, random_state=0).fit(X, Y, guess=rough)
    guess = Y_new + np.random.default_rng(4).normal(scale=0.7, size=Y_new.shape)
    cleaned = ((model.predict(X_new, guess) - Y_new) ** 2).mean()
    assert cleaned < 0.25 * ((guess - Y_new) ** 2).mean()
    average = BiasedAutoencoder(None, predictor=(), random_state=0).fit(X, Y).predict(X_new)
    assert cleaned < 0.4 * ((average - Y_new) ** 2).mean()


def test_outputs_without_inputs_help_where_pairs_are_few_and_noisy():
    rng = np.random.default_rng(5)
    basis = rng.normal(size=(2, 30))

    def drawn(n, noise):
        X = rng.normal(size=(n, 2))
        return X, X @ basis + noise * rng.normal(size=(n, 30))

    (X, Y), (X_new, Y_new) = drawn(12, 2.0), drawn(300, 0.0)
    more = drawn(500, 2.0)[1]
    settings = {"predictor": (), "weight_decay": 1e-2, "random_state": 0}
    plain = BiasedAutoencoder(None, **settings).fit(X, Y)
    told = BiasedAutoencoder(2, reconstruction=1.0, **settings).fit(X, Y, outputs=more)
    assert ((told.predict(X_new) - Y_new) ** 2).mean() < 0.5 * ((plain.predict(X_new) - Y_new) ** 2).mean()


@pytest.mark.parametrize("settings", [{}, {"n_components": None, "reconstruction": 1.0}], ids=str)
def test_outputs_that_nothing_would_learn_from_are_refused(settings):
    X, Y = pairs()
    with pytest.raises(
        ValueError,
        match=r"^BiasedAutoencoder: outputs=9 rows have no effect without an auto-encoder .*\. Set reconstruction=",
    ):
        BiasedAutoencoder(**settings).fit(X, Y, outputs=Y[:9])


def test_cross_entropy_gives_probabilities():
    X, Y = pairs()
    Y = (Y > 0).astype(float)
    for model in (BiasedAutoencoder(3, loss="cross-entropy", **quick), PAIRED["gated"](loss="cross-entropy")):
        found = model.fit(X, Y).predict(X)
        assert ((found >= 0) & (found <= 1)).all()
        assert ((found > 0.5) == (Y > 0.5)).mean() > 0.9
    rows = Autoencoder(3, loss="cross-entropy", max_iter=100, random_state=0).fit(Y)
    assert ((rows.denoise(Y) > 0.5) == (Y > 0.5)).mean() > 0.9


def one_of_three(n, seed):
    """Rows of two groups of three levels, and what they depend on."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.hstack([np.eye(3)[X.argmax(axis=1)], np.eye(3)[X.argmin(axis=1)]])


def test_multinomial_gives_the_probabilities_of_each_group():
    X, Y = one_of_three(200, 0)
    X_new, Y_new = one_of_three(100, 1)
    options = {"loss": "multinomial", "levels": 3, "max_iter": 60, "random_state": 0}
    for model in (BiasedAutoencoder(4, **options), GatedAutoencoder(2, predictor=(6,), weight_decay=1e-3, **options)):
        found = model.fit(X, Y).predict(X_new).reshape(100, 2, 3)
        np.testing.assert_allclose(found.sum(axis=2), 1.0)
        assert (found.argmax(axis=2) == Y_new.reshape(100, 2, 3).argmax(axis=2)).mean() > 0.9
    rows = Autoencoder(4, **options).fit(Y)
    assert (rows.denoise(Y_new).reshape(100, 2, 3).argmax(2) == Y_new.reshape(100, 2, 3).argmax(2)).all()
    streamed = Autoencoder(4, **options).fit_batches(lambda: Y)
    assert streamed.history_[-1]["objective"] < streamed.history_[0]["objective"]


def test_rows_that_are_not_one_hot_are_said():
    _, Y = one_of_three(20, 0)
    for options, rows, message in (
        ({"levels": 4}, Y, "levels=4 does not divide the 6 columns of X"),
        ({"levels": 1}, Y, "levels=1 is not an integer in range"),
        ({}, Y, "X=rows does not add up to 1 in each group of 6 columns"),
        ({"levels": 3}, 2 * Y, "X=values from 0 to 2 does not suit loss='multinomial'"),
    ):
        with pytest.raises(ValueError, match=message):
            Autoencoder(2, loss="multinomial", **options).fit(rows)
    with pytest.raises(ValueError, match=r"Manifield: model\.loss=multinomial is not one whose groups patches can"):
        Manifield(Autoencoder(2, loss="multinomial"), 2).fit([Y])


# contracts of models that take pairs


@paired
def test_predictions_are_finite_repeat_and_improve_on_the_mean(make):
    X, Y = pairs()
    first, second = make().fit(X, Y), make().fit(X, Y)
    assert first.predict(X).shape == Y.shape
    np.testing.assert_array_equal(first.predict(X), second.predict(X))
    assert first.score(X, Y) > (0.0 if first.optimizer == "adam" else 0.3)


@paired
def test_one_by_one_equals_batch_and_types_are_kept(make):
    X, Y = pairs()
    model = make().fit(X, Y)
    alone = np.concatenate([model.predict(X[i : i + 1]) for i in range(20)])
    np.testing.assert_allclose(alone, model.predict(X[:20]), rtol=1e-12, atol=1e-12)
    assert model.predict(X.astype(np.float32)).dtype == np.float32


@paired
def test_save_load_pickle_and_clone(make, tmp_path):
    X, Y = pairs()
    model = make().fit(X, Y)
    sidelight.save(model, tmp_path / "model")
    for copy in (sidelight.load(tmp_path / "model"), pickle.loads(pickle.dumps(model)), clone(model).fit(X, Y)):
        np.testing.assert_array_equal(copy.predict(X), model.predict(X))


@paired
@pytest.mark.parametrize("factor", [1e150, 1e-150])
def test_units_of_the_data_do_not_matter(make, factor):
    X, Y = pairs()
    plain, scaled = make().fit(X, Y).predict(X), make().fit(X * factor, Y * factor).predict(X * factor)
    np.testing.assert_allclose(scaled / factor, plain, rtol=1e-3, atol=1e-3)


@paired
def test_not_fitted_is_said(make):
    with pytest.raises(NotFittedError):
        make().predict(pairs()[0])


@paired
def test_ctrl_c_keeps_a_whole_model_or_the_old_one(make):
    X, Y = pairs()

    def interrupt(state):
        raise KeyboardInterrupt

    model = make(callback=interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert np.isfinite(model.predict(X)).all()


def test_a_callback_stops_training():
    X, Y = pairs()
    assert BiasedAutoencoder(callback=lambda state: state.iteration == 5, **quick).fit(X, Y).n_iter_ == 5


def test_held_out_rows_end_training_and_the_best_is_kept():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 8)), rng.normal(size=(60, 3))
    model = BiasedAutoencoder(3, validation_fraction=0.3, patience=3, random_state=0).fit(X, Y)
    assert model.n_iter_ < 300
    assert model.history_[-1]["terms"]["held_out"] == min(record["terms"]["held_out"] for record in model.history_[10:])


def test_running_out_of_iterations_is_warned_of():
    X, Y = pairs()
    with pytest.warns(ConvergenceWarning, match=r"max_iter=3 did not let training converge\. Raise max_iter"):
        BiasedAutoencoder(max_iter=3).fit(X, Y)


def test_all_rows_at_once_where_they_are_few_and_batches_where_not(monkeypatch):
    X, Y = pairs()
    few = BiasedAutoencoder(**quick).fit(X, Y)
    assert few.history_[0]["iteration"] == 1
    monkeypatch.setattr("sidelight.gated._settings._SMALL", 10)
    many = BiasedAutoencoder(**quick).fit(X, Y)
    np.testing.assert_array_equal(many.predict(X), BiasedAutoencoder(optimizer="adam", **quick).fit(X, Y).predict(X))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 0}, r"n_components=0 is not an integer in range"),
        ({"activation": "step"}, r"activation=step is not an option"),
        ({"loss": "hinge"}, r"loss=hinge is not an option"),
        ({"optimizer": "newton"}, r"optimizer=newton is not an option"),
        ({"predictor": (0,)}, r"predictor=0 is not an integer in range"),
        ({"reconstruction": -1.0}, r"reconstruction=-1\.0 is not a number in range"),
    ],
)
def test_a_bad_parameter_is_named_with_a_way_out(options, message):
    with pytest.raises(ValueError, match=message):
        BiasedAutoencoder(**options).fit(*pairs())


def test_bad_rows_are_said():
    X, Y = pairs()
    model = GatedAutoencoder(3, **quick).fit(X, Y)
    for call, message in (
        (lambda: model.predict(X), r"guess=None is needed: inputs have 4 columns, outputs 5\. Give a first guess"),
        (lambda: model.predict(X[:, :2], Y), "X has 2 features, but GatedAutoencoder is expecting 4 features"),
        (lambda: model.predict(X, Y[:3]), "guess=array of 3 rows does not match the 80 rows"),
        (lambda: model.apply(X, np.zeros((2, 3))), "mapping=2 rows does not match the 80 rows of X"),
        (lambda: GatedAutoencoder(3, biases=("xx",)).fit(X, Y), "biases=xx is not an option"),
        (lambda: BiasedAutoencoder(loss="cross-entropy").fit(X, Y), "does not suit loss='cross-entropy'"),
        (lambda: BiasedAutoencoder().fit(X, Y[:5]), "y=array of 5 rows does not match the 80 rows of X"),
        (lambda: BiasedAutoencoder().fit(X, np.where(Y > 0, np.nan, Y)), "NaN"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
