"""The loop: seeds, early stopping, where batches come from, several processes, interruptions."""

from __future__ import annotations

import itertools
import pickle
import socket
import subprocess
import sys

import numpy as np
import process
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import sidelight
from sidelight.base.random import random_seed
from sidelight.base.result import Status
from sidelight.gated import GatedBoltzmannMachine
from sidelight.gated._batches import array_batches, as_batches, first_of, share, tensor
from sidelight.gated._training import Schedule, train

PLACE = (torch.device("cpu"), torch.float32)


def pairs(n=300, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(rng.integers(2, size=(n, 1)), np.roll(X, 1, axis=1), X)


def gated(**options):
    return GatedBoltzmannMachine(4, **{"max_iter": 60, "batch_size": 50, "random_state": 0, **options})


def same(first, second):
    assert first.parameters_.keys() == second.parameters_.keys()
    return all(np.array_equal(first.parameters_[name], second.parameters_[name]) for name in first.parameters_)


# seeds


@pytest.mark.parametrize(
    "options", [{}, {"negatives": "sampled"}, {"persistent": True}, {"visible": "gaussian-learned"}]
)
def test_a_seed_decides_everything(options):
    X, Y = pairs()
    model = gated(**options).fit(X, Y)
    assert same(model, gated(**options).fit(X, Y))
    assert not same(model, gated(**{**options, "random_state": 1}).fit(X, Y))


def test_training_leaves_torchs_own_random_numbers_and_threads_alone():
    X, Y = pairs()
    torch.set_num_threads(2)
    state = torch.random.get_rng_state()
    gated(negatives="sampled").fit(X, Y).infer(X, Y)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert torch.get_num_threads() == 2


def test_the_same_bytes_with_one_and_two_threads():
    """Bytes may be compared: a fit limits torch to one thread."""
    X, Y = pairs(600, 40)
    results = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        model = gated(max_iter=20, batch_size=200).fit(X, Y)
        parts = [*model.parameters_.values(), model.infer(X, Y), model.distance(X[:50], Y[:60])]
        results.append([part.tobytes() for part in parts])
    assert results[0] == results[1]


# early stopping


def noisy_rows(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 8))
    return X, X + 2 * rng.normal(size=X.shape)


def test_early_stopping_ends_and_keeps_the_best_parameters():
    X, Y = noisy_rows()
    model = gated(max_iter=20_000, validation_fraction=0.4, patience=2).fit(X, Y)
    assert model.n_iter_ < 20_000
    assert model.n_iter_ % 100 == 0
    best = model.history_[-1]["terms"]["held_out"]
    held = np.random.default_rng(random_seed(0)).permutation(60)[:24]
    far = (model.reconstruct(X[held], Y[held]) - Y[held]) / model.output_frame_.scale
    np.testing.assert_allclose((far**2).sum(axis=1).mean(), best, rtol=1e-5)


def test_running_out_of_updates_while_held_out_rows_improve_is_warned_of():
    X, Y = pairs()
    for updates in (40, 100):  # the last look comes between two others, or with one
        with pytest.warns(ConvergenceWarning, match=f"max_iter={updates} ended training while held-out rows"):
            gated(max_iter=updates, validation_fraction=0.2).fit(X, Y)


def test_held_out_rows_are_never_trained_on():
    X, Y = pairs(100)
    held = np.random.default_rng(random_seed(0)).permutation(100)[:20]
    changed = Y.copy()
    changed[held] = Y[held[::-1]]  # the frame stays the same
    options = {"validation_fraction": 0.2, "patience": 0, "max_iter": 30}
    first, second = gated(**options), gated(**options)
    first.fit(X, Y)
    second.fit(X, changed)
    assert first.history_[-1]["objective"] == second.history_[-1]["objective"]


# batches


def test_arrays_are_walked_in_a_new_order_each_time_and_every_row_is_seen():
    rows = np.arange(12, dtype=np.float32)[:, None]
    batches = [next_[0].ravel().tolist() for next_ in itertools.islice(array_batches((rows,), 4, 0, PLACE), 6)]
    for epoch in (batches[:3], batches[3:]):
        assert sorted(itertools.chain(*epoch)) == rows.ravel().tolist()
    assert batches[:3] != batches[3:]
    later = [next_[0].ravel().tolist() for next_ in itertools.islice(array_batches((rows,), 4, 0, PLACE, done=4), 2)]
    assert later == batches[4:]


