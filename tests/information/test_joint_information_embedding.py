"""Two views of the same rows: what they share, what is forgotten, and the way from each to the other."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from threadpoolctl import threadpool_limits

import sidelight
from sidelight import Annealing, JointInformationEmbedding
from sidelight.maps.weights import FixedWeights


def two_views(n=300, shared=1, seed=0):
    """X shows (s, a) and Y shows (s, b), both through bent maps; only s is shared."""
    rng = np.random.default_rng(seed)
    s, a, b = rng.uniform(-1, 1, (n, shared)), rng.uniform(-1, 1, (n, 1)), rng.uniform(-1, 1, (n, 1))
    bend = np.random.default_rng(7)

    def seen(U, d):
        flat, curved = bend.normal(size=(2, U.shape[1], d))
        return U @ flat + 0.5 * np.sin(3 * U @ curved) + 0.1 * rng.normal(size=(n, d))

    return seen(np.hstack([s, a]), 10), seen(np.hstack([s, b]), 8), s, a, b


def known_from(Z, factor):
    """R² of a factor by its neighbours in Z, every other row held out."""
    guess = KNeighborsRegressor(8).fit(Z[::2], factor[::2]).predict(Z[1::2])
    return r2_score(factor[1::2], guess)


def curves(n=240, n_pairs=12, seed=0):
    """Two bent curves with a common parameter: 12 pairs, and as many rows seen once on either side."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, 4, n)
    X = np.column_stack([np.cos(t), np.sin(t), 0.3 * t])
    Y = np.column_stack([t + np.sin(2 * t), np.cos(t), np.sin(3 * t)])
    half = n_pairs + (n - n_pairs) // 2
    X_seen, Y_seen = X.copy(), Y.copy()
    X_seen[half:], Y_seen[n_pairs:half] = np.nan, np.nan
    return X, Y, X_seen, Y_seen


# what the model finds


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("q", [1, 2])
def test_what_the_views_share_is_found_and_what_each_shows_alone_is_forgotten(q, seed):
    X, Y, s, a, b = two_views(seed=seed)
    Z = JointInformationEmbedding(q).fit_transform(X, Y)
    assert known_from(Z, s) > 0.97
    assert known_from(Z, a) < 0.2
    assert known_from(Z, b) < 0.2
    assert known_from(X, a) > 0.9


def test_the_published_objective_finds_what_is_shared():
    X, Y, s, *_ = two_views()
    assert known_from(JointInformationEmbedding(1, objective="joint").fit_transform(X, Y), s) > 0.97


@pytest.mark.parametrize("objective", ["alternating", "joint"])
@pytest.mark.thorough
def test_every_start_ends_at_the_same_value(objective):
    X, Y, *_ = two_views(200, shared=2)
    starts = [{"init": "spectral"}, *({"init": "random", "random_state": seed} for seed in range(2))]
    ends = [JointInformationEmbedding(objective=objective, **start).fit(X, Y) for start in starts]
    values = [model.history_[-1]["objective"] for model in ends]
    assert np.ptp(values) < 1e-3 * abs(np.mean(values))
    distances = [np.linalg.norm(m.embedding_[:, None] - m.embedding_[None], axis=2) for m in ends]
    for other in distances[1:]:
        assert np.corrcoef(distances[0].ravel(), other.ravel())[0, 1] > 0.99


def test_the_views_may_change_places():
    X, Y, *_ = two_views(150)
    one, other = JointInformationEmbedding(1).fit(X, Y), JointInformationEmbedding(1).fit(Y, X)
    turned = np.sign(np.vdot(one.embedding_, other.embedding_)) * other.embedding_
    np.testing.assert_allclose(turned, one.embedding_, atol=1e-3 * np.abs(one.embedding_).max())
    assert np.abs(np.corrcoef(one.transform_view(Y, 1)[:, 0], other.transform(Y)[:, 0])[0, 1]) > 0.999


@pytest.mark.thorough
def test_a_view_seen_twice_is_the_view_itself():
    X, *_ = two_views()
    twice, once = JointInformationEmbedding(2).fit(X, X), JointInformationEmbedding(2, perplexity=40).fit(X)
    assert twice.score(X, X) > 0.9
    np.testing.assert_array_equal(twice.transform_view(X, 1), twice.transform(X))
    np.testing.assert_array_equal(
        twice.inverse_transform_view(twice.embedding_, 1), twice.inverse_transform(twice.embedding_)
    )
    assert twice.score(X) > once.score(X) - 0.1


def test_few_pairs_and_unpaired_rows_beat_regression_on_the_pairs():
    X, Y, X_seen, Y_seen = curves()
    model = JointInformationEmbedding(2).fit(X_seen, Y_seen)
    assert model.n_pairs_ == 12
    hidden = slice(12, 126)
    smoothers = [FixedWeights(X[:12], width).average(X[hidden], Y[:12]) for width in (0.03, 0.1, 0.3, 1.0)]
    best = min(((guess - Y[hidden]) ** 2).mean() for guess in smoothers)
    assert ((model.predict(X[hidden]) - Y[hidden]) ** 2).mean() < 0.6 * best


