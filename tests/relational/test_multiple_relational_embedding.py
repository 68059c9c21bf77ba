"""One map for several kinds of similarity: whose axis is whose, rows that were not told, limits, and bad relations."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import spearmanr
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from threadpoolctl import threadpool_limits

import sidelight
from sidelight import MultipleRelationalEmbedding, Pairs, Relation, Relations
from sidelight.datasets import s_curve
from sidelight.relational._relational_prediction import _ridge


def told(values, share=0.2, seed=0):
    """The values of some rows, and which rows were not told."""
    rng = np.random.default_rng(seed)
    known = rng.uniform(size=len(values)) < share
    return np.where(known, values, np.nan), np.flatnonzero(~known)


def three_factors(n=300, seed=0):
    """Rows of 12 columns bent from three independent factors."""
    rng = np.random.default_rng(seed)
    F = rng.uniform(-1, 1, size=(n, 3))
    flat, curved = np.random.default_rng(9).normal(size=(2, 3, 12))
    return F @ flat + 0.3 * np.sin(2 * F @ curved), F


# what the model finds


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_each_relation_takes_its_own_axis_and_rows_that_were_not_told_follow(seed):
    X, F = three_factors(seed=seed)
    heard = [told(F[:, c], 0.2, seed + c) for c in range(2)]
    relations = {name: Relation.from_values(heard[c][0]) for c, name in enumerate("ab")}
    model = MultipleRelationalEmbedding(3).fit(X, relations=relations)
    assert model.axis_names_ == ["a", "b", ""]
    assert model.relation_shares_[1:].max(axis=1).min() > 0.9
    for axis in range(2):
        rows = heard[axis][1]
        assert spearmanr(model.embedding_[rows, axis], F[rows, axis])[0] > 0.9


def test_names_take_an_axis_and_the_rest_shows_what_they_have_in_common():
    rng = np.random.default_rng(0)
    t, name = rng.uniform(0, 3, 240), np.repeat([0, 1, 2], 80)
    X = np.column_stack([np.cos(t), np.sin(t), 4.0 * name]) + 0.02 * rng.normal(size=(240, 3))
    model = MultipleRelationalEmbedding(2).fit(X, relations={"name": Relation.from_labels(name)})
    assert model.axis_names_ == ["name", ""]
    assert model.relation_shares_[1, 0] > 0.9
    along = model.embedding_[:, 0]
    between = np.var([along[name == c].mean() for c in range(3)])
    assert between > 20 * max(along[name == c].var() for c in range(3))
    assert all(abs(spearmanr(model.embedding_[name == c, 1], t[name == c])[0]) > 0.95 for c in range(3))


def test_an_angle_takes_two_axes():
    rng = np.random.default_rng(1)
    angle = rng.uniform(0, 360, 250)
    turn = np.deg2rad(angle)
    X = np.column_stack([np.cos(turn), np.sin(turn), rng.normal(size=250)]) @ rng.normal(size=(3, 8))
    heard, rows = told(angle, 0.25)
    model = MultipleRelationalEmbedding(3).fit(X, relations={"angle": Relation.from_values(heard, period=360.0)})
    assert model.axis_names_ == ["angle", "angle", ""]
    place = np.rad2deg(np.arctan2(*model.embedding_[rows, 1::-1].T))
    gaps = [(place - sign * angle[rows]) % 360 for sign in (1, -1)]
    spread = min(1 - abs(np.exp(1j * np.deg2rad(gap)).mean()) for gap in gaps)
    assert spread < 0.02


def sets_in_correspondence():
    """Two bent curves of different numbers of columns; their ends are said to correspond."""
    t, u = np.linspace(0, 1, 30), np.linspace(0, 1, 40)
    A = np.column_stack([np.cos(2 * t), np.sin(2 * t), t])
    B = np.column_stack([u, u**2, np.sin(3 * u), np.cos(u), u])
    kind = np.repeat(["a", "b"], [30, 40])
    return (
        A,
        B,
        t,
        u,
        Relations(
            {
                "a": Relation.from_data(A, np.arange(30), n_samples=70, perplexity=5.0),
                "b": Relation.from_data(B, np.arange(30, 70), perplexity=5.0),
                "kind": Relation.from_labels(kind),
                "ends": Relation.from_pairs([[0, 30], [29, 69]], 70),
            }
        ),
    )


def test_sets_without_common_columns_are_aligned_by_two_pairs():
    _, B, t, _, relations = sets_in_correspondence()
    model = MultipleRelationalEmbedding(2).fit(None, relations=relations)
    found = model.inverse_transform(model.embedding_[:30], relation="b", ignore="kind")
    assert spearmanr(found[:, 0], t)[0] > 0.95
    assert np.abs(found[:, 0] - t).max() < 0.2
    assert model.transform(B[:3], relation="b").shape == (3, 2)
    assert not hasattr(model, "denoise")


def test_a_full_transformation_finds_the_axes_too():
    X, F = three_factors(seed=3)
    relations = {name: Relation.from_values(F[:, c]) for c, name in enumerate("abc")}
    model = MultipleRelationalEmbedding(3, transformation="full").fit(X, relations=relations)
    assert sorted(model.axis_names_) == ["a", "b", "c"]
    for axis, name in enumerate(model.axis_names_):
        assert spearmanr(model.embedding_[:, axis], F[:, "abc".index(name)])[0] > 0.95


@pytest.mark.thorough
def test_heavy_tails_find_the_same_axes():
    X, F = three_factors(seed=4)
    heard, rows = told(F[:, 0])
    model = MultipleRelationalEmbedding(3, latent_kernel="student")
    model.fit(X, relations={"a": Relation.from_values(heard)})
    assert spearmanr(model.embedding_[rows, 0], F[rows, 0])[0] > 0.9


def test_more_relations_than_axes_share_them():
    X, F = three_factors(n=120)
    relations = {name: Relation.from_values(F[:, c]) for c, name in enumerate("abc")}
    model = MultipleRelationalEmbedding(2).fit(X, relations=relations)
    assert model.relation_weights_.shape == (4, 2)
    assert np.isfinite(model.embedding_).all()


def test_sparsity_makes_relations_choose_fewer_axes():
    X, F = three_factors(n=150, seed=5)
    mixed = Relation.from_values(np.column_stack([F[:, 0], F[:, 0] + F[:, 1]]))
    shares = [
        (MultipleRelationalEmbedding(3, sparsity=s).fit(X, relations={"mixed": mixed}).relation_shares_[1] ** 2).sum()
        for s in (0.0, 2.0)
    ]
    assert shares[1] > shares[0] + 0.2


def test_a_heavier_relation_is_shown_better():
    X, _ = three_factors(n=150, seed=6)
    noise = Relation.from_values(np.random.default_rng(0).normal(size=150))
    losses = [
        MultipleRelationalEmbedding(2, weights={"noise": weight})
        .fit(X, relations={"noise": noise})
        .history_[-1]["terms"]
        for weight in (0.1, 10.0)
    ]
    assert losses[1]["noise"] < losses[0]["noise"]
    assert losses[1]["data"] > losses[0]["data"]


@pytest.mark.thorough
def test_a_start_of_noise_may_fail_where_ours_does_not():
    X, F = three_factors(seed=7)
    heard, _ = told(F[:, 0], 0.1)
    relations = {"a": Relation.from_values(heard)}
    ours = MultipleRelationalEmbedding(2).fit(X, relations=relations)
    noise = [
        MultipleRelationalEmbedding(2, init="random", random_state=s).fit(X, relations=relations) for s in range(3)
    ]
    assert ours.history_[-1]["objective"] <= min(model.history_[-1]["objective"] for model in noise) + 0.02


# limits


def test_one_relation_seen_as_it_is_equals_stochastic_neighbour_embedding():
    X = np.random.default_rng(0).normal(size=(25, 4))
    start = np.random.default_rng(1).normal(size=(25, 2))
    weights = np.exp(-((X[:, None] - X) ** 2).sum(axis=-1) / 3.0)
    P = weights / weights.sum(axis=1, keepdims=True)

    def sne(z):
        Z = z.reshape(25, 2)
        k = np.exp(-((Z[:, None] - Z) ** 2).sum(axis=-1))
        Q = k / k.sum(axis=1, keepdims=True)
        W = P + P.T - Q - Q.T
        return (P * np.log(P / Q)).sum() / 25, (2 / 25 * (W.sum(axis=1)[:, None] * Z - W @ Z)).ravel()

    by_hand = minimize(sne, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 5000, "ftol": 1e-14})
    relations = {"x": Relation.from_data(X, bandwidth=3.0)}
    model = MultipleRelationalEmbedding(2, transformation="identity", init=start, tol=1e-10, max_iter=5000)
    model.fit(None, relations=relations)
    assert model.history_[-1]["objective"] == pytest.approx(by_hand.fun, abs=1e-5)
    ours, theirs = model.embedding_, by_hand.x.reshape(25, 2)
    gaps = [np.linalg.norm(Z[:, None] - Z, axis=-1) for Z in (ours, theirs)]
    np.testing.assert_allclose(gaps[0], gaps[1], atol=0.02)


def test_nothing_said_is_the_relation_of_the_data():
    X = s_curve(150, random_state=0).X
    plain = MultipleRelationalEmbedding(2).fit(X)
    same = MultipleRelationalEmbedding(2).fit(None, relations={"data": Relation.from_data(X)})
    np.testing.assert_allclose(plain.embedding_, same.embedding_, atol=1e-8)
    assert plain.relation_names_ == ["data"]
    assert plain.axis_names_ == ["", ""]


def test_similarity_is_one_at_the_same_place_and_falls_with_distance():
    X, F = three_factors(n=120, seed=8)
    model = MultipleRelationalEmbedding(2).fit(X, relations={"a": Relation.from_values(F[:, 0])})
    order = np.argsort(F[:, 0])
    assert model.similarity("a", 3, 3) == pytest.approx(1.0)
    near, far = model.similarity("a", order[60], order[61]), model.similarity("a", order[0], order[-1])
    assert 0 <= far < near <= 1
    assert model.similarity("a", np.arange(5)[:, None], np.arange(4)).shape == (5, 4)
    with pytest.raises(ValueError, match="is not a relation of the fit"):
        model.similarity("b", 0, 1)


def test_signs_follow_the_values_and_order_follows_the_relations():
    X, F = three_factors(seed=9)
    for sign in (1.0, -1.0):
        relations = {"b": Relation.from_values(sign * F[:, 1]), "a": Relation.from_values(F[:, 0])}
        model = MultipleRelationalEmbedding(3).fit(X, relations=relations)
        assert model.axis_names_[:2] == ["b", "a"]
        assert spearmanr(model.embedding_[:, 0], sign * F[:, 1])[0] > 0.9


# contracts with relations


def test_the_same_bytes_with_one_and_two_threads():
    """Bytes may be compared: fixed tiles, each on one BLAS thread, are added in the order of the tiles."""
    X, F = three_factors(n=140, seed=10)
    relations = {"a": Relation.from_values(F[:, 0]), "b": Relation.from_labels(np.digitize(F[:, 1], [-0.3, 0.3]))}
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            model = MultipleRelationalEmbedding(2, n_jobs=threads).fit(X, relations=relations)
        found.append(model.embedding_.tobytes())
    assert found[0] == found[1]


def test_a_saved_model_says_the_same(tmp_path):
    A, _, _, _, relations = sets_in_correspondence()
    model = MultipleRelationalEmbedding(2).fit(None, relations=relations)
    sidelight.save(model, tmp_path / "model")
    again = sidelight.load(tmp_path / "model")
    np.testing.assert_array_equal(again.transform(A, relation="a"), model.transform(A, relation="a"))
    assert again.relation_names_ == model.relation_names_
    assert repr(again.relations_) == repr(model.relations_)
    assert again.similarity("kind", 0, 40) == model.similarity("kind", 0, 40)


def test_a_grid_search_cuts_relations_with_the_rows():
    X, F = three_factors(n=90, seed=11)
    relations = Relations(
        {
            "a": Relation.from_values(told(F[:, 0], 0.5)[0]),
            "p": Relation.from_pairs([[0, 5], [3, 8], [50, 70], [60, 80]], 90),
        }
    )
    with config_context(enable_metadata_routing=True):
        model = MultipleRelationalEmbedding(2, max_iter=100, tol=1e-3).set_fit_request(relations=True)
        search = GridSearchCV(model, {"n_components": [1, 2]}, cv=2).fit(X, relations=relations)
    assert search.best_estimator_.relation_names_ == ["data", "a", "p"]


def test_interruption_keeps_the_best_so_far():
    X, F = three_factors(n=100)

    def stop(state):
        if state.iteration == 4:
            raise KeyboardInterrupt
        assert state.embedding.shape == (100, 2)

    model = MultipleRelationalEmbedding(2, callback=stop)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, relations={"a": Relation.from_values(F[:, 0])})
    assert model.embedding_.shape == (100, 2)
    assert model.transform(X[:2]).shape == (2, 2)


@pytest.mark.thorough
def test_many_rows_with_relations_on_all_of_them_stay_in_bounded_memory():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(4000, 2)) @ rng.normal(size=(2, 4))
    relations = {"a": Relation.from_values(X[:, 0]), "b": Relation.from_labels(rng.integers(0, 3, 4000))}
    tracemalloc.start()
    MultipleRelationalEmbedding(2, callback=lambda state: True).fit(X, relations=relations)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 250e6  # one dense (4000, 4000) matrix of a relation would take 128e6, and there are three


# bad relations


def rows(n=40):
    return np.random.default_rng(0).normal(size=(n, 3))


@pytest.mark.parametrize(
    ("relations", "sentence"),
    [
        ({"a": Relation.from_values(np.arange(30.0))}, "does not match the 40 rows"),
        ({"a": np.arange(40)}, "is not a Relation"),
        ([1, 2], "Give {name: Relation}"),
    ],
)
def test_bad_relations_get_a_sentence(relations, sentence):
    with pytest.raises(ValueError, match=sentence):
        MultipleRelationalEmbedding().fit(rows(), relations=relations)


def test_an_empty_relation_is_pointed_out_and_left_out():
    with pytest.warns(UserWarning, match="fewer than two rows to compare, and is left out"):
        model = MultipleRelationalEmbedding().fit(rows(), relations={"a": Relation.from_labels([None] * 40)})
    assert model.relation_names_ == ["data"]


def test_rows_in_no_relation_get_a_sentence():
    with pytest.raises(ValueError, match="rows 3, 4 are in no relation"):
        MultipleRelationalEmbedding().fit(None, relations={"a": Relation.from_labels(["x", "y", "x", None, None])})


def test_nothing_at_all_gets_a_sentence():
    with pytest.raises(ValueError, match="says nothing of how rows are alike"):
        MultipleRelationalEmbedding().fit(None)


@pytest.mark.parametrize(
    ("relation", "sentence"),
    [
        (Relation.from_values(np.ones(40)), "says the same of every row"),
        (Relation.from_labels(["same"] * 40), "says the same of every row"),
        (Relation.from_labels([str(i) for i in range(40)]), "a name of its own for every row"),
    ],
)
def test_relations_that_say_nothing_are_pointed_out_and_harmless(relation, sentence):
    with pytest.warns(UserWarning, match=sentence):
        model = MultipleRelationalEmbedding().fit(rows(), relations={"a": relation})
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.relation_weights_).all()


def test_sets_that_nothing_ties_together_are_pointed_out():
    relations = {"a": Relation.from_data(rows(20), np.arange(20)), "b": Relation.from_data(rows(20), np.arange(20, 40))}
    with pytest.warns(UserWarning, match="2 sets of rows have no row in common"):
        model = MultipleRelationalEmbedding().fit(None, relations=relations)
    assert np.isfinite(model.embedding_).all()


@pytest.mark.parametrize("init", ["relations", "random"])
@pytest.mark.parametrize("transformation", ["diagonal", "full"])
def test_one_pair_comes_together_from_any_start(init, transformation):
    """The two rows that are farthest apart without it."""
    X = rows()
    Z = MultipleRelationalEmbedding().fit(X).embedding_
    apart = np.linalg.norm(Z[:, None] - Z, axis=2)
    i, j = np.unravel_index(apart.argmax(), apart.shape)
    pair = Relation.from_pairs(Pairs([[i, j]], 40), 40)
    for seed in range(3 if init == "random" else 1):
        model = MultipleRelationalEmbedding(init=init, transformation=transformation, random_state=seed)
        model.fit(X, relations={"same": pair})
        assert np.linalg.norm(model.embedding_[i] - model.embedding_[j]) < 0.15 * apart[i, j]
        np.testing.assert_allclose(model.relation_weights_[1], model.relation_weights_[0], rtol=1e-6)


def test_one_pair_beside_labels_alone_is_seen_through_these():
    relations = {"class": Relation.from_labels(np.arange(40) % 3), "same": Relation.from_pairs([[0, 1]], 40)}
    model = MultipleRelationalEmbedding().fit(None, relations=relations)
    np.testing.assert_allclose(model.transformations_[1], model.transformations_[0], atol=1e-6)


def test_pairs_alone_coincide():
    relations = {"a": Relation.from_pairs([[0, 1]], 3), "b": Relation.from_pairs([[1, 2]], 3)}
    model = MultipleRelationalEmbedding().fit(None, relations=relations)
    assert model.similarity("a", 0, 1) > 0.99
    assert model.similarity("b", 1, 2) > 0.99


def test_two_relations_of_one_pair_align_two_sets():
    """Fig. 4.3: two sets without common columns, which set, and two relations of a pair each."""
    t, u = np.linspace(0, 1, 30), np.linspace(0, 1, 40)
    curves = np.column_stack([t, t**2, np.sin(3 * t)]), np.column_stack([np.cos(2 * u), u])
    relations = {
        "class": Relation.from_labels(np.arange(70) >= 30),
        "a": Relation.from_data(curves[0], np.arange(30), n_samples=70),
        "b": Relation.from_data(curves[1], np.arange(30, 70), n_samples=70),
        "first": Relation.from_pairs([[0, 30]], 70),
        "last": Relation.from_pairs([[29, 69]], 70),
    }
    model = MultipleRelationalEmbedding(2).fit(None, relations=relations)
    shared = model.embedding_[:, int(model.relation_shares_[0].argmin())]
    nearest = np.abs(shared[:30, None] - shared[None, 30:]).argmin(axis=1)
    assert spearmanr(t, u[nearest])[0] > 0.95
    assert abs(shared[0] - shared[30]) < 0.05 * np.ptp(shared)
    assert model.relation_shares_[3:].argmax(axis=1).tolist() == [int(model.relation_shares_[0].argmin())] * 2


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"transformation": "round"}, "transformation=round"),
        ({"sparsity": -1.0}, "sparsity=-1"),
        ({"sparsity": 1.0, "transformation": "full"}, "needs a weight for each axis"),
        ({"weights": {"b": 1.0}}, "is not the name of a relation"),
        ({"weights": {"a": -1.0}}, r"weights\['a'\]=-1"),
        ({"init": np.zeros((3, 2))}, "init=array of 3 rows"),
        ({"init": "far"}, "init=far"),
        ({"latent_kernel": "quartic"}, "latent_kernel=quartic"),
    ],
)
def test_bad_parameters_get_a_sentence(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        MultipleRelationalEmbedding(**parameters).fit(rows(), relations={"a": Relation.from_values(np.arange(40.0))})


def test_features_of_several_relations_must_be_named():
    _, B, _, _, relations = sets_in_correspondence()
    model = MultipleRelationalEmbedding(2).fit(None, relations=relations)
    with pytest.raises(ValueError, match="leaves open whose features"):
        model.transform(B)
    with pytest.raises(ValueError, match="has no features to map"):
        model.transform(B, relation="kind")
    with pytest.raises(ValueError, match="does not match the 3 features"):
        model.transform(B, relation="a")


def test_relations_alone_have_a_latent_density_and_no_map_that_needs_data():
    labels = Relation.from_labels(np.arange(30) % 3)
    with pytest.warns(ConvergenceWarning):
        model = MultipleRelationalEmbedding(max_iter=5).fit(None, relations={"class": labels})
    logs = model.latent_log_density(model.embedding_)
    assert logs.shape == (30,)
    assert np.isfinite(logs).all()
    assert (logs > model.latent_log_density(model.embedding_ + 100 * np.ptp(model.embedding_))).all()
    for name in ("transform_mode", "inverse_transform_mode", "denoise", "sample", "score_samples", "score"):
        assert not hasattr(model, name)
        assert hasattr(MultipleRelationalEmbedding(), name)  # it may yet be fitted with data


def test_a_start_too_far_out_is_refused():
    X, _ = three_factors(40)
    with pytest.raises(ValueError, match=r"init=1e\+200 is 1e12 widths of the latent kernel or more away"):
        MultipleRelationalEmbedding(init=np.full((40, 2), 1e200)).fit(X)


# relations that are extended to rows that were not told


def groups(n=150, seed=0):
    """Five groups in 4 columns, and six of noise, which hide them; and which rows are told their group."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 5
    X = np.hstack([3.0 * np.random.default_rng(9).normal(size=(5, 4))[y], np.zeros((n, 6))])
    X += rng.normal(size=(n, 10)) * np.repeat([1.0, 2.0], [4, 6])
    return X, y, np.sort(rng.choice(n, n // 5, replace=False))


def nearest_told(points, y, known):
    rest = np.setdiff1d(np.arange(len(y)), known)
    near = ((points[rest, None] - points[known]) ** 2).sum(axis=2).argmin(axis=1)
    return np.mean(y[known][near] == y[rest])


@pytest.mark.parametrize("seed", range(3))
def test_rows_without_labels_lie_with_their_group_at_least_as_often_as_by_the_nearest_row(seed):
    X, y, known = groups(seed=seed)
    relations = {"group": Relation.from_labels(y[known], known, n_samples=len(X))}
    model = MultipleRelationalEmbedding(2, tol=1e-4).fit(X, relations=relations)
    assert nearest_told(model.embedding_, y, known) >= nearest_told(X, y, known)
    assert 0.5 < model.relation_scores_["group"] <= 1
    assert model.relations_["group"].index.tolist() == known.tolist()


def test_without_extension_no_relation_is_predicted():
    X, y, known = groups()
    relations = {"group": Relation.from_labels(y[known], known, n_samples=len(X))}
    Z = {
        extend: MultipleRelationalEmbedding(2, extend=extend, tol=1e-4).fit(X, relations=relations)
        for extend in (True, False)
    }
    assert Z[False].relation_scores_ == {}
    assert nearest_told(Z[False].embedding_, y, known) < nearest_told(Z[True].embedding_, y, known)


def test_labels_and_values_that_the_data_does_not_tell_are_not_extended():
    rng = np.random.default_rng(0)
    X, known = rng.normal(size=(100, 3)), np.arange(0, 100, 4)
    relations = {
        "coin": Relation.from_labels(np.arange(25) % 2, known, n_samples=100),
        "noise": Relation.from_values(rng.normal(size=25), known, n_samples=100),
    }
    model = MultipleRelationalEmbedding(2, tol=1e-3).fit(X, relations=relations)
    assert set(model.relation_scores_) < {"coin", "noise"}


def test_values_of_rows_that_were_not_told_are_those_of_a_regression():
    X, F = three_factors(n=200)
    heard, rest = told(F[:, 0], 0.1)
    model = MultipleRelationalEmbedding(2).fit(X, relations={"a": Relation.from_values(heard)})
    known = np.setdiff1d(np.arange(200), rest)
    linear = np.column_stack([X, np.ones(200)])
    guess = linear @ np.linalg.lstsq(linear[known], F[known, 0], rcond=1e-3)[0]
    ours, rival = (abs(spearmanr(found[rest], F[rest, 0])[0]) for found in (model.embedding_[:, 0], guess))
    assert ours > rival - 0.02
    assert model.relation_scores_["a"] > 0.8


def test_leave_one_out_is_what_a_fit_without_the_row_predicts():
    X, F = three_factors(n=60)
    known = np.arange(0, 60, 3)
    columns = np.exp(-((X[:, None] - X[known]) ** 2).sum(axis=2) / 20.0)
    targets = F[known, :1] - F[known, :1].mean()
    fit = _ridge(columns, known, targets)
    K = columns[known]
    errors = []
    for ridge in 10.0 ** np.arange(1.0, -9.0, -1.0):
        left_out = []
        for i in range(len(known)):
            others = np.delete(np.arange(len(known)), i)
            alpha = np.linalg.solve(K[np.ix_(others, others)] + ridge * np.eye(len(others)), targets[others])
            left_out.append(K[i, others] @ alpha)
        errors.append((np.mean((np.array(left_out) - targets) ** 2), np.array(left_out)))
    best = min(errors, key=lambda entry: entry[0])
    assert fit.error == pytest.approx(best[0], rel=1e-5)
    np.testing.assert_allclose(fit.left_out, best[1], atol=1e-5)