def test_lists_generators_and_functions_give_the_same_model():
    made = [pairs(30, seed=seed) for seed in range(20)]
    again = iter(made)
    models = [
        gated(max_iter=20).fit_batches(made),
        gated(max_iter=20).fit_batches(pair for pair in made),
        gated(max_iter=20).fit_batches(lambda: next(again)),
    ]
    assert same(models[0], models[1])
    assert same(models[0], models[2])
    assert models[0].n_iter_ == 20


def test_training_ends_with_the_iterable_and_takes_no_batch_too_many():
    made = [pairs(30, seed=seed) for seed in range(7)]
    with pytest.warns(ConvergenceWarning, match=r"source=7 batches ended before max_iter=60\. Yield more, or"):
        assert gated().fit_batches(made).n_iter_ == 7
    assert gated(max_iter=7).fit_batches(made).n_iter_ == 7
    calls = []
    gated(max_iter=5).fit_batches(lambda: calls.append(0) or pairs(30))
    assert len(calls) == 5


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (3, "is neither an iterable of batches nor a callable"),
        ([], "has no batches"),
        ([np.zeros((3, 2))], "is not a pair of arrays"),
        ([pairs(4), (np.zeros((3, 5)),)], "does not have the 2 arrays of a batch"),
        ([pairs(4), (np.zeros((3, 5)), np.zeros((2, 5)))], "is not made of matrices with as many rows each"),
        ([pairs(4), (np.zeros((3, 4)), np.zeros((3, 5)))], r"does not have the columns of the first batch \(5, 5\)"),
        ([pairs(4), (np.zeros((3, 5)), np.full((3, 5), np.nan))], "contains NaN or infinity"),
    ],
)
def test_bad_batches_get_a_sentence(source, message):
    with pytest.raises((ValueError, TypeError), match=message):
        gated().fit_batches(source)


def test_the_first_batch_is_given_again():
    assert first_of(iter([1, 2]))[0] == 1
    assert list(first_of(iter([1, 2]))[1]) == [1, 2]


def test_read_only_rows_are_taken_without_a_warning():
    X, Y = pairs(20)
    for part in (X, Y):
        part.setflags(write=False)
    (arrays,) = as_batches([(X, Y)], "test", width=2)
    batch = tuple(tensor(part, PLACE) for part in arrays)
    assert np.array_equal(batch[0].numpy(), X.astype(np.float32))
    assert share(batch) is batch  # one process


# partial_fit


def test_partial_fit_makes_one_update_for_each_batch():
    X, Y = pairs(120)
    model = gated(batch_size=50).partial_fit(X, Y)
    assert model.n_iter_ == 3
    assert model.partial_fit(X, Y).n_iter_ == 6
    assert [record["iteration"] for record in model.history_] == [3, 6]
    assert same(model, gated(batch_size=50).partial_fit(X, Y).partial_fit(X, Y))


def test_the_optimiser_goes_on_between_calls_and_does_not_survive_a_copy():
    X, Y = pairs(100)
    model = gated().partial_fit(X, Y)
    copied = pickle.loads(pickle.dumps(model))
    assert same(model, copied)
    assert "_paused_" not in vars(copied)
    model.partial_fit(X, Y)
    copied.partial_fit(X, Y)
    assert not same(model, copied)  # Adam began anew in the copy
    joined = gated().partial_fit(np.concatenate([X, X]), np.concatenate([Y, Y]))
    for name, value in joined.parameters_.items():
        np.testing.assert_allclose(value, model.parameters_[name], atol=1e-5)


def test_a_saved_model_holds_no_run(tmp_path):
    X, Y = pairs(100)
    model = gated().partial_fit(X, Y)
    sidelight.save(model, tmp_path / "m")
    loaded = sidelight.load(tmp_path / "m")
    assert same(model, loaded)
    assert "_paused_" not in vars(loaded)
    assert loaded.partial_fit(X, Y).n_iter_ == model.n_iter_ + 2
    assert not hasattr(clone(model), "_paused_")