def test_without_y_it_is_the_plain_information_embedding():
    X, *_ = two_views(120)
    options = {"regularization": 0.3, "random_state": 0}
    start = X[:, :2] / 5
    plain = sidelight.KernelInformationEmbedding(init=start, **options).fit(X)
    alone = JointInformationEmbedding(init=start, **options).fit(X)
    np.testing.assert_array_equal(alone.embedding_, plain.embedding_)
    assert not hasattr(alone, "predict")
    with pytest.raises(
        ValueError, match=r"view=1 is not a view of this model\. Give 0: the model was fitted without y"
    ):
        alone.transform_view(X, 1)


# the ways from view to view


def test_a_second_view_of_one_dimension_is_predicted_in_one_dimension():
    X, _, s, *_ = two_views(120)
    model = JointInformationEmbedding(1).fit(X, s[:, 0])
    assert model.predict(X[:7]).shape == (7,)
    assert model.inverse_transform_view(model.embedding_[:7], 1).shape == (7,)
    assert model.transform_view(s[:7, 0], 1).shape == (7, 1)
    np.testing.assert_allclose(JointInformationEmbedding(1).fit(X, s).predict(X)[:, 0], model.predict(X))


def test_the_score_is_r2_over_the_rows_that_have_y():
    X, Y, *_ = two_views(160)
    model = JointInformationEmbedding().fit(X[:100], Y[:100])
    wanted = r2_score(Y[100:], model.predict(X[100:]), multioutput="variance_weighted")
    assert model.score(X[100:], Y[100:]) == pytest.approx(wanted)
    partial = Y[100:].copy()
    partial[20:] = np.nan
    assert model.score(X[100:], partial) == pytest.approx(model.score(X[100:120], Y[100:120]))
    with pytest.raises(ValueError, match=r"y=only NaN has nothing to compare with"):
        model.score(X[100:], np.full((60, 8), np.nan))


def test_every_way_answers_row_by_row():
    X, Y, X_seen, Y_seen = curves()
    model = JointInformationEmbedding(2).fit(X_seen, Y_seen)
    ways = (
        (model.predict, X),
        (lambda V: model.transform_view(V, 1), Y),
        (lambda Z: model.inverse_transform_view(Z, 1), model.embedding_ + 0.01),
    )
    for way, rows in ways:
        together = way(rows[:9])
        alone = np.concatenate([way(rows[i : i + 1]) for i in range(9)])
        np.testing.assert_allclose(alone, together, rtol=1e-12, atol=1e-12 * np.abs(together).max())


OTHER_NUMBERS = pytest.param({"bandwidth": (0.5, 1.0)}, marks=pytest.mark.slow)  # the sums over tiles are those of {}


@pytest.mark.parametrize("options", [{}, {"objective": "joint"}, OTHER_NUMBERS], ids=str)
@pytest.mark.thorough
def test_a_seed_gives_the_same_bytes_with_one_and_two_threads_and_from_a_file(options, tmp_path):
    """Bytes may be compared: fixed tiles, each on one BLAS thread, are added in the order of the tiles."""
    X, Y, X_seen, Y_seen = curves(600, 430)  # 515 rows of either view: two tiles
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            quick = {"n_jobs": threads, "max_iter": 6, "tol": 1e-2}
            model = JointInformationEmbedding(2, **quick, **options).fit(X_seen, Y_seen)
            found.append([model.embedding_.tobytes(), model.predict(X).tobytes(), model.transform_view(Y, 1).tobytes()])
    assert found[0] == found[1]
    sidelight.save(model, tmp_path / "model")
    loaded = sidelight.load(tmp_path / "model")
    assert [loaded.predict(X).tobytes(), loaded.transform_view(Y, 1).tobytes()] == found[0][1:]
    assert loaded.n_pairs_ == 430


def test_float32_in_float32_out_both_ways():
    X, Y, *_ = two_views(90)
    model = JointInformationEmbedding().fit(X.astype(np.float32), Y.astype(np.float32))
    assert model.predict(X.astype(np.float32)).dtype == np.float32
    assert model.transform_view(Y.astype(np.float32), 1).dtype == np.float32


@pytest.mark.thorough
def test_grid_search_goes_through_rows_without_a_second_view():
    X, Y, *_ = two_views(150)
    partial = Y.copy()
    partial[::3] = np.nan
    search = GridSearchCV(JointInformationEmbedding(1), {"regularization": [0.1, 30.0]}, cv=3).fit(X, partial)
    assert search.best_params_ == {"regularization": 0.1}
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


# what is refused, and what is said


def paired(n_pairs, n=60):
    X, Y, *_ = two_views(n)
    Y[n_pairs:] = np.nan
    return X, Y


