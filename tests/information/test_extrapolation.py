"""A textbook confounder: two species that live on one island each, and one that lives on all three."""

import warnings

import numpy as np
import pytest

from sidelight import KernelInformationEmbedding, TwoWayEmbedding, load, save
from sidelight.base.chain import as_chain
from sidelight.base.warnings import ExtrapolationWarning
from sidelight.evaluate import neighbour_hit

# Means and standard deviations of bill length and depth, flipper length and body mass, as published for penguins.
SPECIES = {
    "Adelie": ([38.8, 18.35, 190.0, 3700.0], [2.66, 1.22, 6.5, 459.0]),
    "Gentoo": ([47.5, 15.0, 217.2, 5076.0], [3.1, 0.98, 6.5, 504.0]),
    "Chinstrap": ([48.8, 18.4, 195.8, 3733.0], [3.3, 1.14, 7.1, 384.0]),
}
HABITATS = [
    ("Adelie", "Biscoe", 44),
    ("Adelie", "Dream", 56),
    ("Adelie", "Torgersen", 52),
    ("Gentoo", "Biscoe", 124),
    ("Chinstrap", "Dream", 68),
]


def penguins():
    """Rows in units of their standard deviations, species and island; made, because the original needs a download."""
    rng = np.random.default_rng(0)
    alike = np.linalg.cholesky(0.5 * np.ones((4, 4)) + 0.5 * np.eye(4))
    parts = [
        np.array(SPECIES[kind][0]) + (rng.normal(size=(n, 4)) @ alike.T) * SPECIES[kind][1] for kind, _, n in HABITATS
    ]
    X = np.vstack(parts)
    species, island = (np.concatenate([[place[k]] * place[2] for place in HABITATS]) for k in (0, 1))
    return (X - X.mean(axis=0)) / X.std(axis=0), species, island


X, KIND, ISLAND = penguins()


@pytest.fixture(scope="module")
def model():
    return KernelInformationEmbedding(random_state=0, max_iter=100).fit(X, given=ISLAND)


def test_species_that_live_on_one_island_stay_apart(model):
    assert neighbour_hit(model.embedding_, KIND, n_neighbors=10) > 0.9
    assert [sentence.split(" have")[0].split("rows ")[1] for sentence in model.only_here_] == [
        "with given = 'Biscoe'",
        "with given = 'Dream'",
    ]


@pytest.mark.parametrize("island", ["Biscoe", "Dream", "Torgersen"])
def test_the_species_of_all_islands_is_on_another_island_as_it_is_there(model, island):
    """Means in standard deviations; those of Biscoe with its Gentoos are 0.9 away in body mass."""
    moved = model.counterfactual(X[(KIND == "Adelie") & (island != ISLAND)], given=island)
    there = X[(KIND == "Adelie") & (island == ISLAND)]
    np.testing.assert_allclose(moved.mean(axis=0), there.mean(axis=0), atol=0.35)


@pytest.mark.parametrize(("kind", "island"), [("Gentoo", "Dream"), ("Gentoo", "Torgersen"), ("Chinstrap", "Biscoe")])
def test_an_island_where_a_species_was_never_seen_is_an_extrapolation(model, kind, island):
    assert model.confounded_
    rows = X[kind == KIND]
    assert np.median(model.overlap(rows, given=island)) < 0.01
    with pytest.warns(ExtrapolationWarning, match=r"never seen near \d+ of the \d+ rows.*Look at overlap"):
        model.counterfactual(rows, given=island)


@pytest.mark.parametrize("island", ["Biscoe", "Dream", "Torgersen"])
def test_an_island_where_the_species_lives_is_none(model, island):
    rows = X[KIND == "Adelie"]
    overlap = model.overlap(rows, given=island)
    assert (overlap < 0.01).mean() < 0.1
    assert 0.2 < np.median(overlap) < 0.8
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.counterfactual(rows, given=island)


def test_parallel_groups_far_apart_are_compared_by_their_latent_points():
    """Nothing is like a row of the other group as it is, but the latent points say what corresponds."""
    rng = np.random.default_rng(1)
    rest = rng.uniform(-2, 2, size=(200, 2))
    group = np.arange(200) % 2
    rows = np.column_stack([rest, 30.0 * group])
    model = KernelInformationEmbedding(random_state=0, max_iter=60).fit(rows, given=group)
    assert not model.confounded_
    overlap = model.overlap(rows, given=1 - group)
    assert (overlap < 0.01).mean() < 0.2


