"""Data on the fly, for every model alike: batches from iterables and functions, one call at a time, held-out ones."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import sidelight
from sidelight.gated import (
    Autoencoder,
    BiasedAutoencoder,
    GatedAutoencoder,
    GatedBoltzmannMachine,
    GatedField,
    Manifield,
    RestrictedBoltzmannMachine,
)


def rows(seed=0, n=30):
    return np.random.default_rng(seed).normal(size=(n, 4)) @ np.diag([3.0, 2.0, 0.3, 0.1])


def pairs(seed=0, n=30):
    X = rows(seed, n)
    return X, np.roll(X, 1, axis=1)[:, :3]


def guesses(seed=0, n=30):
    X, Y = pairs(seed, n)
    return X, Y, Y + 0.1


def sequences(seed=0):
    rng = np.random.default_rng(seed)
    Y = [np.sin(np.arange(n) / 3 + rng.uniform(0, 6)) for n in (20, 25)]
    return [y + 0.2 * rng.normal(size=len(y)) for y in Y], Y


def clean(seed=0):
    return sequences(seed)[1]


def pictures(seed=0):
    X = np.random.default_rng(seed).normal(size=(2, 10, 11))
    return X, np.roll(X, 1, axis=2)


OPTIONS = {"max_iter": 6, "batch_size": 10, "random_state": 0}
MODELS = {
    "rbm": (lambda **o: RestrictedBoltzmannMachine(3, **{**OPTIONS, **o}), rows),
    "rbm-persistent": (lambda **o: RestrictedBoltzmannMachine(3, persistent=True, **{**OPTIONS, **o}), rows),
    "gbm": (lambda **o: GatedBoltzmannMachine(3, **{**OPTIONS, **o}), pairs),
    "autoencoder": (lambda **o: Autoencoder(2, **{**OPTIONS, **o}), rows),
    "biased": (lambda **o: BiasedAutoencoder(2, reconstruction=0.5, **{**OPTIONS, **o}), pairs),
    "gated": (lambda **o: GatedAutoencoder(2, predictor=(), **{**OPTIONS, **o}), pairs),
    "gated-guesses": (lambda **o: GatedAutoencoder(2, **{**OPTIONS, **o}), guesses),
    "manifield": (lambda **o: Manifield(BiasedAutoencoder(2, **{**OPTIONS, **o}), 5), sequences),
    "manifield-unconditional": (
        lambda **o: Manifield(Autoencoder(2, **{**OPTIONS, **o}), 5),
        lambda s=0: sequences(s)[1],
    ),
    "field": (lambda **o: GatedField(GatedBoltzmannMachine(3, **{**OPTIONS, **o}), 3), pictures),
}
NETWORKS = ("autoencoder", "biased", "gated", "gated-guesses", "manifield", "manifield-unconditional")
every = pytest.mark.parametrize(("make", "batch"), MODELS.values(), ids=MODELS.keys())


def same(first, second):
    assert first.parameters_.keys() == second.parameters_.keys()
    return all(np.array_equal(first.parameters_[name], second.parameters_[name]) for name in first.parameters_)


def gone_on(model, batch):
    """``partial_fit`` with what a batch holds."""
    if not isinstance(batch, tuple):
        return model.partial_fit(batch)
    X, Y, *guess = batch
    return model.partial_fit(X, Y, **({"guess": guess[0]} if guess else {}))


@every
def test_lists_generators_and_functions_give_the_same_model(make, batch):
    made = [batch(seed) for seed in range(6)]
    again = iter(made)
    models = [make().fit_batches(source) for source in (made, (one for one in made), lambda: next(again))]
    assert same(models[0], models[1])
    assert same(models[0], models[2])
    assert models[0].n_iter_ == 6
    assert not same(models[0], make().fit_batches(made[::-1]))


@every
def test_training_ends_with_the_batches_and_says_so(make, batch):
    made = iter([batch(0), batch(1)])
    with pytest.warns(ConvergenceWarning, match=r"source=2 batches ended before max_iter=6\. Yield more, or set max_i"):
        assert make().fit_batches(lambda: next(made)).n_iter_ == 2


@pytest.mark.parametrize("name", NETWORKS)
def test_a_stream_is_taken_up_from_its_checkpoint_to_the_bit(name, tmp_path):
    make, batch = MODELS[name]
    made = [batch(seed) for seed in range(6)]
    make(max_iter=3, checkpoint=tmp_path / "run").fit_batches(made)
    resumed = make(checkpoint=tmp_path / "run").fit_batches(made)
    assert resumed.n_iter_ == 6
    assert same(resumed, make().fit_batches(made))


@every
def test_held_out_batches_are_looked_at(make, batch):
    model = make()
    with pytest.warns(ConvergenceWarning, match="max_iter=6 ended training while held-out rows were still improving"):
        model.fit_batches(lambda: batch(0), held_out=batch(1))
    assert np.isfinite(model.history_[-1]["terms"]["held_out"])
    assert same(model, make().fit_batches(lambda: batch(0)))  # and never trained on


@every
def test_partial_fit_goes_on_and_is_decided_by_the_seed(make, batch):
    model, other = make(), make()
    for seed in range(3):
        gone_on(model, batch(seed))
        gone_on(other, batch(seed))
    assert same(model, other)
    updates = 1 if isinstance(model, Manifield | GatedField) else 3
    assert [record["iteration"] for record in model.history_] == [updates, 2 * updates, 3 * updates]
    copied = pickle.loads(pickle.dumps(model))
    gone_on(model, batch(3))
    gone_on(copied, batch(3))
    assert not same(model, copied)  # the optimiser lives in memory only


@every
def test_what_cannot_be_a_source_gets_a_sentence(make, batch):
    model = make()
    for source, message in ((3, "is neither an iterable of batches nor a callable"), ([], "has no batches")):
        with pytest.raises((TypeError, ValueError), match=message):
            model.fit_batches(source)
    assert not hasattr(model, "parameters_")


def each(change):
    return lambda batch: tuple(change(part) for part in batch) if isinstance(batch, tuple) else change(batch)


@pytest.mark.parametrize("name", [name for name in MODELS if "field" not in name])
@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (each(lambda part: part[:, 1:]), r"source=batch of .* columns does not have the columns of the first batch"),
        (
            each(lambda part: np.where(part == part.max(), np.nan, part)),
            r"source=batch contains NaN or infinity\. Leave these rows out",
        ),
        (each(lambda part: part.astype(str)), r"source=batch of <U.* is not made of numbers"),
        (each(lambda part: part[:0]), r"source=batch of shapes .* has no rows"),
        (lambda batch: (1, 2, 3, 4), r"source=batch of 4 does not have the . arrays of a batch"),
    ],
)
def test_a_bad_batch_on_the_way_gets_a_sentence_and_leaves_the_old_model(name, broken, message):
    make, batch = MODELS[name]
    model = make(max_iter=1).fit_batches([batch(0)]).set_params(max_iter=6)
    before = model.parameters_
    with pytest.raises(ValueError, match=message):
        model.fit_batches([batch(1), broken(batch(2))])
    assert model.parameters_ is before


@pytest.mark.parametrize(
    ("name", "second", "message"),
    [
        ("manifield", ([np.zeros((20, 2))], [np.zeros(20)]), "X=2 channels does not match the 1 channels of the fit"),
        ("manifield", ([np.full(20, np.nan)], [np.zeros(20)]), "X=sample of float64 has values that are not finite"),
        ("manifield", ([np.zeros(3)], [np.zeros(3)]), "X=sample of 3 sites is smaller than patch_size=5"),
        ("manifield", [np.zeros(20)], r"source=list is not a pair of lists of samples\. Yield \(X, y\)"),
        ("manifield-unconditional", [], "X=list is no list of samples"),
        ("field", (np.zeros((2, 9, 9)), np.zeros((2, 9, 9, 2))), "y=2 channels does not match the 1 channels"),
    ],
)
def test_bad_samples_on_the_way_get_a_sentence(name, second, message):
    make, batch = MODELS[name]
    with pytest.raises(ValueError, match=message):
        make().fit_batches([batch(0), second])


def test_values_on_the_way_must_suit_the_units():
    bits, numbers = (rows() > 0).astype(float), rows()
    for model, said in (
        (RestrictedBoltzmannMachine(2, visible="binary", **OPTIONS), "visible='binary'"),
        (Autoencoder(2, loss="cross-entropy", **OPTIONS), "loss='cross-entropy'"),
    ):
        with pytest.raises(ValueError, match=f"does not suit {said}"):
            model.fit_batches([bits, numbers])


@pytest.mark.parametrize("name", NETWORKS)
def test_all_rows_at_once_is_refused_with_a_way_out(name):
    make, batch = MODELS[name]
    message = r'optimizer=lbfgs needs all rows at once, and this call trains batch by batch\. Use "adam"'
    with pytest.raises(ValueError, match=message):
        make(optimizer="lbfgs").fit_batches([batch()])
    with pytest.raises(ValueError, match=message):
        gone_on(make(optimizer="lbfgs"), batch())


def test_held_out_rows_that_do_not_fit_are_said():
    with pytest.raises(ValueError, match=r"held_out=batch of \(3,\) columns does not have the columns of the first"):
        Autoencoder(2, **OPTIONS).fit_batches([rows()], held_out=rows()[:, 1:])
    with pytest.raises(ValueError, match="held_out=ndarray is not a pair of lists of samples"):
        MODELS["field"][0]().fit_batches([pictures()], held_out=rows())


def test_held_out_rows_end_a_stream():
    rng = np.random.default_rng(0)
    seen, held = rng.normal(size=(20, 8)), rng.normal(size=(20, 8))
    model = Autoencoder(3, learning_rate=0.02, patience=1, max_iter=5000, random_state=0)
    model.fit_batches(lambda: seen, held_out=held)
    assert model.n_iter_ < 5000
    far = (model.denoise(held) - held) / model.frame_.scale
    assert (far**2).mean() == pytest.approx(model.history_[-1]["terms"]["held_out"], rel=1e-5)


@pytest.mark.thorough
def test_a_stream_learns_what_rows_at_once_do():
    rng = np.random.default_rng(0)
    model = Autoencoder(2, learning_rate=0.03, max_iter=200, random_state=0)
    model.fit_batches(lambda: rows(int(rng.integers(1 << 30)), 50))
    assert model.score(rows(1000, 300)) > 0.98
    field = Manifield(BiasedAutoencoder(3, learning_rate=0.02, batch_size=20, max_iter=200, random_state=0), 7)
    field.fit_batches(lambda: sequences(int(rng.integers(1 << 30))))
    X, Y = sequences(1 << 31)
    wrong = [np.concatenate(part) - np.concatenate(Y) for part in (field.predict(X), X)]
    assert (wrong[0] ** 2).mean() < 0.6 * (wrong[1] ** 2).mean()


def test_a_streamed_model_is_saved_and_goes_on(tmp_path):
    for name in ("autoencoder", "manifield"):
        make, batch = MODELS[name]
        model = gone_on(make(), batch())
        sidelight.save(model, tmp_path / name)
        loaded = sidelight.load(tmp_path / name)
        assert same(model, loaded)
        assert gone_on(loaded, batch()).n_iter_ == 2 * model.n_iter_
