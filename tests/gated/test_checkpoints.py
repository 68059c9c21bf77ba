"""Runs that are cut off and taken up again: to the same bits, and only by the model that began them."""

from __future__ import annotations

import numpy as np
import pytest
from test_training import gated, pairs, same

from sidelight.gated import BiasedAutoencoder, Manifield, RestrictedBoltzmannMachine
from sidelight.gated._checkpoints import FREE


class Stop(Exception):
    pass


@pytest.mark.parametrize(
    ("make", "rows"),
    [
        (lambda **more: gated(max_iter=220, negatives="sampled", **more), pairs()),
        (lambda **more: gated(max_iter=220, persistent=True, optimizer="sgd", **more), pairs()),
        (lambda **more: gated(max_iter=220, validation_fraction=0.2, patience=0, **more), pairs()),
        (
            lambda **more: RestrictedBoltzmannMachine(3, max_iter=220, persistent=True, random_state=0, **more),
            pairs()[:1],
        ),
    ],
    ids=["sampled", "persistent", "held out", "restricted persistent"],
)
@pytest.mark.thorough
def test_a_run_that_is_cut_off_goes_on_to_the_same_bits(make, rows, tmp_path):
    path = tmp_path / "checkpoint"

    def cut_off(state):
        if state.iteration > 130:
            raise Stop

    with pytest.raises(Stop):
        make(checkpoint=path, callback=cut_off).fit(*rows)
    resumed, whole = make(checkpoint=path).fit(*rows), make().fit(*rows)
    assert same(resumed, whole)
    assert resumed.n_iter_ == whole.n_iter_ == 220
    assert [r["objective"] for r in resumed.history_] == [r["objective"] for r in whole.history_]
    assert np.all(np.diff([r["seconds"] for r in resumed.history_]) >= 0)


def test_a_finished_run_is_not_done_again_and_a_longer_one_goes_on_from_its_end(tmp_path):
    X, Y = pairs()
    first = gated(max_iter=130, checkpoint=tmp_path / "c").fit(X, Y)
    seen = []
    again = gated(max_iter=130, checkpoint=tmp_path / "c", callback=lambda state: seen.append(state)).fit(X, Y)
    assert same(first, again)
    assert seen == []
    gated(max_iter=150, checkpoint=tmp_path / "c", callback=lambda state: seen.append(state)).fit(X, Y)
    assert [state.iteration for state in seen] == list(range(131, 151))


@pytest.mark.parametrize(
    ("changed", "differs"),
    [
        ({"n_mapping": 5}, "n_mapping=4, not n_mapping=5"),
        ({"visible": "gaussian-learned"}, "visible='gaussian', not visible='gaussian-learned'"),
        ({"biases": ("xy", "y")}, "biases=.*, not biases="),
        ({"learning_rate": 0.02}, "learning_rate=None, not learning_rate=0.02"),
        ({"random_state": 1}, "random_state=0, not random_state=1"),
    ],
)
def test_a_checkpoint_of_another_model_is_refused_and_what_differs_is_said(changed, differs, tmp_path):
    X, Y = pairs()
    gated(max_iter=3, checkpoint=tmp_path / "c").fit(X, Y)
    other = gated(max_iter=3, checkpoint=tmp_path / "c").set_params(**changed)
    with pytest.raises(ValueError, match=rf"GatedBoltzmannMachine: checkpoint=.* was written with {differs}"):
        other.fit(X, Y)
    assert not hasattr(other, "parameters_")


def test_a_checkpoint_of_other_columns_or_another_estimator_is_refused(tmp_path):
    X, Y = pairs()
    model = gated(max_iter=3, checkpoint=tmp_path / "c").fit(X, Y)
    with pytest.raises(ValueError, match=r"was written with n_outputs=5, not n_outputs=4\. Set it back, or delete"):
        model.fit(X, Y[:, :4])
    rows = RestrictedBoltzmannMachine(4, max_iter=3, random_state=0, checkpoint=tmp_path / "c")
    with pytest.raises(ValueError, match="written with estimator=GatedBoltzmannMachine, not estimator=Restricted"):
        rows.fit(X)
    (tmp_path / "text").write_text("no checkpoint")
    with pytest.raises(
        ValueError, match=r"checkpoint=.*text is not a checkpoint that training can resume from\. Name another"
    ):
        model.set_params(checkpoint=tmp_path / "text").fit(X, Y)


def test_a_checkpoint_goes_on_where_only_what_is_free_differs(tmp_path):
    X, Y = pairs()
    gated(max_iter=3, checkpoint=tmp_path / "c").fit(X, Y)
    assert set(FREE) & set(gated().get_params()) == {"callback", "checkpoint", "device", "max_iter", "verbose"}
    free = {"max_iter": 5, "callback": lambda state: False, "biases": list(gated().biases)}
    assert gated(checkpoint=tmp_path / "c", **free).fit(X, Y).n_iter_ == 5


def test_a_checkpoint_knows_the_patch_model_of_a_field(tmp_path):
    X = [np.sin(np.arange(30) / 3)]

    def field(n_components, patch_size=5):
        options = {"max_iter": 2, "random_state": 0, "optimizer": "adam", "checkpoint": tmp_path / "c"}
        return Manifield(BiasedAutoencoder(n_components, **options), patch_size)

    field(2).fit(X, X)
    with pytest.raises(ValueError, match="written with model__n_components=2, not model__n_components=3"):
        field(3).fit(X, X)
    with pytest.raises(ValueError, match="written with patch_size=5, not patch_size=7"):
        field(2, 7).fit(X, X)


@pytest.mark.thorough
def test_a_stream_is_taken_up_where_it_was(tmp_path):
    def made():
        rng = np.random.default_rng(3)
        return lambda: pairs(40, seed=int(rng.integers(1 << 30)))

    def cut_off(state):
        if state.iteration == 220:
            raise Stop

    options = {"max_iter": 240, "checkpoint": tmp_path / "c"}
    with pytest.raises(Stop):
        gated(**options, callback=cut_off).fit_batches(made())
    assert same(gated(**options).fit_batches(made()), gated(max_iter=240).fit_batches(made()))
