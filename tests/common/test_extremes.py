"""Numbers near the ends of double precision: refused at the door with a sentence, or answered without overflow."""

from __future__ import annotations

import functools
import time

import numpy as np
import pandas as pd
import pytest
from optional_torch import TORCH_THERE, gated
from registry import DISTANCES, METRICS, MIXTURES, TORCH, VARIANTS, blobs, fitted
from scipy.sparse import csr_array

import sidelight
from sidelight import (
    CoordinatedCCA,
    DistanceMetric,
    HybridEmbedding,
    JointInformationEmbedding,
    KernelInformationEmbedding,
    MultipleRelationalEmbedding,
    Relation,
    SemidefiniteEmbedding,
    TwoWayEmbedding,
    UnsupervisedKernelRegression,
)
from sidelight.base.validation import LIMIT, refuse_too_large

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
LARGEST = np.finfo(np.float64).max
EVERY = {**VARIANTS, **DISTANCES, **METRICS, **MIXTURES, **TORCH}
every = pytest.mark.parametrize("make", EVERY.values(), ids=EVERY.keys())
QUICK = {name: VARIANTS[name] for name in ("kie", "joint", "smoother", "ukr", "hybrid", "semidefinite", "ppca")}
QUICK |= {name: VARIANTS[name] for name in ("action-respecting", "coordinated", "cca", "relational", "two-way")}
QUICK |= {name: METRICS[name] for name in ("equivalence", "multi-attribute", "distance")} | MIXTURES | TORCH
NUMBERED = ("kie-fixed-l4", "smoother-fixed", "joint-fixed-l2", "hybrid-euclidean-heat")
IN_UNITS = {name: VARIANTS[name] for name in NUMBERED}
"""Those with a bandwidth in squared units of the data."""
QUICK |= IN_UNITS
each = pytest.mark.parametrize("make", QUICK.values(), ids=QUICK.keys())
TOO_LARGE = r"is 1e15[13] or more in size, where squares overflow\. Rescale the data\.$"
ANSWERS = ("transform", "transform_mode", "predict_proba", "denoise", "score_samples", "score", "impute")
BACK = ("inverse_transform", "inverse_transform_mode", "predictive_variance", "latent_log_density")


@pytest.fixture(autouse=True)
def _one_torch_thread():
    if not TORCH_THERE:
        yield
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def one_large(value, X=None):
    """Rows, one entry of which is ``value``."""
    X = np.abs(blobs(30)[:, :5]).astype(np.result_type(value)) if X is None else X.copy()
    X[3, -1] = value
    return X


