"""The manifield: against a loop over sites, any length and size, what it learns, and what it refuses."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import sidelight
from sidelight.gated import Autoencoder, BiasedAutoencoder, GatedAutoencoder, Manifield

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
quick = {"max_iter": 15, "random_state": 0}


def sequences(lengths=(40, 25, 40), seed=0):
    rng = np.random.default_rng(seed)
    clean = [np.sin(np.arange(n) / 4 + rng.uniform(0, 6)) for n in lengths]
    return [y + 0.3 * rng.normal(size=len(y)) for y in clean], clean


def pictures(sizes=((12, 15), (9, 9)), seed=0):
    rng = np.random.default_rng(seed)
    clean = [np.sin(np.add.outer(np.arange(h), 2 * np.arange(w)) / 5) for h, w in sizes]
    return [y + 0.3 * rng.normal(size=y.shape) for y in clean], clean


MODELS = {
    "biased": lambda **o: BiasedAutoencoder(3, **{**quick, **o}),
    "biased-adam": lambda **o: BiasedAutoencoder(3, optimizer="adam", batch_size=8, **{**quick, **o}),
    "gated": lambda **o: GatedAutoencoder(3, **{**quick, **o}),
    "gated-predictor": lambda **o: GatedAutoencoder(3, n_factors=5, predictor=(), **{**quick, **o}),
}
every = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS.keys())


@every
def test_a_prediction_is_the_average_of_patches_at_every_site(make):
    X, Y = sequences()
    field = Manifield(make(), 5).fit(X, Y)
    x, module = X[1], field._module(np.float64)
    inside = (x - field.input_frame_.centre) / field.input_frame_.scale
    guess = (x - field.output_frame_.centre) / field.output_frame_.scale
    total, count = np.zeros(25), np.zeros(25)
    for s in range(21):
        rows = [torch.as_tensor(part[None, s : s + 5]) for part in (inside, guess)]
        given = rows[1] if isinstance(field.model, GatedAutoencoder) and field.model.predictor is None else None
        total[s : s + 5] += field.architecture_.point(module, rows[0], given).numpy()[0]
        count[s : s + 5] += 1
    expected = total / count * field.output_frame_.scale + field.output_frame_.centre
    np.testing.assert_allclose(field.predict([x])[0], expected, rtol=1e-10)


@every
@pytest.mark.parametrize("structure", ["sequence", "grid"])
def test_any_size_goes_in_and_the_same_size_comes_out(make, structure):
    X, Y = sequences() if structure == "sequence" else pictures()
    field = Manifield(make(), 5, structure).fit(X, Y)
    new = [np.zeros(n) for n in (5, 6, 300)] if structure == "sequence" else [np.zeros(s) for s in ((5, 5), (6, 30))]
    assert [part.shape for part in field.predict(new)] == [part.shape for part in new]


def test_an_array_of_equal_samples_gives_an_array_and_channels_are_kept():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 20, 2))
    field = Manifield(BiasedAutoencoder(3, **quick), 5).fit(X, X[..., :1] + X[..., 1:])
    assert field.predict(X).shape == (6, 20, 1)
    assert (field.n_channels_in_, field.n_channels_out_) == (2, 1)
    bare = Manifield(BiasedAutoencoder(3, **quick), 5).fit(X[..., 0], X[..., 1])
    assert bare.predict(X[..., 0]).shape == (6, 20)


def test_large_pictures_are_predicted_in_bands_to_the_same_numbers(monkeypatch):
    X, Y = pictures()
    field = Manifield(BiasedAutoencoder(3, **quick), (3, 4), "grid").fit(X, Y)
    whole = field.predict(X)
    monkeypatch.setattr("sidelight.gated.manifield._TOGETHER", 20)
    for part, expected in zip(field.predict(X), whole, strict=True):
        np.testing.assert_allclose(part, expected, rtol=1e-12, atol=1e-12)


def test_noise_is_taken_off_a_new_sequence():
    (x, x_new), (y, y_new) = sequences((250, 400), seed=1)
    model = BiasedAutoencoder(2, weight_decay=1e-3, random_state=0, max_iter=150)
    field = Manifield(model, 9).fit([x], [y])
    wrong = ((field.predict([x_new])[0] - y_new) ** 2).mean()
    assert wrong < 0.35 * ((x_new - y_new) ** 2).mean()
    assert field.score([x_new], [y_new]) > 0.9


@pytest.mark.thorough
def test_patches_that_answer_for_themselves_generalise_better_than_averages_only():
    rng = np.random.default_rng(3)
    y = 1.5 * np.sin(2 * np.pi * np.arange(1000) / 20 + 0.3)
    x = y * rng.normal(1, np.sqrt(0.1), 1000)
    wrong = {}
    for alone in (0.0, 0.5):
        model = BiasedAutoencoder(2, weight_decay=1e-4, max_iter=150, random_state=0)
        field = Manifield(model, 7, alone=alone).fit([x[:250]], [y[:250]])
        wrong[alone] = ((field.predict([x[500:]])[0] - y[500:]) ** 2).sum()
    assert wrong[0.5] < 0.7 * wrong[0.0]


def test_residual_with_nothing_learned_is_the_input():
    X, _ = pictures()
    field = Manifield(BiasedAutoencoder(2, random_state=0), 3, "grid", residual=True).fit(X, X)
    for part, expected in zip(field.predict(X), X, strict=True):
        assert ((part - expected) ** 2).mean() < 1e-6


def test_an_unconditional_field_denoises_and_codes_every_place():
    clean = [np.sin(np.arange(n) / 4) for n in (200, 150)]
    field = Manifield(Autoencoder(2, max_iter=200, random_state=0), 9).fit(clean)
    noisy = clean[0] + 0.3 * np.random.default_rng(0).normal(size=200)
    (found,) = field.denoise([noisy])
    assert ((found - clean[0]) ** 2).mean() < 0.3 * ((noisy - clean[0]) ** 2).mean()
    assert [codes.shape for codes in field.transform(clean)] == [(192, 2), (142, 2)]
    assert not hasattr(field, "predict")
    grid = Manifield(Autoencoder(2, **quick), 4, "grid").fit(pictures()[0])
    assert [codes.shape for codes in grid.transform(pictures()[0])] == [(9, 12, 2), (6, 6, 2)]
    assert not hasattr(Manifield(), "denoise")


# what was done, and done again


def gated_field(structure="sequence", patch_size=5, **options):
    return Manifield(GatedAutoencoder(2, **{**quick, **options}), patch_size, structure)


def test_a_sample_as_large_as_a_patch_is_a_row_of_the_gated_autoencoder():
    X, Y = sequences()
    field = gated_field().fit(X, Y)
    module = field._module(np.float64)
    frames = (field.input_frame_, field.output_frame_)
    x, y = (torch.as_tensor(frame.inside(part[0][:5, None]).T) for frame, part in zip(frames, (X, Y), strict=True))
    codes = module.condition(x).encode(y)
    np.testing.assert_allclose(field.infer([X[0][:5]], [Y[0][:5]])[0], codes.numpy(), rtol=1e-12)
    expected = field.output_frame_.outside(module.condition(x).decode(codes).numpy()[0, :, None])[:, 0]
    np.testing.assert_allclose(field.apply([X[0][:5]], [codes.numpy()])[0], expected, rtol=1e-12)


@pytest.mark.parametrize("structure", ["sequence", "grid"])
def test_mapping_units_have_their_places_and_bands_do_not_change_them(structure, monkeypatch):
    X, Y = sequences() if structure == "sequence" else pictures()
    field = gated_field(structure, 4).fit(X, Y)
    codes, moved = field.infer(X, Y), field.transfer(X, Y, X)
    places = [tuple(side - 3 for side in part.shape) for part in X]
    assert [part.shape for part in codes] == [(*shape, 2) for shape in places]
    assert [part.shape for part in moved] == [part.shape for part in X]
    everywhere = [np.broadcast_to(np.array([0.2, 0.8]), (*shape, 2)) for shape in places]
    for one, many in zip(field.apply(X, np.array([0.2, 0.8])), field.apply(X, everywhere), strict=True):
        np.testing.assert_array_equal(one, many)
    monkeypatch.setattr("sidelight.gated.manifield._TOGETHER", 20)
    for one, many in zip((*field.infer(X, Y), *field.transfer(X, Y, X)), (*codes, *moved), strict=True):
        np.testing.assert_allclose(one, many, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("residual", [False, True])
def test_what_was_done_to_a_sequence_is_done_to_another_of_any_length(residual):
    rng = np.random.default_rng(0)
    X = [rng.normal(size=120) for _ in range(4)]
    Y = [np.roll(x, 1 if number % 2 else -1) for number, x in enumerate(X)]
    model = GatedAutoencoder(2, weight_decay=1e-3, max_iter=100, random_state=0)
    field = Manifield(model, 5, residual=residual).fit(X, Y)
    new = rng.normal(size=200)
    for number, step in ((0, -1), (1, 1)):
        (found,) = field.transfer(X[number : number + 1], Y[number : number + 1], [new])
        assert np.corrcoef(found[5:-5], np.roll(new, step)[5:-5])[0, 1] > 0.8


def test_changes_are_for_gated_patch_models_and_must_fit():
    X, Y = sequences()
    assert not hasattr(Manifield(BiasedAutoencoder()), "infer")
    assert not hasattr(Manifield(Autoencoder()), "transfer")
    with pytest.raises(NotFittedError):
        gated_field().infer(X, Y)
    field = gated_field().fit(X, Y)
    for call, message in (
        (lambda: field.apply(X, [np.zeros((3, 2))]), "does not match the places of X"),
        (lambda: field.transfer(X[:2], Y[:2], X), "X=2 pairs does not match the 3 samples of X_new"),
        (lambda: field.infer(X, Y[:2]), "does not have the sizes of X"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


@every
def test_save_load_pickle_and_clone(make, tmp_path):
    X, Y = sequences()
    field = Manifield(make(), 5).fit(X, Y)
    sidelight.save(field, tmp_path / "model")
    for copy in (sidelight.load(tmp_path / "model"), pickle.loads(pickle.dumps(field)), clone(field).fit(X, Y)):
        for part, expected in zip(copy.predict(X), field.predict(X), strict=True):
            np.testing.assert_array_equal(part, expected)


def test_what_the_patch_model_is_told_later_does_not_change_a_fitted_field():
    X, Y = sequences()
    field = Manifield(BiasedAutoencoder(3, **quick), 5).fit(X, Y)
    before = field.predict(X)[0]
    field.model.set_params(n_components=1)
    np.testing.assert_array_equal(field.predict(X)[0], before)


def test_float32_in_float32_out_and_units_do_not_matter():
    X, Y = sequences()
    field = Manifield(BiasedAutoencoder(3, **quick), 5).fit(X, Y)
    assert field.predict([X[0].astype(np.float32)])[0].dtype == np.float32
    scaled = Manifield(BiasedAutoencoder(3, **quick), 5).fit([1e6 * x for x in X], [1e-6 * y for y in Y])
    np.testing.assert_allclose(scaled.predict([1e6 * X[0]])[0] * 1e6, field.predict(X)[0], rtol=1e-3, atol=1e-3)


@pytest.mark.thorough
def test_the_end_of_samples_is_held_out():
    X, Y = sequences((200,))
    model = BiasedAutoencoder(3, validation_fraction=0.3, random_state=0, max_iter=300)
    field = Manifield(model, 7).fit(X, Y)
    assert np.isfinite(field.history_[-1]["terms"]["held_out"])
    batches = Manifield(model.set_params(optimizer="adam", max_iter=200), 7).fit(X, Y)
    assert np.isfinite(batches.history_[-1]["terms"]["held_out"])


@pytest.mark.thorough
def test_a_cut_off_run_goes_on_from_its_checkpoint_to_the_bit(tmp_path):
    X, Y = pictures()

    def field(updates, path):
        options = {"optimizer": "adam", "batch_size": 4, "random_state": 0, "max_iter": updates, "checkpoint": path}
        return Manifield(BiasedAutoencoder(3, **options), 3, "grid").fit(X, Y)

    field(100, tmp_path / "run")
    np.testing.assert_array_equal(field(200, tmp_path / "run").predict(X)[0], field(200, None).predict(X)[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"patch_size": 0}, "patch_size=0 is not an integer"),
        ({"structure": "tree"}, "structure=tree is not an option"),
        ({"alone": 2.0}, r"alone=2\.0 is not a number in range"),
        ({"crop": 3}, "crop=3 is not an integer in range"),
        ({"patch_size": 30}, "sample of 25 sites is smaller than patch_size=30"),
        ({"model": Autoencoder(**quick), "residual": True}, "residual=True needs a conditional model"),
        ({"model": BiasedAutoencoder(loss="cross-entropy")}, "does not suit loss='cross-entropy'"),
    ],
)
def test_a_bad_parameter_is_named_with_a_way_out(options, message):
    with pytest.raises(ValueError, match=message):
        Manifield(**{"model": BiasedAutoencoder(**quick), **options}).fit(*sequences())


def test_bad_samples_are_said():
    X, Y = sequences()
    field = Manifield(BiasedAutoencoder(3, **quick), 5)
    with pytest.raises(NotFittedError):
        field.predict(X)
    for call, message in (
        (lambda: field.fit(X[0], Y[0]), "is not one of a list of sequence samples"),
        (lambda: field.fit(X, Y[:2]), "does not have the sizes of X"),
        (lambda: field.fit([], []), "is no list of samples"),
        (lambda: field.fit(X, None), "is no list of samples"),
        (lambda: field.fit([np.where(x > 0, np.nan, x) for x in X], Y), "not finite numbers"),
        (lambda: field.fit(X, Y).predict([np.zeros((30, 2))]), "2 channels does not match the 1 channels"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(TypeError, match="model=int is no patch model"):
        Manifield(3).fit(X, Y)
