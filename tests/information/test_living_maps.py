"""Rows join and leave a fitted map; the others stay, and the model is one of all rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import sidelight
from sidelight import KernelInformationEmbedding
from sidelight.information import _living_mixin
from sidelight.information._extension import resolution_of
from sidelight.information._held_rows import HeldRows, settle_rows
from sidelight.information._regions import own_regions, region_starts
from sidelight.kernels.data_kernel import perplexity_kernel
from sidelight.kernels.profiles import profile

CENTRES = 12.0 * np.eye(4, 6)


def blobs(n, kinds=(0, 1, 2), seed=0):
    """Rows (n, 6) of some of four kinds, far apart, and the kind of each."""
    rng = np.random.default_rng(seed)
    kind = np.asarray(kinds)[np.arange(n) % len(kinds)]
    return CENTRES[kind] + rng.normal(size=(n, 6)), kind


def model(**options):
    return KernelInformationEmbedding(solver="multilevel", max_iter=40, tol=1e-4, random_state=0, **options)


@pytest.fixture(scope="module")
def fitted():
    return model().fit(blobs(240)[0])


def copied(fitted, tmp_path):
    """A model of its own, from a file."""
    sidelight.save(fitted, tmp_path / "model.sidelight")
    return sidelight.load(tmp_path / "model.sidelight")


def neighbours_of_own_kind(Z, kind, k=5):
    near = np.argsort(((Z[:, None] - Z) ** 2).sum(axis=2), axis=1)[:, 1 : k + 1]
    return float((kind[near] == kind[:, None]).mean())


def test_new_rows_join_and_the_others_stay_to_the_bit(fitted, tmp_path):
    """Bytes may be compared: places of present rows are copied, not computed."""
    living, before = copied(fitted, tmp_path), fitted.embedding_.copy()
    X, kind = blobs(60, seed=1)
    assert living.extend(X) is living
    assert living.embedding_[:240].tobytes() == before.tobytes()
    assert neighbours_of_own_kind(living.embedding_, np.r_[blobs(240)[1], kind]) > 0.95
    np.testing.assert_allclose(living.transform(X), living.embedding_[240:], atol=1e-9)
    np.testing.assert_allclose(living.transform(blobs(240)[0]), before, atol=1e-9)
    assert living.inverse_transform(living.embedding_).shape == (300, 6)
    assert [v["change"] for v in living.versions_] == ["fit", "extend"]
    assert (living.versions_[1]["rows"], living.versions_[1]["added"], living.versions_[1]["moved"]) == (300, 60, 0.0)


@pytest.mark.thorough
def test_one_and_two_threads_extend_to_the_same_bytes(fitted, tmp_path):
    """Bytes may be compared: fixed tiles in fixed order."""
    places = []
    for jobs in (1, 2):
        living = copied(fitted, tmp_path).set_params(n_jobs=jobs).extend(blobs(60, seed=1)[0])
        places.append(living.embedding_.tobytes())
    assert places[0] == places[1]


def test_a_new_kind_is_flagged_and_gets_a_region_that_moves_nobody(fitted, tmp_path):
    living, before = copied(fitted, tmp_path), fitted.embedding_.copy()
    new, kind = blobs(100, kinds=(0, 3), seed=2)
    living.extend(new)
    own = kind == 3
    assert living.novel_[240:][own].all()
    assert (living.region_[240:][own] == 1).all()
    assert not living.region_[240:][~own].any()
    assert living.embedding_[:240].tobytes() == before.tobytes()
    region, rest = living.embedding_[240:][own], np.r_[before, living.embedding_[240:][~own]]
    apart = np.sqrt(((region[:, None] - rest) ** 2).sum(axis=2)).min()
    assert apart > 1.0  # widths of the latent kernel
    drift = living.drift_[0]
    assert drift["novel_share"] >= 0.5 > drift["false_alarm"] == 0.01
    assert drift["novel_by_chance"] < 1e-6
    assert drift["shift"] > 3 * drift["expected_shift"]


@pytest.mark.thorough
def test_too_few_novel_rows_wait_for_more_of_their_kind(fitted, tmp_path):
    living = copied(fitted, tmp_path)
    living.extend(blobs(40, kinds=(0, 1, 2, 3), seed=3)[0])
    assert living.novel_[240:].sum() >= 10
    assert not living.region_.any()
    before = living.embedding_.copy()
    living.extend(blobs(60, kinds=(1, 3), seed=4)[0])
    waiting = np.flatnonzero(living.novel_[:280])
    assert (living.region_[waiting] == 1).mean() > 0.8
    others = np.setdiff1d(np.arange(280), waiting)
    assert living.embedding_[others].tobytes() == before[others].tobytes()
    assert living.versions_[2]["moved"] == 0.0


@pytest.mark.thorough
def test_the_more_rows_are_held_the_less_they_move(fitted, tmp_path):
    moved = []
    for hold in (1.0, 1e4):
        living = copied(fitted, tmp_path).extend(blobs(60, seed=1)[0], hold=hold)
        moved.append(living.versions_[1]["moved"])
    assert moved[0] > 10 * moved[1] > 0


def test_rows_are_forgotten_and_the_others_stay(fitted, tmp_path):
    living, before = copied(fitted, tmp_path), fitted.embedding_.copy()
    gone = blobs(240)[1] == 2
    living.forget(gone)
    assert living.embedding_.tobytes() == before[~gone].tobytes()
    np.testing.assert_allclose(living.transform(blobs(240)[0][~gone]), before[~gone], atol=1e-9)
    assert living.is_novel(blobs(60, kinds=(2,), seed=5)[0], false_alarm=0.02).all()
    assert living.versions_[-1]["forgotten"] == gone.sum()
    living.forget([0, -1])
    assert len(living.embedding_) == (~gone).sum() - 2


@pytest.mark.thorough
def test_versions_drift_and_regions_are_saved(fitted, tmp_path):
    living = copied(fitted, tmp_path).extend(blobs(100, kinds=(0, 3), seed=2)[0])
    again = copied(living, tmp_path)
    assert again.versions_ == living.versions_
    assert again.drift_ == living.drift_
    np.testing.assert_array_equal(again.region_, living.region_)
    np.testing.assert_array_equal(again.novel_, living.novel_)
    Q = blobs(9, seed=7)[0]
    assert again.transform(Q).tobytes() == living.transform(Q).tobytes()  # the same arrays, read from a file
    assert again.extend(Q, least=5).versions_[-1]["version"] == 2
    assert not hasattr(living.fit(blobs(60)[0]), "versions_")


@pytest.mark.thorough
def test_given_is_factored_out_of_the_new_rows_too():
    X, kind = blobs(240)
    batch = np.arange(240) // 3 % 2
    X = X + 30.0 * batch[:, None] * np.eye(6)[5]
    living = model().fit(X[:180], given=batch[:180].astype(str))
    before = living.embedding_.copy()
    living.extend(X[180:], given=batch[180:].astype(str))
    assert living.embedding_[:180].tobytes() == before.tobytes()
    assert neighbours_of_own_kind(living.embedding_, kind) > 0.9
    assert living.given_features_.shape == (240, 2)
    moved = living.counterfactual(X[180:190], given="1")
    assert abs(moved[:, 5].mean() - 30.0) < 5.0
    with pytest.raises(ValueError, match="given=None would leave the effect"):
        living.extend(X[:5])
    with pytest.raises(ValueError, match="given=NaN is missing in 1 row"):
        living.extend(X[:2], given=["0", None])


def test_an_extension_that_fails_changes_nothing(fitted, monkeypatch, tmp_path):
    living = copied(fitted, tmp_path)
    before = dict(vars(living))
    with pytest.raises(ValueError, match="features"):
        living.extend(np.ones((3, 5)))
    with pytest.raises(ValueError, match="hold=-1"):
        living.extend(blobs(9)[0], hold=-1)

    def fails(*_):
        raise RuntimeError("half way")

    monkeypatch.setattr(_living_mixin, "drift_of", fails)
    with pytest.raises(RuntimeError, match="half way"):
        living.extend(blobs(9)[0])
    assert all(vars(living)[name] is value for name, value in before.items())
    assert vars(living).keys() == before.keys()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"solver": "annealed"}, "solver=annealed fits all rows at once"),
        ({"solver": "annealed", "bandwidth": 2.0}, "solver=annealed fits all rows at once"),
        ({"metric": "cosine"}, "metric=cosine keeps no rows"),
        ({"missing": "impute"}, "missing=impute imputed the fitted rows from each other"),
    ],
)
def test_models_that_cannot_be_extended_say_so(options, message):
    X = blobs(60)[0]
    refused = model().set_params(**options).fit(X)
    with pytest.raises(ValueError, match=message):
        refused.extend(X[:5])
    with pytest.raises(ValueError, match=message):
        refused.forget([0])


@pytest.mark.parametrize(("rows", "message"), [([240], "does not select rows"), (np.arange(220), "leaves 20 rows")])
def test_rows_that_cannot_be_forgotten_are_refused(fitted, rows, message):
    with pytest.raises(ValueError, match=message):
        fitted.forget(rows)


def test_settling_moves_free_rows_only_and_lowers_their_objective():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    K = perplexity_kernel(X, 10.0, None, n_jobs=1).matrix
    start, free = 3.0 * rng.normal(size=(80, 2)), np.arange(80) >= 60
    settings = {"max_iter": 20, "tolerance": 1e-6, "n_jobs": 1}
    K = csr_array(np.asarray(K.toarray() if hasattr(K, "toarray") else K))
    found = settle_rows(K, None, start, HeldRows(free), profile("student"), 1.5, **settings)
    np.testing.assert_array_equal(found.places[~free], start[~free])
    assert (found.places[free] != start[free]).all()
    loose = settle_rows(K, None, start, HeldRows(free, 1.0), profile("student"), 1.5, **settings)
    assert (loose.places != start).all()


def test_regions_need_linked_rows_enough_of_them_and_more_flags_than_chance():
    n = 100
    new = np.arange(n) >= 60
    kind = np.where(new, 1, 0)
    K = (kind[:, None] == kind).astype(float)
    K, flagged = csr_array(K), new.copy()
    assert (own_regions(K, new, flagged, 0.01, 30) == new).all()
    assert not own_regions(K, new, flagged, 0.01, 41).any()
    assert not own_regions(K, new, np.arange(n) >= 98, 0.01, 30).any()  # 2 of 40: too few flags for a new kind
    assert not own_regions(csr_array(np.ones((n, n))), new, flagged, 0.01, 30).any()


@pytest.mark.parametrize("q", [1, 2, 5])
def test_a_region_starts_in_free_space(q):
    rng = np.random.default_rng(0)
    places, rows = 5.0 * rng.normal(size=(300, q)), rng.normal(size=(50, 7))
    start = region_starts(rows, places[:50], places)
    apart = np.sqrt(((start[:, None] - places) ** 2).sum(axis=2))
    assert start.shape == (50, q)
    assert apart.min() > 0.5


def test_the_resolution_grows_by_powers_of_two():
    assert [resolution_of(n, 1000, 1) for n in (500, 1000, 1999, 2900)] == [1.0, 1.0, 2.0, 4.0]


@pytest.mark.thorough
def test_tables_are_matched_by_name_and_single_precision_stays(recwarn):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(blobs(180)[0].astype(np.float32), columns=list("abcdef"))
    living = model().fit(table[:120])
    before = living.embedding_.copy()
    living.extend(table[120:])
    assert living.embedding_.dtype == np.float32
    assert living.embedding_[:120].tobytes() == before.tobytes()
    assert not [warned for warned in recwarn if "feature names" in str(warned.message)]
    with pytest.raises(ValueError, match="feature names"):
        living.extend(table[["b", "a", "c", "d", "e", "f"]])