def told(model, X):
    """Fit, and tell a metric which rows are alike, without which it learns nothing."""
    if not isinstance(model, tuple(type(make()) for make in METRICS.values())):
        return model.fit(X)
    if isinstance(model, DistanceMetric):
        return model.fit(X, pairs=np.arange(len(X)).reshape(-1, 2), distances=np.ones(len(X) // 2))
    labels = np.arange(len(X)) % 3
    return model.fit(X, labels[:, None] if isinstance(model, sidelight.MultiAttributeMetric) else labels)


@functools.cache
def kept(make):
    """A model of rows of scale 1, made once."""
    return told(make(), blobs(30))


@every
def test_fit_refuses_numbers_whose_squares_overflow_at_once(make):
    for value in (LARGEST, -LARGEST, 1e200, -1e151, np.longdouble("1e400")):
        X = one_large(value)
        X = np.maximum(X[:, -1:], X[:, -1]) if make in DISTANCES.values() else X
        start = time.perf_counter()
        with pytest.raises(ValueError, match=rf"^{type(make()).__name__}: X=-?[\d.]+e\+\d+ {TOO_LARGE}"):
            make().fit(X)
        assert time.perf_counter() - start < 1


@each
def test_every_answer_refuses_numbers_whose_squares_overflow(make):
    model = kept(make)
    for name in (one for one in [*ANSWERS, *BACK] if hasattr(model, one)):
        width = len(model.get_feature_names_out()) if name in BACK else 5
        for value in (LARGEST, -1e200, 1e151):
            with pytest.raises(ValueError, match=rf"=-?[\d.]+e\+\d+ {TOO_LARGE}|X=.* times the spread of fit"):
                getattr(model, name)(one_large(value, np.ones((4, width))))


@each
@pytest.mark.parametrize("scale", [1e150, 1e-150, 1e-300])
def test_scales_within_range_are_answered_finitely_or_said(make, scale):
    """Warnings are errors here, so NumPy has nothing to say either."""
    X = blobs(30) * scale
    if scale == 1e-300 and make in IN_UNITS.values():
        with pytest.raises(ValueError, match=r"=4\.0 is too far from the squares of the data, whose scale is 3"):
            make().fit(X)
        return
    model = told(make(), X)
    for name in ANSWERS:
        if hasattr(model, name):
            assert np.isfinite(getattr(model, name)(X)).all(), name
    for name in BACK:
        if hasattr(model, name):
            assert np.isfinite(getattr(model, name)(model.transform(X))).all(), name
    if hasattr(model, "sample"):
        assert np.isfinite(model.sample(3, random_state=0)).all()


@each
def test_queries_of_a_far_larger_scale_are_answered_finitely_or_said(make):
    """Distances are taken in units of the spread of the rows of fit, and there, too, squares could overflow."""
    model, queries = told(make(), blobs(30) * 1e-75), blobs(30, seed=1) * 1e75
    if hasattr(model, "span_") or isinstance(model, sidelight.BernoulliMixture):
        assert np.isfinite(getattr(model, "transform" if hasattr(model, "span_") else "predict_proba")(queries)).all()
        return
    for name in ANSWERS:
        if hasattr(model, name):
            with pytest.raises(ValueError, match=r"X=-?[\d.]+e\+75 is 1e100 times the spread of fit \([\d.]+e-7[56]\)"):
                getattr(model, name)(queries)


@each
def test_queries_of_a_far_smaller_scale_are_answered_finitely(make):
    model, queries = told(make(), blobs(30) * 1e75), blobs(30, seed=1) * 1e-75
    for name in ANSWERS:
        if hasattr(model, name):
            assert np.isfinite(getattr(model, name)(queries)).all(), name


@pytest.mark.parametrize("name", QUICK)
def test_single_numbers_near_their_own_end_are_answered_finitely(name):
    X = (blobs(30) * 1e30).astype(np.float32)
    model = told(QUICK[name](), X)
    if hasattr(model, "transform"):
        assert np.isfinite(model.transform(X)).all()
    assert np.isfinite(model.score_samples(X) if hasattr(model, "score_samples") else 0).all()


X = blobs()
D = np.linalg.norm(X[:, None] - X[None], axis=2)
HUGE = {
    "y of joint": ("y", lambda: JointInformationEmbedding().fit(X, one_large(1e200, X))),
    "y of joint score": ("y", lambda: JointInformationEmbedding(max_iter=9).fit(X, X).score(X, one_large(1e200, X))),
    "y of cca": ("y", lambda: CoordinatedCCA().fit(X, one_large(1e200, X))),
    "given": ("given", lambda: KernelInformationEmbedding().fit(X, given=X[:, 0] * 1e200)),
    "embedding": ("embedding", lambda: TwoWayEmbedding().fit(X, embedding=X[:, :2] * 1e200)),
    "weights": ("sample_weight", lambda: fitted(VARIANTS["kie"]).score(X, sample_weight=np.full(90, 1e200))),
    "weights of ppca": ("sample_weight", lambda: fitted(VARIANTS["cca"]).score(X, sample_weight=np.full(90, 1e200))),
    "distances of pairs": ("distances", lambda: DistanceMetric().fit(X, pairs=[[0, 1]], distances=[1e200])),
    "precomputed distances": ("X", lambda: KernelInformationEmbedding(metric="precomputed").fit(D * 1e200)),
    "sparse distances": ("X", lambda: KernelInformationEmbedding(metric="precomputed").fit(csr_array(D * 1e200))),
    "distance array": ("metric", lambda: HybridEmbedding(metric=lambda X: D * 1e200).fit(X)),
    "a metric that squares": ("largest distance", lambda: SemidefiniteEmbedding(metric="sqeuclidean").fit(X * 1e100)),
    "values of a relation": ("values", lambda: Relation.from_values(X[:, 0] * 1e200)),
    "data of a relation": ("X", lambda: Relation.from_data(X * 1e200)),
    "distances of a relation": ("P", lambda: Relation.from_matrix(D * 1e200, distances=True)),
    "data beside relations": ("X", lambda: MultipleRelationalEmbedding().fit(X * 1e200)),
    "batches": ("source", lambda: sidelight.PPCAMixture(10, 2).fit_batches([X, X * 1e200])),
    "rows on their way": ("source", lambda: sidelight.embed_rows([X, X * 1e200], sample=50)),
}
if TORCH_THERE:
    HUGE |= {
        "outputs of pairs": ("y", lambda: gated.GatedBoltzmannMachine(2, max_iter=2).fit(X, X * 1e200)),
        "samples of a field": ("X", lambda: gated.Manifield(patch_size=3).fit([X * 1e200])),
    }


@pytest.mark.parametrize("name", HUGE)
def test_whatever_else_takes_numbers_refuses_those_whose_squares_overflow(name):
    argument, call = HUGE[name]
    with pytest.raises(ValueError, match=rf": {argument}=-?[\d.]+e\+\d+ {TOO_LARGE}"):
        call()


@pytest.mark.parametrize("kind", [KernelInformationEmbedding, UnsupervisedKernelRegression, JointInformationEmbedding])
def test_a_start_far_beyond_the_latent_kernel_is_refused(kind):
    with pytest.raises(ValueError, match=r"init=[\d.]+e\+15 is 1e12 widths of the latent kernel or more away\. Resc"):
        kind(init=X[:, :2] * 1e15).fit(X)


def test_sample_weights_are_one_per_row():
    with pytest.raises(ValueError, match=r"sample_weight=array of 3 rows does not match the 90 rows of X"):
        fitted(VARIANTS["kie"]).score(X, sample_weight=np.ones(3))


@pytest.mark.parametrize("table", [pd.DataFrame, lambda rows: rows.tolist()], ids=["frame", "list"])
def test_numbers_beyond_double_ones_in_tables_and_lists_are_refused_without_a_warning(table):
    with pytest.raises(ValueError, match="infinity"):
        sidelight.ProbabilisticPCA(2).fit(table(one_large(np.longdouble("1e400"), X.astype(np.longdouble))))


def test_a_whole_number_beyond_double_ones_is_refused():
    with pytest.raises(ValueError, match=r"^ProbabilisticPCA: X=list holds a whole number that no floating-point"):
        sidelight.ProbabilisticPCA(2).fit([[10**400, 1.0], [2.0, 3.0], [1.0, 1.0]])


def test_the_limit_is_where_it_says():
    refuse_too_large("Rows", "X", np.array([np.nan, -np.nextafter(LIMIT, 0), 1.0]))
    with pytest.raises(ValueError, match=r"^Rows: X=-1e\+151 is 1e151 or more"):
        refuse_too_large("Rows", "X", np.array([np.nan, -LIMIT, 1.0]))
    # sums of squared differences of 10⁵ numbers just below it are finite
    assert np.isfinite(1e5 * (2 * np.nextafter(LIMIT, 0)) ** 2)