def test_a_second_view_without_numbers_is_refused():
    with pytest.raises(ValueError, match=r"JointInformationEmbedding: y=0 rows is too few .* Give two or more\."):
        JointInformationEmbedding().fit(*paired(0))
    with pytest.raises(ValueError, match="y=1 row is too few"):
        JointInformationEmbedding().fit(*paired(1))


def test_views_without_a_common_row_are_refused():
    X, Y = paired(30)
    X[:30] = np.nan
    with pytest.raises(ValueError, match=r"y=30 rows shares no row with X, .* Pair 3 rows or more\."):
        JointInformationEmbedding().fit(X, Y)


def test_one_pair_is_fitted_with_a_warning():
    X, Y = paired(30)
    X[1:30] = np.nan
    with pytest.warns(
        UserWarning, match=r"y=1 pair does not determine the rotation of one view against the other\. Pair 3 rows"
    ):
        model = JointInformationEmbedding().fit(X, Y)
    assert np.isfinite(model.predict(X[30:])).all()


def test_a_constant_view_says_nothing_and_that_is_said():
    X, _ = paired(60)
    with pytest.warns(UserWarning, match=r"y=constant is the same in every row, .* Leave it out\."):
        model = JointInformationEmbedding(init=X[:, :2]).fit(X, np.full((60, 2), 3.0))
    np.testing.assert_array_equal(model.predict(X[:4]), np.full((4, 2), 3.0))
    with pytest.warns(UserWarning, match="X=constant is the same in every row"):
        turned = JointInformationEmbedding().fit(np.ones((60, 2)), X)
    assert known_from(turned.embedding_, X) > 0.5


def test_half_a_row_and_a_row_that_nobody_saw_are_refused():
    X, Y = paired(60)
    Y[7, 2] = np.nan
    with pytest.raises(ValueError, match=r"y=row 7 has NaN beside numbers; a row without this view must be all NaN"):
        JointInformationEmbedding().fit(X, Y)
    X[9], Y[9], Y[7] = np.nan, np.nan, np.nan
    with pytest.raises(ValueError, match=r"X=row 9 is NaN in both views\. Leave such rows out\."):
        JointInformationEmbedding().fit(X, Y)


def test_views_of_other_sizes_are_said():
    X, Y = paired(60)
    with pytest.raises(ValueError, match="y=array of 9 rows does not match the 60 rows of X"):
        JointInformationEmbedding().fit(X, Y[:9])
    model = JointInformationEmbedding(1).fit(X, Y)
    with pytest.raises(ValueError, match="V=3 columns does not match the 8 of view 1"):
        model.transform_view(Y[:, :3], 1)
    with pytest.raises(ValueError, match=r"view=2 is not a view of this model\. Give 0 \(X\) or 1 \(y\)\."):
        model.inverse_transform_view(model.embedding_, 2)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_components", 0),
        ("objective", "shared"),
        ("bandwidth", "wide"),
        ("bandwidth", (1.0, -2.0)),
        ("bandwidth", (1.0, 2.0, 3.0)),
        ("perplexity", 0.5),
        ("n_neighbors", 0),
        ("latent_kernel", "delta"),
        ("regularization", 0.0),
        ("penalty", "l1"),
        ("init", "mds"),
        ("max_iter", 0),
        ("tol", 0.0),
    ],
)
def test_a_bad_parameter_is_named_with_its_value_and_a_way_out(name, value):
    with pytest.raises(ValueError, match=rf"^JointInformationEmbedding: {name}=.* is not .*\. (Give|Choose) .*\.$"):
        JointInformationEmbedding(**{name: value}).fit(*paired(60))


@pytest.mark.parametrize("option", [{"start": -1.0}, {"decay": 1.0}], ids=str)
def test_a_bad_option_is_named_with_its_parameter(option):
    (name,) = option
    message = rf"^JointInformationEmbedding: regularization\.{name}=.* is not a number in range\. Give .*\.$"
    with pytest.raises(ValueError, match=message):
        JointInformationEmbedding(regularization=Annealing(0.1, **option)).fit(*paired(60))


def test_ctrl_c_keeps_the_best_so_far_and_a_callback_stops():
    X, Y = paired(60)

    def interrupt(state):
        if state.stage == 2:
            raise KeyboardInterrupt

    model = JointInformationEmbedding(callback=interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert np.isfinite(model.predict(X)).all()
    assert JointInformationEmbedding(callback=lambda state: True).fit(X, Y).n_iter_ == 1


def test_cost_grows_with_the_rows_and_a_dense_kernel_costs_more():
    small, large = (JointInformationEmbedding().estimate_cost(n, 10) for n in (1000, 30_000))
    dense = JointInformationEmbedding(bandwidth=(1.0, "perplexity")).estimate_cost(30_000, 10)
    assert small.bytes < large.bytes < dense.bytes
    assert small.seconds < large.seconds < dense.seconds