def test_a_refused_batch_leaves_the_model_as_it_was():
    X, Y = pairs(100)
    model = gated().partial_fit(X, Y)
    before = model.parameters_
    with pytest.raises(ValueError, match="y=4 columns does not match the 5 of the fit"):
        model.partial_fit(X, Y[:, :4])
    assert model.parameters_ is before
    other = gated().partial_fit(X, Y)
    assert same(model.partial_fit(X, Y), other.partial_fit(X, Y))


def test_a_changed_rate_is_used_from_the_next_call_on():
    X, Y = pairs(100)
    model, other = gated().partial_fit(X, Y), gated().partial_fit(X, Y)
    other.set_params(learning_rate=1e-9)
    before = other.parameters_["gated.weights"]
    other.partial_fit(X, Y)
    np.testing.assert_allclose(other.parameters_["gated.weights"], before, atol=1e-7)
    assert not same(model.partial_fit(X, Y), other)


@pytest.mark.thorough
def test_data_on_the_fly_through_partial_fit_learns_the_transformation():
    model = gated(learning_rate=0.02)
    for seed in range(300):
        model.partial_fit(*pairs(50, seed=seed))
    assert model.score(*pairs(200, seed=1000)) > 0.9


# interruptions


def interrupt_at(iteration):
    def callback(state):
        if state.iteration >= iteration:
            raise KeyboardInterrupt

    return callback


def test_ctrl_c_keeps_what_there_is_and_is_raised_again():
    X, Y = pairs()
    model = gated(callback=interrupt_at(20))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert model.n_iter_ == 20
    assert same(model, gated(callback=lambda state: state.iteration == 20).fit(X, Y))


def test_ctrl_c_before_the_first_update_leaves_the_old_model():
    X, Y = pairs()
    model = gated().fit(X, Y)
    before = dict(vars(model))

    def batches():
        yield pairs(20)
        raise KeyboardInterrupt

    def none():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.fit_batches(none)
    assert all(vars(model)[name] is value for name, value in before.items())
    with pytest.raises(KeyboardInterrupt):
        model.fit_batches(batches())
    assert model.n_iter_ == 1


def test_the_rate_falls_to_nothing_towards_the_end():
    X, Y = pairs()
    last, before = (gated(callback=lambda state, n=n: state.iteration == n).fit(X, Y) for n in (60, 59))
    step = np.abs(last.parameters_["gated.weights"] - before.parameters_["gated.weights"]).max()
    assert 0 < step < 1e-3  # Adam's first steps are 0.01


def test_a_callback_ends_training():
    X, Y = pairs()
    assert gated(callback=lambda state: state.iteration == 30).fit(X, Y).n_iter_ == 30


def test_verbose_draws_one_line(capsys):
    gated(verbose=1).fit(*pairs())
    drawn = capsys.readouterr().err
    assert drawn.count("\n") == 1
    assert "60 updates" in drawn


def test_parameters_that_run_away_are_said_and_the_old_model_stays():
    X, Y = pairs()
    model = gated(mapping="gaussian", optimizer="sgd").set_params(max_iter=5).fit(X, Y)
    before = model.parameters_
    model.set_params(max_iter=500, learning_rate=50.0)
    with pytest.raises(FloatingPointError, match=r"learning_rate=50.0 let the parameters grow without bound\. Lower"):
        model.fit(X, Y)
    assert model.parameters_ is before


# several processes


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@pytest.mark.thorough
def test_two_processes_have_the_gradient_of_one_with_the_joined_batch(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")
    port, path = free_port(), tmp_path / "second"
    second = subprocess.Popen([sys.executable, process.__file__, "1", str(port), str(path)])
    try:
        first = process.together(0, port)
        assert second.wait(60) == 0
    finally:
        second.kill()
        second.wait()
    joined = process.gradient_of_a_batch()
    for ours, theirs, alone in zip(first, pickle.loads(path.read_bytes()), joined, strict=True):
        np.testing.assert_array_equal(ours, theirs)
        np.testing.assert_allclose(ours, alone, rtol=1e-5, atol=1e-6)


def test_a_loss_that_is_no_number_ends_the_run():
    model = torch.nn.Linear(2, 2)
    found = train(
        model,
        lambda part, generator: sum(p.sum() for p in model.parameters()) * torch.nan,
        lambda done: itertools.repeat(()),
        Schedule(max_iter=500),
    )
    assert found.status is Status.STALLED
    assert found.n_iter < 10
