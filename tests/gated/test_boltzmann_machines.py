"""What the two machines learn, flow fields, chains, and values that do not suit."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from enumeration import machine

from sidelight.gated import GatedBoltzmannMachine, RestrictedBoltzmannMachine
from sidelight.gated._flow import arrows, targets

pytestmark = pytest.mark.thorough  # each of them learns a model


def shifted(n, seed, density=0.2, side=5):
    """Binary pictures that go round by one pixel in one of four ways, flat, and the ways."""
    rng = np.random.default_rng(seed)
    ways = np.array([(0, 1), (0, -1), (1, 0), (-1, 0)])
    chosen = rng.integers(4, size=n)
    X = (rng.random((n, side, side)) < density).astype(float)
    Y = np.stack([np.roll(picture, ways[way], axis=(0, 1)) for picture, way in zip(X, chosen, strict=True)])
    return X.reshape(n, -1), Y.reshape(n, -1), ways[chosen]


@pytest.fixture(scope="module")
def shifts():
    X, Y, _ = shifted(4000, 0)
    options = {"visible": "binary", "random_state": 0, "max_iter": 1000, "learning_rate": 0.03}
    return {
        "full": GatedBoltzmannMachine(8, **options).fit(X, Y),
        "factored": GatedBoltzmannMachine(8, n_factors=60, **options).fit(X, Y),
    }


def wrapped(flow):
    return (flow + 2) % 5 - 2


@pytest.mark.parametrize(("form", "bar"), [("full", 0.99), ("factored", 0.9)])
@pytest.mark.thorough
def test_the_flow_of_held_out_pairs_is_right(shifts, form, bar):
    X, Y, ways = shifted(200, 1)
    flow = shifts[form].flow(X, Y, shape=(5, 5))
    assert flow.shape == (200, 5, 5, 2)
    assert (wrapped(flow) == ways[:, None, None, :]).all(axis=3).mean() >= bar
    columns = shifts[form].flow(X, Y)
    assert columns.shape == (200, 25)
    np.testing.assert_array_equal(flow[:, 2, 3, 0], columns[:, 13] // 5 - 2)


@pytest.mark.thorough
def test_a_transformation_is_transferred_to_other_pictures(shifts):
    X, Y, ways = shifted(100, 1)
    others = shifted(100, 2)[0]
    truth = np.stack([np.roll(o.reshape(5, 5), way, axis=(0, 1)).ravel() for o, way in zip(others, ways, strict=True)])
    moved = shifts["full"].transfer(X, Y, others)
    assert ((moved > 0.5) == truth).mean() > 0.99
    one = shifts["full"].transfer(X[:1], Y[:1], others)
    np.testing.assert_allclose(one[0], moved[0])
    assert ((one > 0.5) == [np.roll(o.reshape(5, 5), ways[0], axis=(0, 1)).ravel() for o in others]).mean() > 0.99


@pytest.mark.parametrize("options", [{}, {"n_factors": 3}, {"biases": ("y", "z")}])
def test_targets_are_the_largest_of_the_sums_written_out(options):
    model = machine(**options)
    z = torch.rand(6, 2).double()
    for n in range(6):
        tied = torch.stack(
            [model.gated.contract(row[None]).filters(1)[0] for row in torch.eye(2).double()]
        )  # (i, j, k)
        strength = (tied * z[n]).sum(dim=2)
        strength = strength if model.input_visible is None else strength + model.input_visible
        assert torch.equal(targets(model, z)[n], strength.argmax(dim=1))


def test_arrows_count_down_and_to_the_right():
    found = torch.tensor([[1, 1, 5, 0, 4, 5]])  # pictures of two rows and three columns
    assert arrows(found, (2, 3)).tolist() == [[[[0, 1], [0, 0], [1, 0]], [[-1, 0], [0, 0], [0, 0]]]]


def test_a_picture_that_does_not_fit_and_a_premapping_are_refused(shifts):
    X, Y, _ = shifted(10, 0)
    with pytest.raises(ValueError, match=r"shape=\(4, 5\) does not fit the 25 columns of X and 25 of y"):
        shifts["full"].flow(X, Y, shape=(4, 5))
    model = GatedBoltzmannMachine(3, premapping=4, max_iter=2, visible="binary").fit(X, Y)
    with pytest.raises(ValueError, match="premapping=4 mixes the input columns"):
        model.flow(X, Y)


def test_a_premapping_is_trained_with_the_rest():
    X, Y, _ = shifted(1000, 0)
    options = {"visible": "binary", "random_state": 0, "premapping": (30, 20)}
    first, last = (GatedBoltzmannMachine(8, max_iter=steps, **options).fit(X, Y) for steps in (1, 300))
    names = [name for name in last.parameters_ if name.startswith("premapping.")]
    assert len(names) == 4
    for name in names:
        assert np.abs(last.parameters_[name] - first.parameters_[name]).max() > 0.1
    assert last.score(X, Y) > first.score(X, Y) + 0.3


@pytest.mark.parametrize(
    ("visible", "levels", "Y", "message"),
    [
        ("binary", None, np.full((4, 2), 1.5), "y=values from 1.5 to 1.5 does not suit visible='binary'"),
        ("poisson", None, np.full((4, 2), -1.0), "does not suit visible='poisson'"),
        ("multinomial", None, np.full((4, 2), 0.4), "does not add up to 1 in each group of 2 columns"),
        ("multinomial", 3, np.eye(4), "levels=3 does not divide the 4 columns of y"),
    ],
)
def test_values_that_do_not_suit_the_units_are_said(visible, levels, Y, message):
    with pytest.raises(ValueError, match=message):
        GatedBoltzmannMachine(2, visible=visible, levels=levels).fit(np.zeros((4, 3)), Y)


def test_chains_of_pairs_need_arrays():
    X, Y, _ = shifted(20, 0)
    model = GatedBoltzmannMachine(2, persistent=True, visible="binary")
    with pytest.raises(
        ValueError, match=r"persistent=True keeps a chain for each training row, and streamed batches have none"
    ):
        model.fit_batches([(X, Y)])
    with pytest.raises(ValueError, match=r"Use fit, or persistent=False"):
        model.partial_fit(X, Y)


def four_bits(n, seed=0):
    """Rows of twelve binary values, three times each of four random bits."""
    return np.repeat(np.random.default_rng(seed).integers(2, size=(n, 4)), 3, axis=1)


@pytest.mark.parametrize("options", [{"persistent": True}, pytest.param({"cd_steps": 3}, marks=pytest.mark.slow)])
@pytest.mark.thorough
def test_samples_are_like_the_rows(options):
    options = {"max_iter": 3000, **options}  # samples need longer training than reconstruction, which ends the default
    model = RestrictedBoltzmannMachine(8, visible="binary", random_state=0, **options).fit(four_bits(500))
    drawn = model.sample(400, random_state=0).reshape(400, 4, 3)
    assert (drawn.min(axis=2) == drawn.max(axis=2)).all(axis=1).mean() > 0.7  # of noise: 1 in 256
    assert 0.3 < drawn.mean() < 0.7
    np.testing.assert_array_equal(drawn.reshape(400, 12), model.sample(400, random_state=0))


@pytest.fixture(scope="module")
def model_of_bits():
    return RestrictedBoltzmannMachine(8, visible="binary", random_state=0, max_iter=1000).fit(four_bits(500))


@pytest.mark.thorough
def test_a_short_chain_stays_near_its_start(model_of_bits):
    X = four_bits(500)
    near = model_of_bits.sample(200, random_state=0, start=X[:200], n_steps=1)
    assert (near == X[:200]).mean() > 0.9


def test_broken_rows_score_lower_and_are_mended(model_of_bits):
    X = four_bits(500)
    broken = X[:100].copy()
    broken[:, 4] = 1 - broken[:, 4]
    assert (model_of_bits.score_samples(X[:100]) > model_of_bits.score_samples(broken)).all()
    assert ((model_of_bits.reconstruct(broken) > 0.5) == X[:100]).mean() > 0.95


@pytest.mark.thorough
def test_counts_and_one_hot_rows_are_learned():
    rng = np.random.default_rng(0)
    bits = rng.integers(2, size=(1000, 1))
    counts = rng.poisson(np.where(bits, [8.0, 1.0, 8.0], [1.0, 8.0, 1.0]))
    model = RestrictedBoltzmannMachine(3, visible="poisson", random_state=0, max_iter=800).fit(counts)
    assert np.corrcoef(model.reconstruct(counts)[:, 0], bits[:, 0])[0, 1] > 0.9
    levels = np.concatenate([np.eye(3)[bits[:, 0]], np.eye(3)[2 - bits[:, 0]]], axis=1)
    settings = {"levels": 3, "random_state": 0, "max_iter": 500, "learning_rate": 0.05}
    model = RestrictedBoltzmannMachine(3, visible="multinomial", **settings).fit(levels)
    half = np.where(np.arange(6) < 3, levels, 1 / 3)
    assert (model.reconstruct(half)[:, 3:].argmax(axis=1) == 2 - bits[:, 0]).all()
