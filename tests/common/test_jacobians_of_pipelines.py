"""Derivatives of Pipelines by the columns of the data, against differences of the whole Pipeline."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from registry import blobs
from scipy import sparse
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.pipeline import make_pipeline as plain_pipeline
from sklearn.preprocessing import MinMaxScaler, QuantileTransformer, RobustScaler, StandardScaler
from test_jacobians import STEP, assert_derivative, latent_points, new_rows

from sidelight import (
    BernoulliMixture,
    CoordinatedMixture,
    EquivalenceMetric,
    KernelInformationEmbedding,
    ProbabilisticPCA,
    TwoWayEmbedding,
)
from sidelight.pipeline import make_pipeline

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
SCALES = np.array([1.0, 20.0, 0.1, 5.0, 2.0])
STEPS = {
    "scalers": lambda: [StandardScaler(), plain_pipeline(RobustScaler(), MinMaxScaler())],
    "components": lambda: [StandardScaler(), PCA(3)],
    "nothing": lambda: ["passthrough"],
}


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize(
    "model", [lambda: KernelInformationEmbedding(max_iter=10), TwoWayEmbedding, lambda: ProbabilisticPCA(2)]
)
def test_derivatives_of_a_pipeline_are_by_the_columns_of_the_data(name, model):
    found = make_pipeline(*STEPS[name](), model()).fit(SCALES * blobs(90, 5))
    # differences step along standardised columns, whose derivatives are those of the data times their scales
    assert_derivative(SCALES * found.jacobian(SCALES * new_rows()), lambda Q: found.transform(SCALES * Q), new_rows())
    Z = np.asarray(found.transform(SCALES * new_rows()))
    back = found.inverse_jacobian(Z) / SCALES[:, None]
    assert_derivative(back, lambda z: found.inverse_transform(z) / SCALES, Z, STEP * float(Z.std()))


@pytest.mark.parametrize(
    "last", [lambda: CoordinatedMixture(n_charts=2), lambda: KernelInformationEmbedding(max_iter=5)]
)
def test_derivatives_through_a_learned_metric(last):
    X = blobs(90, 5)
    found = make_pipeline(EquivalenceMetric(3), last()).fit(X, np.arange(90) % 3)
    assert_derivative(found.jacobian(new_rows()), found.transform, new_rows())


def test_given_is_held():
    given = np.arange(90) % 2
    X = blobs(90, 5) + np.outer(given, [1.0, 0, 2, 0, 0])
    steps = StandardScaler(), PCA(3, whiten=True)
    found = make_pipeline(*steps, KernelInformationEmbedding(max_iter=10)).fit(X, given=given)
    Q, known = new_rows(), given[:8]
    assert_derivative(found.jacobian(Q, given=known), lambda rows: found.transform(rows, given=known), Q)
    Z = latent_points(found)
    assert_derivative(
        found.inverse_jacobian(Z, given=known), lambda z: found.inverse_transform(z, given=known), Z, 2e-5 * Z.std()
    )


def test_columns_by_name_sparse_rows_and_float32():
    table = pd.DataFrame(blobs(90, 5), columns=list("abcde"))
    found = make_pipeline(StandardScaler(), TwoWayEmbedding()).fit(table)
    J, B = found.jacobian(table[:3]), found.inverse_jacobian(found.embedding_[:3])
    assert np.array_equal(found.jacobian(table[:3], columns=["e", "b"]), J[:, :, [4, 1]])
    assert np.array_equal(found.inverse_jacobian(found.embedding_[:3], columns=["e", "b"]), B[:, [4, 1]])
    assert found.jacobian(table[:3].astype(np.float32)).dtype == np.float32
    rows = sparse.csr_array(np.maximum(blobs(90, 12), 0.0))
    reduced = make_pipeline(TruncatedSVD(4, random_state=0), KernelInformationEmbedding(max_iter=5)).fit(rows)
    assert_derivative(reduced.jacobian(rows[:4]), reduced.transform, rows[:4].toarray())


def test_steps_that_are_not_linear_and_models_without_slopes_say_so():
    X = blobs(90, 5)
    bent = make_pipeline(QuantileTransformer(n_quantiles=10), TwoWayEmbedding()).fit(X)
    with pytest.raises(AttributeError) as refused:
        bent.jacobian(X)
    assert "QuantileTransformer is not linear" in str(refused.value.__cause__)
    steps = make_pipeline(StandardScaler(), BernoulliMixture(2, n_init=1)).fit(X)
    with pytest.raises(AttributeError) as refused:
        steps.jacobian(X)
    assert "BernoulliMixture" in str(refused.value.__cause__)
