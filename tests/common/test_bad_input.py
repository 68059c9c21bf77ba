"""Bad input gets a sentence; odd input gets an answer; nothing hangs and nothing returns NaN."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from registry import CHECKED, DEFAULTS, VARIANTS, blobs, fitted, with_iterations

from sidelight import (
    ActionRespectingEmbedding,
    Annealing,
    Conditioning,
    HybridEmbedding,
    KernelInformationEmbedding,
    KernelOptions,
    ProbabilisticPCA,
    SemidefiniteEmbedding,
    TwoWayEmbedding,
)

every = pytest.mark.parametrize("make", VARIANTS.values(), ids=VARIANTS.keys())
each = pytest.mark.parametrize("make", DEFAULTS.values(), ids=DEFAULTS.keys())

REFUSED = {
    "nan": (np.where(np.arange(450).reshape(90, 5) == 7, np.nan, blobs()), "NaN"),
    "inf": (np.where(np.arange(450).reshape(90, 5) == 7, np.inf, blobs()), "infinity"),
    "empty": (np.empty((0, 5)), "0 sample"),
    "one row": (blobs()[:1], "minimum of 2 is required"),
    "no columns": (np.empty((5, 0)), "0 feature"),
    "one dimension": (np.arange(5.0), "2D array"),
    "three dimensions": (np.zeros((4, 2, 2)), "dim 3"),
    "ragged": ([[1.0, 2.0], [3.0]], "inhomogeneous|sequence"),
    "text": (pd.DataFrame({"a": ["x", "y"], "b": [1.0, 2.0]}), "could not convert string to float"),
    "complex": (blobs() * 1j, "Complex data"),
}


@each
@pytest.mark.parametrize("name", REFUSED)
def test_bad_data_is_refused_with_a_sentence(make, name):
    X, message = REFUSED[name]
    if name == "nan" and make().__sklearn_tags__().input_tags.allow_nan:
        assert np.isfinite(make().fit(X).transform(X)).all()
        return
    with pytest.raises(ValueError, match=message):
        make().fit(X)


@each
def test_sparse_data_is_embedded_or_refused_with_a_sentence(make):
    if make().__sklearn_tags__().input_tags.sparse:
        rows = sp.csr_array(blobs())
        assert np.isfinite(make().fit(rows).transform(rows)).all()
        return
    with pytest.raises(TypeError, match="dense data is required"):
        make().fit(sp.csr_array(blobs()))


ODD = {
    "constant": np.ones((30, 4)),
    "constant columns": np.column_stack([blobs(50), np.full(50, 7.0)]),
    "duplicates": np.repeat(blobs(12), 8, axis=0),
    "mostly duplicates": np.concatenate([np.zeros((60, 3)), np.eye(3)]),
    "two rows": blobs(2),
    "three rows": blobs(3),
    "five rows": blobs(5),
    "fewer rows than neighbours": blobs(8),
    "one column": blobs(50)[:, :1],
    "integers": (blobs(50) * 10).astype(int),
    "booleans": blobs(50) > 0.5,
    "huge": blobs(50) * 1e150,
    "tiny": blobs(50) * 1e-150,
    "far from the origin": blobs(50) + 1e6,
    "two far clusters": np.concatenate([blobs(40), blobs(40, seed=1) + 1e4]),
    "one outlier": np.concatenate([blobs(50), np.full((1, 5), 1e8)]),
    "mixed scales": blobs(50) * np.array([1e-8, 1.0, 1e8, 1.0, 1.0]),
    "fortran order": np.asfortranarray(blobs(50)),
    "strided": np.repeat(blobs(50), 2, axis=1)[:, ::2],
    "wide": np.random.default_rng(0).normal(size=(20, 100)),
    "list": blobs(20).tolist(),
}


# Each class gets all of them, and its defaults run to their end. Its variants are other kernels, penalties, starts and
# solvers: they get ten iterations of each stage, and not those kinds of data that the validation, which all variants of
# a class share, has made ordinary rows of before a solver sees them. Isomap refuses some of them by itself.
# The variants get the other kinds in the slow tests: what these do to a kernel, a graph or a start they do to the
# defaults too, and two rows and rows that are equal but one go through every variant in test_small_data.py.
ORDINARY = ("integers", "fortran order", "strided", "list")
DIFFERENT = ("duplicates", "one column", "one outlier", "wide")
OTHERS = {name: make for name, make in VARIANTS.items() if name not in CHECKED and name != "two-way-isomap"}
TRIED = [
    *(pytest.param(make, kind, id=f"{kind}-{name}") for kind in ODD for name, make in CHECKED.items()),
    *(
        pytest.param(
            lambda make=make: with_iterations(make(), 10),
            kind,
            id=f"{kind}-{name}",
            marks=() if kind in DIFFERENT else pytest.mark.slow,
        )
        for kind in ODD
        for name, make in OTHERS.items()
        if kind not in ORDINARY
    ),
]


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # an honest answer to some of these
@pytest.mark.parametrize(("make", "kind"), TRIED)
def test_odd_data_gets_a_finite_answer(make, kind):
    X = ODD[kind]
    model = make().fit(X)
    Z = model.transform(X)
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(Z).all()
    assert np.isfinite(model.inverse_transform(Z)).all()
    assert np.isfinite(model.score(X))
    assert np.isfinite(model.sample(3, random_state=0)).all()
    assert not np.isnan(model.score_samples(X)).any()


@every
def test_a_query_far_away_gets_a_finite_answer(make):
    model = fitted(make)
    assert np.isfinite(model.transform(np.full((1, 5), 1e9))).all()
    assert np.isfinite(model.inverse_transform(np.full((1, model.embedding_.shape[1]), -1e9))).all()
    assert not np.isnan(model.score_samples(np.full((1, 5), 1e9))).any()


@each
@pytest.mark.parametrize("factor", [1e150, 1e-150])
def test_the_scale_of_the_data_does_not_change_the_map(make, factor):
    X = blobs()
    plain, scaled = fitted(make), make().fit(X * factor)
    own = (ActionRespectingEmbedding, TwoWayEmbedding, HybridEmbedding, SemidefiniteEmbedding)
    units = factor if isinstance(plain, own) else 1.0
    spread = np.abs(plain.embedding_).max()
    assert np.abs(scaled.embedding_ / units - plain.embedding_).max() < 0.05 * spread
    density = X.shape[1] * np.log(factor) if isinstance(plain, ProbabilisticPCA) else 0.0  # of a density, per unit
    np.testing.assert_allclose(scaled.score(X * factor) + density, plain.score(X), atol=0.01)


@each
def test_a_wrong_number_of_columns_is_said(make):
    model = fitted(make)
    with pytest.raises(ValueError, match="expecting 5 features"):
        model.transform(blobs()[:, :3])
    with pytest.raises(ValueError, match=r"X=3 columns does not match the 2 latent dimensions\."):
        model.inverse_transform(blobs()[:, :3])


BAD_PARAMETERS = {
    "n_components": [0, -1, 1.5, "2", None, True],
    "bandwidth": ["wide", 0.0, -1.0, np.inf, None],
    "perplexity": [0.5, -3, "a", np.nan],
    "n_neighbors": [0, 2.5, "many"],
    "metric": ["manhattan", None],
    "kernel": ["laplace", 3, ["student"], Annealing(0.1)],
    "latent_kernel": ["delta", ""],
    "regularization": [0.0, -1.0, "strong", [0.1], None, KernelOptions()],
    "penalty": ["l1", None],
    "init": ["umap"],
    "max_iter": [0, 1.5],
    "tol": [0.0, -1e-3, "small"],
    "conditioning": ["hard", ["product"], 1.0],
}
BAD_OPTIONS = {
    "kernel": {"profile": ["laplace", None], "storage": ["disk", 3]},
    "regularization": {
        "regularization": [0.0, "strong"],
        "start": [-1.0, "high"],
        "decay": [0.0, 1.0, 2.0],
    },
    "conditioning": {"method": ["hard", None], "weight": [-1.0, "much"]},
}


@pytest.mark.parametrize(("name", "value"), [(k, v) for k, values in BAD_PARAMETERS.items() for v in values])
def test_a_bad_parameter_is_named_with_its_value_and_a_way_out(name, value):
    with pytest.raises(ValueError, match=rf"^KernelInformationEmbedding: {name}=.* is not .*\. (Give|Choose) .*\.$"):
        KernelInformationEmbedding(**{name: value}).fit(blobs())


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [(name, o, value) for name, options in BAD_OPTIONS.items() for o, values in options.items() for value in values],
)
def test_a_bad_option_is_named_with_its_parameter(name, option, value):
    plain = {"kernel": KernelOptions(), "conditioning": Conditioning(), "regularization": Annealing(0.1)}
    model = KernelInformationEmbedding(**{name: replace(plain[name], **{option: value})})
    rule = rf"^KernelInformationEmbedding: {name}\.{option}=.* is not .*\. (Give|Choose) .*\.$"
    with pytest.raises(ValueError, match=rule):
        model.fit(blobs())


def test_a_start_of_the_wrong_shape_is_said():
    with pytest.raises(ValueError, match=r"init=array of 3 rows does not match the 90 rows of X"):
        KernelInformationEmbedding(init=np.zeros((3, 2))).fit(blobs())
    with pytest.raises(ValueError, match=r"init=array of shape \(90, 3\) is not a finite array of shape \(90, 2\)"):
        KernelInformationEmbedding(init=np.zeros((90, 3))).fit(blobs())


def test_distances_that_are_none_are_said():
    with pytest.raises(ValueError, match="is not square"):
        KernelInformationEmbedding(metric="precomputed").fit(np.ones((4, 3)))
    with pytest.raises(ValueError, match="negative distance"):
        KernelInformationEmbedding(metric="precomputed").fit(-np.ones((4, 4)))


def test_an_embedding_of_other_length_is_said():
    with pytest.raises(ValueError, match=r"TwoWayEmbedding: embedding=array of 4 rows does not match the 90 rows of X"):
        TwoWayEmbedding().fit(blobs(), embedding=np.zeros((4, 2)))


def test_an_estimator_that_cannot_embed_is_said():
    from sklearn.linear_model import LinearRegression

    with pytest.raises(TypeError, match="has no fit_transform"):
        TwoWayEmbedding(LinearRegression()).fit(blobs())


@each
def test_samples_below_one_are_refused(make):
    with pytest.raises(ValueError, match="n_samples=0 is less than 1"):
        fitted(make).sample(0)
