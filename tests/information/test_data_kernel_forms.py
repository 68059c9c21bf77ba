"""A data kernel with one bandwidth: dense, sparse or of low rank, chosen by the model or by its user."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight
from sidelight import KernelInformationEmbedding, KernelOptions
from sidelight.base import cost as _cost
from sidelight.datasets import s_curve
from sidelight.information import _data_kernel
from sidelight.kernels import data_kernel

X = s_curve(150, random_state=0).X


def fitted(form, bandwidth, rows=X, **options):
    return KernelInformationEmbedding(bandwidth=bandwidth, kernel=KernelOptions(storage=form), **options).fit(rows)


@pytest.mark.thorough
@pytest.mark.parametrize(("form", "bandwidth"), [("sparse", 0.05), ("low_rank", 2.0), ("low_rank", "loo")])
def test_a_map_by_another_form_is_that_of_the_dense_kernel(form, bandwidth):
    dense, other = fitted("dense", bandwidth), fitted(form, bandwidth)
    assert (dense.data_kernel_, other.data_kernel_) == ("dense", form)
    assert dense.kernel_error_ is None
    assert 0 < other.kernel_error_["row_sum"] < 0.01
    assert other.history_[-1]["objective"] == pytest.approx(dense.history_[-1]["objective"], rel=0.01)


def test_a_saved_model_of_low_rank_places_rows_as_before(tmp_path):
    model = fitted("low_rank", 2.0)
    sidelight.save(model, tmp_path / "model")
    again = sidelight.load(tmp_path / "model")
    assert again.kernel_error_ == model.kernel_error_
    assert (again.kernel, again.data_kernel_) == (KernelOptions(storage="low_rank"), "low_rank")
    np.testing.assert_array_equal(again.transform(X[:20]), model.transform(X[:20]))


def test_few_rows_are_dense_unless_somebody_says_otherwise():
    assert fitted("auto", 2.0, tol=1.0).data_kernel_ == "dense"
    assert fitted("auto", "perplexity", tol=1.0).data_kernel_ == "sparse"


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"bandwidth": "perplexity"}, "is for a kernel with one bandwidth"),
        ({"metric": "precomputed"}, "saves nothing where X is a matrix of all pairs"),
        ({"kernel": KernelOptions("quartic", "low_rank")}, "needs a kernel without negative eigenvalues"),
    ],
)
def test_what_low_rank_cannot_do_is_refused(options, rule):
    model = KernelInformationEmbedding(**{"bandwidth": 2.0, "kernel": KernelOptions(storage="low_rank"), **options})
    with pytest.raises(ValueError, match=rule):
        model.fit(np.abs(X[:, :1] - X[:, :1].T))


@pytest.mark.thorough
def test_beside_given_a_kernel_is_dense_or_sparse_but_not_of_low_rank():
    given = np.repeat(["a", "b"], 75)
    models = {
        form: KernelInformationEmbedding(bandwidth=0.1, kernel=KernelOptions(storage=form))
        for form in ("auto", "sparse", "low_rank")
    }
    assert models["auto"].fit(X, given=given).data_kernel_ == "dense"
    assert models["sparse"].fit(X, given=given).data_kernel_ == "sparse"
    with pytest.raises(ValueError, match="cannot be multiplied with the kernel of given"):
        models["low_rank"].fit(X, given=given)


def test_beyond_ten_thousand_rows_the_cost_said_is_that_of_low_rank():
    cost = {
        form: KernelInformationEmbedding(bandwidth=2.0, kernel=KernelOptions(storage=form))
        for form in ("auto", "dense", "low_rank")
    }
    few, many = ({form: model.estimate_cost(n, 50) for form, model in cost.items()} for n in (10_000, 70_000))
    assert few["auto"] == few["dense"]
    assert many["auto"] == many["low_rank"]
    assert many["low_rank"].bytes < 0.1 * many["dense"].bytes
    assert many["low_rank"].seconds < 0.5 * many["dense"].seconds


def test_a_dense_kernel_that_is_the_only_way_and_too_large_is_refused(monkeypatch):
    for module in (data_kernel, _data_kernel):
        monkeypatch.setattr(module, "EXACT_ROWS", 100)
    monkeypatch.setattr(data_kernel, "MOST_STORED", 10)
    rows = np.random.default_rng(0).standard_normal((300, 20))
    model = KernelInformationEmbedding(bandwidth=5.0)
    monkeypatch.setattr(_cost, "available_memory", lambda: 10**8)
    monkeypatch.setattr(_data_kernel, "_cost_of_form", lambda *_: _cost.Cost(10**9, 1.0))
    monkeypatch.setattr(KernelInformationEmbedding, "estimate_cost", lambda *_, **__: _cost.Cost(10**6, 1.0))
    with pytest.raises(MemoryError, match=r"300 rows needs about 0\.9 GiB"):
        model.fit(rows)


@pytest.mark.parametrize("given", [None, np.arange(150) % 2 == 0], ids=["plain", "given"])
def test_the_form_is_said_of_an_adaptive_kernel_too(given):
    model = KernelInformationEmbedding().fit(X, given=given)
    assert model.data_kernel_ == "sparse"
    assert model.kernel_error_ is None
