"""Kernel matrices between values of ``given``: the forms that are read, and the sentences for what is no kernel."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import sidelight
from sidelight import Conditioning, KernelInformationEmbedding
from sidelight.datasets import s_curve
from sidelight.side.value_kernels import read_value_kernel

K = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 2.0]])
NAMED = {"a": {"a": 1.0, "b": 0.5}, "b": {"b": 1.0, "a": 0.5}}
X = s_curve(60, random_state=0).X
GROUP = np.arange(60) % 3


def fit(conditioning, given=GROUP, **options):
    return KernelInformationEmbedding(bandwidth=1.0, conditioning=conditioning, tol=1e-3, **options).fit(X, given=given)


def test_an_array_is_the_kernel_between_the_values_from_0_on():
    found = read_value_kernel("Model", K)
    assert found.values == (0, 1, 2)
    np.testing.assert_array_equal(found.matrix, K)


def test_a_mapping_and_a_table_are_the_kernel_between_the_values_they_name():
    found = read_value_kernel("Model", NAMED)
    assert found.values == ("a", "b")
    np.testing.assert_array_equal(found.matrix, [[1.0, 0.5], [0.5, 1.0]])
    table = pd.DataFrame(K, index=list("cab"), columns=list("cab"))
    assert Conditioning(kernel=table) == Conditioning(
        kernel={a: {b: table.loc[a, b] for b in table.columns} for a in table.index}
    )


BAD = {
    "not square": (K[:2], r"array of shape \(2, 3\) is not square"),
    "empty": (np.zeros((0, 0)), "is not square"),
    "negative": (-K, "holds entries that are negative or not finite"),
    "NaN": (np.full((2, 2), np.nan), "holds entries that are negative or not finite"),
    "no similarity to itself": (K - np.diag(np.diag(K)), "has a zero on its diagonal"),
    "not symmetric": (np.triu(K), "is not symmetric"),
    "text": (np.array([["a"]]), "ndarray is not a kernel matrix"),
    "a row is missing": ({"a": {"a": 1.0, "b": 0.5}}, "does not have the same values along both sides"),
    "a number as row": ({"a": 1.0}, "does not have the same values along both sides"),
    "words as entries": ({"a": {"a": "much"}}, "holds entries that are not numbers"),
}


@pytest.mark.parametrize(("kernel", "message"), BAD.values(), ids=BAD)
def test_what_is_no_kernel_matrix_gets_a_sentence(kernel, message):
    with pytest.raises(ValueError, match=rf"^Model: conditioning\.kernel=.*{message}.*\.$"):
        read_value_kernel("Model", kernel)


REFUSED = {
    "too few values": (Conditioning("product", kernel=K[:2, :2]), r"given=2 has no row in conditioning\.kernel"),
    "two kernels for one column": (Conditioning("product", kernel=[K, K]), "2 kernels does not match the 1 column"),
    "a name": (Conditioning("product", kernel="delta"), r"conditioning\.kernel=str does not match"),
    "a bandwidth as well": (Conditioning("product", bandwidth=1.0, kernel=K), "bandwidth=1.0 has no place in column"),
    "a number as well": (Conditioning("product", "number", kernel=K), "types=number has no place in column"),
    "kernel without product": (Conditioning(kernel=K), "kernel=a matrix is for the product of kernels only"),
    "delta without product": (Conditioning("residual", bandwidth=0), "bandwidth=0 is for the product of kernels only"),
}


@pytest.mark.parametrize(("conditioning", "message"), REFUSED.values(), ids=REFUSED)
def test_a_kernel_matrix_that_cannot_be_used_is_refused(conditioning, message):
    with pytest.raises(ValueError, match=rf"^KernelInformationEmbedding: .*{message}"):
        fit(conditioning)


@pytest.mark.parametrize("kernel", ["gaussian", "quartic"])
def test_a_saved_model_keeps_its_kernel_matrix(tmp_path, kernel):
    model = fit(Conditioning("product", kernel=K), kernel=kernel)
    loaded = sidelight.load(sidelight.save(model, tmp_path / "model.sidelight") or tmp_path / "model.sidelight")
    np.testing.assert_array_equal(loaded.transform(X, given=1), model.transform(X, given=1))
    Z = model.embedding_[:5]
    np.testing.assert_array_equal(loaded.inverse_transform(Z, given=2), model.inverse_transform(Z, given=2))
    assert loaded.given_bandwidth_ == [None]


@pytest.mark.parametrize("kernel", ["gaussian", "student"])
def test_rows_are_placed_one_by_one_and_training_rows_exactly(kernel):
    model = fit(Conditioning("product", bandwidth=0), kernel=kernel)
    Z = model.transform(X, given=GROUP)
    np.testing.assert_allclose(Z, model.embedding_, atol=1e-9)
    alone = np.concatenate([model.transform(X[i : i + 1] + 0.1, given=GROUP[i : i + 1]) for i in range(5)])
    np.testing.assert_allclose(model.transform(X[:5] + 0.1, given=GROUP[:5]), alone, rtol=1e-12)
    unknown = model.transform(X[:5], given=[None, *GROUP[1:5]])
    np.testing.assert_array_equal(unknown[0], model.transform(X[:1])[0])


def test_a_value_without_similarity_to_any_row_is_placed_at_the_nearest_row():
    model = fit(Conditioning("product", kernel=np.eye(4)))
    assert np.isfinite(model.transform(X, given=3)).all()
    assert np.isfinite(model.inverse_transform(model.embedding_, given=3)).all()