def crossed(missing=None, seed=3):
    """Three kinds in two shifted batches, of sizes that differ; ``missing``: a kind that batch "b" lacks."""
    rng = np.random.default_rng(seed)
    kind = np.repeat([0, 1, 2], [140, 100, 60])
    batch = np.where(rng.uniform(size=300) < np.array([0.3, 0.5, 0.7])[kind], "b", "a")
    batch[kind == missing] = "a"
    centres, shift = 6.0 * rng.normal(size=(3, 8)), 5.0 * rng.normal(size=8)
    return centres[kind] + rng.normal(size=(300, 8)) + (batch == "b")[:, None] * shift, kind, batch


@pytest.mark.parametrize("told", [True, False])
def test_shifted_groups_that_hold_the_same_kinds_are_no_extrapolation(told):
    """They differ in the numbers of each kind, so that matched rows decide; as they are, no row is like the others."""
    rows, kind, batch = crossed()
    model = KernelInformationEmbedding(random_state=0, max_iter=60).fit(rows, given=batch)
    assert model.confounded_
    other = np.where(batch == "a", "b", "a")
    overlap = model.overlap(rows, given=other, given_now=batch if told else None)
    for one in range(3):
        assert (overlap[kind == one] < 0.01).mean() < 0.1
        assert 0.2 < np.median(overlap[kind == one]) < 0.8
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.counterfactual(rows, given=other, given_now=batch if told else None)


@pytest.mark.parametrize("told", [True, False])
def test_a_kind_that_a_shifted_group_lacks_is_an_extrapolation_there(told):
    rows, kind, batch = crossed(missing=2)
    model = KernelInformationEmbedding(random_state=0, max_iter=60).fit(rows, given=batch)
    assert model.confounded_
    overlap = model.overlap(rows, given="b", given_now=batch if told else None)
    assert (overlap[kind == 2] < 0.01).mean() > 0.9
    assert (overlap[kind != 2] < 0.01).mean() < 0.1


def test_a_number_that_was_never_seen_is_an_extrapolation():
    rng = np.random.default_rng(2)
    dose = rng.uniform(0, 1, size=150)
    rows = rng.normal(size=(150, 3)) + dose[:, None]
    model = KernelInformationEmbedding(random_state=0, max_iter=40).fit(rows, given=dose)
    assert np.median(model.overlap(rows, given=0.5)) > 0.2
    assert (model.overlap(rows, given=50.0) == 0.0).all()
    with pytest.warns(ExtrapolationWarning):
        model.counterfactual(rows, given=50.0)


def test_overlap_is_row_by_row_missing_where_given_is_and_saved(model, tmp_path):
    some = X[::20]
    asked = np.array(["Dream"] * len(some), dtype=object)
    asked[1] = None
    whole = model.overlap(some, given=asked)
    assert np.isnan(whole[1])
    one_by_one = [model.overlap(some[i : i + 1], given=asked[i : i + 1])[0] for i in range(len(some))]
    np.testing.assert_array_equal(whole, one_by_one)
    save(model, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").overlap(some, given=asked), whole)


def test_a_model_without_given_has_no_overlap():
    model = KernelInformationEmbedding(max_iter=20, perplexity=8.0, random_state=0).fit(X[::4])
    assert not hasattr(model, "overlap")


def test_rows_out_of_range_are_not_typical():
    model = TwoWayEmbedding().fit(X)
    far = model.typicality(1000 * X)
    assert (far == 0.0).all()
    assert (model.typicality(X) < 0.01).mean() < 0.05
    assert model.latent_typicality(np.array([[50.0, 50.0]])).tolist() == [0.0]
    assert model.typicality(X).tolist() == model.typicality(X).tolist()


@pytest.mark.thorough
def test_a_chain_passes_typicality_and_overlap_on(model):
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(X)
    chain = as_chain(Pipeline([("scale", scaler), ("map", model)]))
    rows = scaler.transform(X)
    assert np.array_equal(chain.typicality(X), model.typicality(rows))
    assert np.array_equal(chain.overlap(X, given="Dream"), model.overlap(rows, given="Dream"))
    assert np.array_equal(chain.latent_typicality(model.embedding_), model.latent_typicality(model.embedding_))
