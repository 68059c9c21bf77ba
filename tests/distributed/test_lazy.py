"""Methods of a fitted model on Dask: lazy in, lazy out, the numbers of memory, names and index kept."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

dask = pytest.importorskip("dask", reason="needs the extra scale")
import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402
from sklearn.decomposition import PCA  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

from sidelight import KernelInformationEmbedding, ProbabilisticPCA, TwoWayEmbedding, distributed  # noqa: E402
from sidelight.datasets import s_curve  # noqa: E402

X = np.asarray(s_curve(200, random_state=0).X)
KNOWN = np.array(["a", "b"])[np.random.default_rng(0).integers(0, 2, len(X))]
ROWS = pd.DataFrame(X, columns=["x", "y", "z"], index=np.arange(len(X)) + 1000)
FRAME = ROWS.assign(batch=KNOWN)


@pytest.fixture(autouse=True)
def in_this_process():
    with dask.config.set(scheduler="synchronous"):
        yield


def small():
    return KernelInformationEmbedding(2, solver="multilevel", max_iter=10)


@pytest.fixture(scope="module")
def named():
    return small().fit(ROWS[:80], given=KNOWN[:80])


@pytest.fixture(scope="module")
def plain():
    return ProbabilisticPCA(2).fit(X)


def table():
    return dd.from_pandas(FRAME, npartitions=3)


def test_a_data_frame_keeps_its_index_and_gets_the_names_of_the_model(named):
    Z = distributed.transform(named, table(), given="batch")
    expected = named.transform(ROWS, given=KNOWN)
    assert list(Z.columns) == list(named.get_feature_names_out())
    found = Z.compute()
    assert found.index.equals(ROWS.index)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    back = distributed.inverse_transform(named, Z, given=table()["batch"])
    assert list(back.columns) == ["x", "y", "z"]
    np.testing.assert_allclose(back.compute(), named.inverse_transform(expected, given=KNOWN), atol=1e-10)
    one = distributed.inverse_transform(named, Z, given="a").compute()
    np.testing.assert_allclose(one, named.inverse_transform(expected, given="a"), atol=1e-10)


def test_an_array_stays_an_array_of_its_precision_and_chunks(plain):
    single = X.astype(np.float32)
    rows = da.from_array(single, chunks=(70, 3))
    Z = distributed.transform(plain, rows)
    assert (Z.shape, Z.dtype, Z.chunks[0]) == ((200, 2), np.float32, rows.chunks[0])
    np.testing.assert_allclose(Z.compute(), plain.transform(single), rtol=1e-5, atol=1e-5)
    back = distributed.inverse_transform(plain, Z)
    assert back.shape == (200, 3)
    np.testing.assert_allclose(back.compute(), plain.inverse_transform(plain.transform(single)), rtol=1e-4, atol=1e-4)


@pytest.mark.thorough
def test_given_of_an_array_is_an_array():
    rows, given = da.from_array(X, chunks=(70, 3)), da.from_array(KNOWN, chunks=60)
    model = small().fit(X[:80], given=KNOWN[:80])
    found = distributed.transform(model, rows, given=given).compute()
    np.testing.assert_allclose(found, model.transform(X, given=KNOWN), rtol=1e-12, atol=1e-12)


def test_densities_and_scores_are_those_of_memory(plain, named):
    rows = da.from_array(X, chunks=(70, 3))
    density = distributed.score_samples(plain, rows)
    assert density.shape == (200,)
    np.testing.assert_allclose(density.compute(), plain.score_samples(X), rtol=1e-12)
    series = distributed.score_samples(plain, table()[["x", "y", "z"]]).compute()
    assert series.index.equals(ROWS.index)
    found = distributed.score(named, table(), given="batch")
    assert found.compute() == pytest.approx(named.score(ROWS, given=KNOWN), abs=1e-12)
    far = 1e6 + X  # sums of squares would lose the digits
    model = TwoWayEmbedding().fit(far)
    assert distributed.score(model, 1e6 + rows).compute() == pytest.approx(model.score(far), abs=1e-9)


def test_estimators_and_pipelines_of_others_are_welcome():
    model = make_pipeline(StandardScaler(), PCA(2)).fit(X)
    Z = distributed.transform(model, da.from_array(X, chunks=(70, 3))).compute()
    np.testing.assert_allclose(Z, model.transform(X), atol=1e-12)


def test_nothing_is_computed_before_it_is_asked_for(plain):
    def read(part):
        raise RuntimeError("read")

    rows = da.from_array(X, chunks=(70, 3)).map_blocks(read, meta=np.empty((0, 0)))
    lazy = [getattr(distributed, name)(plain, rows) for name in ("transform", "score_samples")]
    for one in lazy:
        with pytest.raises(RuntimeError, match="read"):
            one.compute()


def test_a_partition_without_rows_has_none(plain):
    rows = table()[["x", "y", "z"]]
    assert len(distributed.transform(plain, rows[rows.x > 100]).compute()) == 0


def test_what_is_not_on_dask_is_refused(plain, named):
    with pytest.raises(TypeError, match=r"^transform: X=ndarray is no Dask array or data frame"):
        distributed.transform(plain, X)
    with pytest.raises(ValueError, match=r"^score_samples: X=.* is cut into 3 parts along the columns"):
        distributed.score_samples(plain, da.from_array(X, chunks=(70, 1)))
    with pytest.raises(TypeError, match=r"^transform: given=ndarray is in memory, and the rows are not"):
        distributed.transform(named, table()[["x", "y", "z"]], given=KNOWN)
    with pytest.raises(TypeError, match=r"^score: model=PCA has another score, or none"):
        distributed.score(PCA(2).fit(X), da.from_array(X))
