"""Factor out what is known: limit cases, what is removed and what remains, the maps under ``given``, hints."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pytest
from scipy.spatial import procrustes

from sidelight import Conditioning, KernelInformationEmbedding, Pairs, datasets
from sidelight.base.warnings import ExtrapolationWarning
from sidelight.evaluate import leakage, neighbour_hit, recovery, sheet_correlation


def rms(A):
    return float(np.sqrt(np.mean(np.sum(np.asarray(A) ** 2, axis=1))))


@functools.cache
def bent_sheets(n=240, seed=0):
    """The same bent sheet seen in three groups, each moved elsewhere: rows, the sheet, groups, arc, height, moves."""
    rng = np.random.default_rng(seed)
    arc, height = rng.uniform(0, 3, n), rng.uniform(0, 1.5, n)
    sheet = 0.05 * rng.normal(size=(n, 6))
    sheet[:, :3] += np.column_stack([3 * np.cos(arc), 3 * np.sin(arc), height])
    moves = rng.normal(size=(3, 6))
    moves *= 4.0 / np.linalg.norm(moves, axis=1, keepdims=True)
    groups = np.arange(n) % 3
    return sheet + moves[groups], sheet, groups, arc, height, moves


@functools.cache
def informed():
    X, _, groups, *_ = bent_sheets()
    return KernelInformationEmbedding().fit(X, given=groups)


@functools.cache
def plain():
    return KernelInformationEmbedding().fit(bent_sheets()[0])


# Limits


@pytest.mark.parametrize(
    "constant",
    [["a"] * 90, np.zeros(90), np.full(90, 7), {"a": [1] * 90, "b": ["x"] * 90}, ["a"] * 80 + [None] * 10],
    ids=["text", "number", "integer", "table", "gaps"],
)
def test_a_constant_given_is_the_plain_fit_bit_for_bit(constant):
    X = bent_sheets()[0][:90]
    model, without = (KernelInformationEmbedding(tol=1e-3).fit(X, given=given) for given in (constant, None))
    np.testing.assert_array_equal(model.embedding_, without.embedding_)
    np.testing.assert_array_equal(model.path_, without.path_)
    np.testing.assert_array_equal(model.transform(X, given=constant), without.transform(X))
    np.testing.assert_array_equal(model.counterfactual(X, given=constant), without.denoise(X))
    assert model.score(X, given=constant) == without.score(X)
    assert model.explained_ == 0.0
    assert not model.confounded_


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["category", "number"])
def test_a_given_that_says_nothing_leaves_the_sheet(kind):
    data = datasets.s_curve(300, random_state=0)
    rng = np.random.default_rng(1)
    given = rng.integers(0, 3, 300) if kind == "category" else rng.normal(size=300)
    without = sheet_correlation(KernelInformationEmbedding().fit(data.X).embedding_, data.factors)
    model = KernelInformationEmbedding().fit(data.X, given=given)
    assert sheet_correlation(model.embedding_, data.factors) > without - 0.02
    assert abs(model.explained_) < 0.02
    assert not model.confounded_


EVERYTHING = {
    "a name per row": (lambda t: [f"row {i}" for i in range(len(t))], None),
    "a name per row, few rows": (lambda t: [f"row {i}" for i in range(len(t))], None),
    "the parameter": (lambda t: t, None),
    "the angle": (lambda t: np.rad2deg(t), "angle"),
}


@pytest.mark.parametrize("name", EVERYTHING)
def test_a_given_that_explains_everything_is_said_and_leaves_one_clump(name):
    make, kind = EVERYTHING[name]
    t = np.random.default_rng(0).uniform(0, 6, 20 if "few" in name else 120)
    X = np.column_stack([np.cos(t), np.sin(t), np.cos(2 * t)])
    given = make(t)
    with pytest.warns(UserWarning, match="explains X entirely, so that no structure remains to embed"):
        model = KernelInformationEmbedding(conditioning=Conditioning(types=kind)).fit(X, given=given)
    assert model.explained_ > 0.999999
    np.testing.assert_allclose(model.embedding_, 0.0, atol=1e-9)
    assert rms(model.inverse_transform(model.embedding_, given=given) - X) < 1e-3
    assert np.isfinite(model.transform(X)).all()


@pytest.mark.thorough
def test_groups_with_equal_means_and_different_covariances_are_mixed():
    for seed in range(2):
        rng = np.random.default_rng(seed)
        groups = np.arange(160) % 2
        X = rng.normal(size=(160, 4)) * np.where(groups[:, None] == 0, [3, 2.5, 0.2, 0.2], [3, 0.2, 2.5, 0.2])
        for group in range(2):
            X[groups == group] -= X[groups == group].mean(axis=0)
        before, after = (
            leakage(KernelInformationEmbedding().fit(X, given=given).embedding_, groups).value
            for given in (None, groups)
        )
        assert before > 0.8
        assert after < before - 0.25


# What is removed, and what remains


@pytest.mark.thorough
def test_groups_are_removed_and_the_sheet_remains():
    X, _, groups, arc, height, _ = bent_sheets()
    Z = informed().embedding_
    assert leakage(plain().embedding_, groups).value > 0.95
    assert leakage(Z, groups).excess < 0.03
    assert recovery(Z, arc, groups=groups) > 0.98
    assert recovery(Z, height, groups=groups) > 0.7
    assert informed().explained_ > 0.4
    assert len(X) == len(Z)


@pytest.mark.thorough
def test_a_number_is_removed_and_the_rest_remains():
    _, sheet, _, arc, height, _ = bent_sheets()
    Z = KernelInformationEmbedding().fit(sheet, given=height).embedding_
    assert leakage(KernelInformationEmbedding().fit(sheet).embedding_, height).value > 0.7
    assert leakage(Z, height).value < 0.05
    assert recovery(Z, arc) > 0.98


def test_both_factors_of_a_turntable_one_given_the_other():
    data = datasets.turntable(24, objects=["car", "duck", "mug"], size=12)
    thing, angle = data.factors["object"], data.factors["angle"]
    by_object = KernelInformationEmbedding().fit(data.X, given=thing)
    assert leakage(by_object.embedding_, thing).excess < 0.07
    by_angle = KernelInformationEmbedding(conditioning=Conditioning(types="angle")).fit(data.X, given=angle)
    assert neighbour_hit(by_angle.embedding_, thing, n_neighbors=10) > 0.9


@pytest.mark.thorough
def test_confounded_groups_are_aligned_without_their_means():
    """Two clusters; two of three groups hold one of them each, as in the harmony cell lines."""
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1, 2], 80)
    cluster = np.where(groups == 0, np.arange(240) % 2, groups - 1)
    X = rng.normal(size=(240, 6)) + 15.0 * np.eye(6)[0] * cluster[:, None] + 4.0 * np.eye(6)[groups + 2]
    model, without = KernelInformationEmbedding().fit(X, given=groups), plain_of(X)
    assert model.confounded_
    assert neighbour_hit(model.embedding_, cluster, n_neighbors=10) > 0.99
    for one in range(2):
        rows = cluster == one
        assert leakage(without[rows], groups[rows]).excess > 0.3
        assert leakage(model.embedding_[rows], groups[rows]).excess < 0.05


def plain_of(X):
    return KernelInformationEmbedding().fit(X).embedding_


@pytest.mark.thorough
def test_sixty_categories_are_removed_through_strata_of_several():
    _, sheet, _, arc, *_ = bent_sheets()
    groups = np.arange(240) % 60
    X = sheet + 3.0 * np.random.default_rng(3).normal(size=(60, 6))[groups]
    model = KernelInformationEmbedding().fit(X, given=np.array([f"person {g}" for g in groups]))
    assert np.isfinite(model.embedding_).all()
    assert recovery(model.embedding_, arc) > recovery(plain_of(X), arc) + 0.2


@pytest.mark.thorough
def test_more_weight_presses_more_of_it_out():
    rng = np.random.default_rng(0)
    groups = np.arange(200) % 2
    X = rng.normal(size=(200, 4)) * np.where(groups[:, None] == 0, [3, 2.5, 0.2, 0.2], [3, 0.2, 2.5, 0.2])
    values = [
        leakage(
            KernelInformationEmbedding(conditioning=Conditioning(weight=weight)).fit(X, given=groups).embedding_, groups
        ).value
        for weight in (0.0, 2.0)
    ]
    assert values[1] < values[0] - 0.05


# The maps


def test_transform_with_given_is_near_the_embedding():
    X, _, groups, *_ = bent_sheets()
    Z = informed().embedding_
    spread = rms(Z - Z.mean(axis=0))
    assert rms(informed().transform(X, given=groups) - Z) < 0.05 * spread
    assert rms(informed().transform(X) - Z) < 0.05 * spread


def test_under_the_product_of_kernels_given_weighs_the_training_rows():
    X, _, groups, *_ = bent_sheets()
    model = KernelInformationEmbedding(conditioning="product", tol=1e-3).fit(X, given=groups)
    others = (groups + 1) % 3
    spread = rms(model.embedding_)
    assert rms(model.transform(X, given=others) - model.transform(X)) > 0.1 * spread
    assert rms(model.transform(X, given=groups) - model.embedding_) < 0.05 * spread
    assert rms(model.denoise(X, given=others) - model.denoise(X, given=groups)) > 1.0
    with pytest.raises(ValueError, match="is not among the categories"):
        model.transform(X, given=groups + 7)


def test_new_rows_of_another_group_land_where_their_twins_are():
    """The same sheet point, moved to each of the three groups, is one point of the map."""
    X, sheet, groups, _, _, moves = bent_sheets()
    Z = [informed().transform(sheet[:50] + moves[group], given=np.full(50, group)) for group in range(3)]
    spread = rms(informed().embedding_)
    assert max(rms(Z[0] - Z[1]), rms(Z[0] - Z[2])) < 0.1 * spread
    assert X.shape[1] == sheet.shape[1]
    assert set(groups) == {0, 1, 2}


def test_missing_given_is_the_marginal_answer():
    X, _, groups, *_ = bent_sheets()
    some = np.where(np.arange(240) % 2 == 0, groups, np.nan)
    model, Z = informed(), informed().embedding_
    known = np.isfinite(some)
    for with_some, with_all, without in (
        (model.transform(X, given=some), model.transform(X, given=groups), model.transform(X)),
        (model.inverse_transform(Z, given=some), model.inverse_transform(Z, given=groups), model.inverse_transform(Z)),
        (model.denoise(X, given=some), model.denoise(X, given=groups), model.denoise(X)),
    ):
        np.testing.assert_allclose(with_some[known], with_all[known], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(with_some[~known], without[~known], rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(model.transform(X, given=np.full(240, np.nan)), model.transform(X))


def test_the_forward_map_moves_by_the_offset_of_the_groups():
    X, _, groups, _, _, moves = bent_sheets()
    other = (groups + 1) % 3
    model, Z = informed(), informed().embedding_
    moved = model.inverse_transform(Z, given=other) - model.inverse_transform(Z, given=groups)
    wrong = (moved - (moves[other] - moves[groups])) / X.std(axis=0)
    assert rms(wrong) < 0.15
    assert np.abs(wrong.mean(axis=0)).max() < 0.01


def test_a_counterfactual_is_right_in_the_mean_and_in_each_row():
    X, sheet, groups, _, _, moves = bent_sheets()
    other = (groups + 1) % 3
    assert informed().confounded_
    with warnings.catch_warnings():
        warnings.simplefilter("error", ExtrapolationWarning)  # moved to the other group, rows are like those there
        shown = informed().counterfactual(X, given=other)
    wrong = (shown - (sheet + moves[other])) / X.std(axis=0)
    assert np.abs(wrong.mean(axis=0)).max() < 0.02
    assert max(np.abs(wrong[groups == g].mean(axis=0)).max() for g in range(3)) < 0.1
    assert np.sqrt(np.mean(wrong**2)) < 0.1


def test_the_counterfactual_of_what_is_the_case_is_the_denoised_row():
    X, _, groups, *_ = bent_sheets()
    model = informed()
    wrong = (model.counterfactual(X, given=groups) - model.denoise(X, given=groups)) / X.std(axis=0)
    assert np.sqrt(np.mean(wrong**2)) < 0.05


def test_knowing_more_reconstructs_better_and_is_more_certain():
    X, _, groups, *_ = bent_sheets()
    model = informed()
    assert model.score(X, given=groups) > 0.99 > 0.8 > model.score(X)
    with_given, without = (model.predictive_variance(model.embedding_, given=g).mean() for g in (groups, None))
    assert with_given < 0.5 * without


def test_another_order_of_the_rows_gives_the_same_map():
    X, _, groups, *_ = bent_sheets()
    order = np.random.default_rng(4).permutation(240)
    model = KernelInformationEmbedding().fit(X[order], given=groups[order])
    assert procrustes(informed().embedding_[order], model.embedding_)[2] < 1e-3


@pytest.mark.parametrize("names", [lambda g: np.array(["x", "c", "m"])[g], lambda g: g == 1, lambda g: 10.0 * g])
def test_what_the_groups_are_called_does_not_matter(names):
    X, _, groups, *_ = bent_sheets()
    groups, X = groups[groups < 2], X[groups < 2]
    first, renamed = (
        KernelInformationEmbedding(conditioning=Conditioning(types="category")).fit(X, given=given).embedding_
        for given in (groups, names(groups))
    )
    assert procrustes(first, renamed)[2] < 1e-3


# Unknown rows, hints, starts, metrics


@pytest.mark.thorough
def test_rows_of_which_something_is_missing_are_placed_among_the_others():
    X, _, groups, arc, *_ = bent_sheets()
    some = np.where(np.arange(240) % 5 == 2, np.nan, groups)
    model = KernelInformationEmbedding(conditioning=Conditioning(types="category")).fit(X, given=some)
    unknown = np.isnan(some)
    assert model.embedding_.shape == (240, 2)
    assert model.path_.shape[1:] == (240, 2)
    np.testing.assert_array_equal(model.path_[-1], model.embedding_)
    np.testing.assert_allclose(model.embedding_[unknown], model.transform(X[unknown]), rtol=1e-12, atol=1e-12)
    alone = KernelInformationEmbedding(conditioning=Conditioning(types="category")).fit(
        X[~unknown], given=some[~unknown]
    )
    Z = model.embedding_[~unknown]
    assert np.abs(Z - alone.embedding_).max() < 0.05 * np.abs(Z).max()
    assert recovery(model.embedding_, arc) > 0.97


def test_a_start_has_a_row_for_every_row_known_or_not():
    X, _, groups, *_ = bent_sheets()
    some = np.where(np.arange(240) % 5 == 2, np.nan, groups)
    start = 0.1 * np.random.default_rng(0).normal(size=(240, 2))
    model = KernelInformationEmbedding(init=start).fit(X, given=some)
    assert np.isfinite(model.embedding_).all()
    with pytest.raises(ValueError, match="init=array of 192 rows does not match the 240 rows of X"):
        KernelInformationEmbedding(init=start[~np.isnan(some)]).fit(X, given=some)


def unlike_curves(n=60):
    """Two groups that share nothing but the parameter: a bend, and another one in other dimensions, run backwards."""
    t = np.linspace(0, 1, n)
    first = np.column_stack([3 * t, np.sin(3 * t), np.zeros(n), np.zeros(n)])
    second = np.column_stack([np.zeros(n), np.zeros(n), 3 * (1 - t), np.cos(3 * t)])
    X = np.concatenate([first, second]) + 0.01 * np.random.default_rng(0).normal(size=(2 * n, 4))
    return X, np.repeat([0, 1], n), np.tile(t, 2)


@pytest.mark.parametrize("solver", ["annealed", "multilevel"])
def test_hints_align_groups_that_do_not_look_alike(solver):
    X, groups, t = unlike_curves()
    hints = [[0, 60], [30, 90], [59, 119]]
    hinted = KernelInformationEmbedding(solver=solver).fit(X, given=groups, same=hints)
    assert recovery(hinted.embedding_, t, groups=groups) > 0.98
    wrapped = KernelInformationEmbedding(solver=solver).fit(X, given=groups, same=Pairs(hints, 120))
    np.testing.assert_array_equal(wrapped.embedding_, hinted.embedding_)


@pytest.mark.parametrize("solver", ["annealed", "multilevel"])
def test_hints_align_distances_too(solver):
    X, groups, t = unlike_curves()
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    hints = [[0, 60], [30, 90], [59, 119]]
    model = KernelInformationEmbedding(metric="precomputed", solver=solver).fit(D, given=groups, same=hints)
    assert recovery(model.embedding_, t, groups=groups) > 0.95


def test_hints_about_no_row_of_which_something_is_known_change_nothing():
    X, _, groups, *_ = bent_sheets()
    some = np.where(np.arange(240) < 6, np.nan, groups)
    first, hinted = (
        KernelInformationEmbedding().fit(X[:120], given=some[:120], same=same).embedding_
        for same in (None, [[0, 1], [2, 4]])
    )
    np.testing.assert_array_equal(first, hinted)


@pytest.mark.thorough
def test_precomputed_distances_know_their_groups_and_place_the_unknown():
    """There is no mean to take from a distance: the balanced kernel alone removes groups that are not far apart."""
    _, sheet, groups, arc, _, moves = bent_sheets()
    X = sheet + 0.25 * moves[groups]
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    some = np.where(np.arange(240) % 5 == 2, np.nan, groups)
    model = KernelInformationEmbedding(metric="precomputed").fit(D, given=some)
    assert rms(model.transform(D) - model.embedding_) < 0.1 * rms(model.embedding_)
    with pytest.warns(UserWarning, match="given=something has no effect with precomputed distances"):
        np.testing.assert_array_equal(model.transform(D[:9]), model.transform(D, given=some)[:9])
    assert recovery(model.embedding_, arc) > 0.95
    without = KernelInformationEmbedding(metric="precomputed").fit(D).embedding_
    assert leakage(model.embedding_, groups).value < leakage(without, groups).value - 0.2
    assert not hasattr(model, "counterfactual")


@pytest.mark.parametrize("parameters", [{"metric": "cosine"}, {"bandwidth": "loo"}, {"bandwidth": 2.0}], ids=str)
def test_other_kernels_and_metrics_remove_the_groups_too(parameters):
    X, _, groups, arc, *_ = bent_sheets()
    model = KernelInformationEmbedding(**parameters).fit(X + 10.0, given=groups)
    assert leakage(model.embedding_, groups).value < 0.6
    assert recovery(model.embedding_, arc) > 0.9
    assert model.score(X + 10.0, given=groups) > 0.9


# Real data


@pytest.mark.thorough
@pytest.mark.data
def test_cars_given_the_object_show_the_angle():
    data = datasets.load_coil20(objects=(2, 5, 18))
    car, angle = data.factors["object_index"], data.factors["angle"]
    model = KernelInformationEmbedding().fit(data.X, given=car)
    assert leakage(model.embedding_, car).excess < 0.07
    error = []
    for name in np.unique(car):
        rows, others = np.flatnonzero(car == name), np.flatnonzero(car != name)
        D = np.linalg.norm(model.embedding_[rows, None] - model.embedding_[None, others], axis=2)
        apart = np.abs(angle[rows] - angle[others[D.argmin(axis=1)]]) % 180
        error.extend(np.minimum(apart, 180 - apart))
    assert np.mean(error) < 5.0


@pytest.mark.data
@pytest.mark.thorough
def test_cars_given_the_angle_show_the_object():
    data = datasets.load_coil20(objects=(2, 5, 18))
    model = KernelInformationEmbedding(conditioning=Conditioning(types="angle")).fit(
        data.X, given=data.factors["angle"]
    )
    assert neighbour_hit(model.embedding_, data.factors["object_index"], n_neighbors=10) > 0.9
    assert recovery(model.embedding_, data.factors["angle"], n_neighbors=10, period=360.0) < 0.05


@pytest.mark.data
@pytest.mark.thorough
def test_cell_lines_whose_batches_are_confounded_with_the_line_are_aligned():
    data = datasets.load_harmony_cell_lines()
    data = data.take(np.random.default_rng(0).permutation(len(data.X))[:800])
    batch, line = data.factors["batch"], data.factors["cell_type"]
    model = KernelInformationEmbedding().fit(data.X, given=batch)
    assert model.confounded_
    assert neighbour_hit(model.embedding_, line, n_neighbors=10) > 0.98
    for name in np.unique(line):
        assert leakage(model.embedding_[line == name], batch[line == name]).excess < 0.05
