"""Distances up to a transformation: against the three steps written out, in tiles, as a metric."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from enumeration import SIZES, machine, states_of
from sklearn.neighbors import KNeighborsClassifier

import sidelight.gated._distance as module
from sidelight.gated import GatedBoltzmannMachine
from sidelight.gated._distance import pairwise_distance

pytestmark = pytest.mark.thorough  # each of them learns a model

FORMS = {"full": {}, "factored": {"n_factors": 3}, "premapped": {"premapped": True}, "no biases": {"biases": ()}}


def by_three_steps(model, x, y, soft):
    """Infer, apply, compare: one pair after another."""
    found = torch.empty(len(x), len(y), dtype=x.dtype)
    for n, template in enumerate(x):
        conditioned = model.condition(template[None])
        for m, query in enumerate(y):
            eta = conditioned.hidden_parameters(query[None])
            z = conditioned.hidden.mean(eta) if soft else conditioned.hidden.mode(eta)
            expected = conditioned.visible.mean(conditioned.visible_parameters(z))
            found[n, m] = ((expected - query) ** 2).sum()
    return found


def rows(visible):
    values = states_of(visible, SIZES[visible]).values
    return values[torch.linspace(0, len(values) - 1, 11).long()]


@pytest.mark.parametrize("visible", ["binary", "gaussian", "gaussian-learned", "poisson", "multinomial"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("soft", [False, True])
def test_all_pairs_together_are_the_three_steps_of_each(visible, form, soft):
    model, y = machine(visible, **FORMS[form]).requires_grad_(False), rows(visible)
    if visible == "gaussian":
        model.visible.log_scale.fill_(-0.4)
    x = torch.randn(7, 2, generator=torch.Generator().manual_seed(0)).double()
    torch.testing.assert_close(pairwise_distance(model, x, y, soft=soft), by_three_steps(model, x, y, soft))


@pytest.mark.parametrize("visible", ["binary", "gaussian"])
def test_tiles_do_not_change_distances(visible, monkeypatch):
    model = machine(visible, n_factors=3).requires_grad_(False)
    x, y = torch.randn(9, 2).double(), rows(visible)
    whole = pairwise_distance(model, x, y)
    monkeypatch.setattr(module, "_GROUP", 2)
    monkeypatch.setattr(module, "_TILE", 12)
    torch.testing.assert_close(pairwise_distance(model, x, y), whole)


@pytest.fixture(scope="module")
def learned():
    """Rows of 12 values; the transformation turns them around by up to three places."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 12))
    steps = rng.integers(-1, 2, size=2000)
    Y = np.stack([np.roll(row, step) for row, step in zip(X, steps, strict=True)])
    return GatedBoltzmannMachine(9, random_state=0, max_iter=1000).fit(X, Y), rng


@pytest.mark.thorough
def test_the_learned_distance_tells_what_turning_hides(learned):
    model, rng = learned
    templates = rng.normal(size=(40, 12))
    queries = np.stack([np.roll(row, 1) for row in templates])
    found = model.distance(templates, queries)
    assert (found.argmin(axis=0) == np.arange(40)).all()
    euclidean = ((templates[:, None] - queries) ** 2).sum(axis=2)
    assert (euclidean.argmin(axis=0) == np.arange(40)).mean() < 0.5
    reconstructed = np.linalg.norm(model.reconstruct(templates, queries) - queries, axis=1)
    np.testing.assert_allclose(np.diag(model.distance(templates, queries, soft=True)), reconstructed, rtol=1e-6)


@pytest.mark.thorough
def test_distances_serve_scikit_learns_neighbours(learned):
    model, rng = learned
    templates = rng.normal(size=(40, 12))
    labels = np.arange(40) % 4
    queries = np.stack([np.roll(row, -1) for row in templates])
    neighbours = KNeighborsClassifier(1, metric="precomputed").fit(np.zeros((40, 40)), labels)
    assert neighbours.score(model.distance(templates, queries).T, labels) == 1.0


def test_the_symmetric_form_adds_both_ways(learned):
    model, rng = learned
    X, Y = rng.normal(size=(6, 12)), rng.normal(size=(5, 12))
    both = model.distance(X, Y, symmetric=True)
    np.testing.assert_allclose(both, model.distance(X, Y) + model.distance(Y, X).T)
    np.testing.assert_allclose(both, model.distance(Y, X, symmetric=True).T)


def test_a_symmetric_distance_of_rows_of_two_kinds_is_refused():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(50, 4)), rng.normal(size=(50, 3))
    model = GatedBoltzmannMachine(3, max_iter=3, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match=r"symmetric=True needs inputs and outputs of one kind \(4 and 3 columns\)"):
        model.distance(X, Y, symmetric=True)
