"""Few rows, equal rows, columns of noise: a result with a warning that says what can be read from it, or a refusal."""

import warnings

import numpy as np
import pandas as pd
import pytest
from registry import DEFAULT_MIXTURES, DEFAULTS, DISTANCES, METRICS, MIXTURES, TORCH, VARIANTS, with_iterations
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.manifold import TSNE
from test_extremes import told

from sidelight import (
    KernelInformationEmbedding,
    MultipleRelationalEmbedding,
    ProbabilisticPCA,
    Relation,
    Relations,
    TwoWayEmbedding,
)
from sidelight.base.small_data import count_different, distance_variation
from sidelight.base.warnings import SmallDataWarning

RNG = np.random.default_rng(0)
ROW = RNG.normal(size=(1, 4))
FEW = RNG.normal(size=(9, 4))
MANY_EQUAL = np.vstack([np.repeat(ROW, 203, axis=0), RNG.normal(size=(60, 4))])[
    np.random.default_rng(1).permutation(263)
]
CASES = {
    "two rows": (FEW[:2], "X=2 different rows only show that rows differ"),
    "three rows": (FEW[:3], "X=3 different rows are too few for neighbourhoods"),
    "five rows": (FEW[:5], "X=5 different rows are too few for neighbourhoods"),
    "nine rows": (FEW, "X=9 different rows are too few for neighbourhoods"),
    "one row, 30 times": (np.repeat(ROW, 30, axis=0), "X=30 equal rows have no structure: they share one latent point"),
    "two rows, 15 times": (np.repeat(FEW[:2], 15, axis=0), "X=2 different rows among 30 only show"),
    "equal but one": (np.where(np.arange(30)[:, None] == 7, ROW + 1, ROW), "X=2 different rows among 30 only show"),
    "noise in 1,500 columns": (RNG.normal(size=(20, 1500)), r"X=20 rows of 1500 columns are all about equally far"),
}
ROWS = {**VARIANTS, **MIXTURES, **TORCH}
ITERATIONS = 5
QUICK = [*DEFAULTS, *DEFAULT_MIXTURES, *TORCH, "kie-levels"]
LONG = {("coordinated", "noise in 1,500 columns"), ("cca", "noise in 1,500 columns")}  # five seconds each
PAIRS = [(name, case) for name in QUICK for case in CASES if (name, case) not in LONG]
PAIRS += [(name, case) for name in ROWS if name not in QUICK for case in ("two rows", "equal but one")]
REFUSED = {
    "ppca-mixture": (9, "n_charts=10 is more than the . rows of X"),
    "bernoulli-mixture": (9, "n_charts=10 is more than the . rows of X"),
    "ppca-mixture-diagonal": (2, "n_charts=3 is more than the 2 rows of X"),
    "two-way-isomap": (5, "Expected n_neighbors < n_samples_fit"),
}
"""Up to so many rows, a parameter of these asks for more."""


def fitted(make, X):
    """Fit with few iterations; return the model and the warnings about small data."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        model = with_iterations(make(), ITERATIONS)
        model.fit(X)
    return model, [str(one.message) for one in seen if one.category is SmallDataWarning]


def places(model, X):
    return model.embedding_ if hasattr(model, "embedding_") else model.transform(X)


def spread_within_groups(X, Z):
    """The largest distance along an axis between the places of equal rows."""
    groups = pd.factorize(pd.Series([row.tobytes() for row in X]))[0]
    return max(float(np.ptp(Z[groups == group], axis=0).max()) for group in np.unique(groups))


@pytest.mark.parametrize(
    ("name", "case"), [*PAIRS, *(pytest.param(*pair, marks=pytest.mark.thorough) for pair in sorted(LONG))]
)
def test_small_data_is_fitted_with_a_warning_or_refused(name, case):
    X, words = CASES[case]
    X = np.abs(X) if name in ("bernoulli-mixture", "rbm") else X
    if len(X) <= REFUSED.get(name, (0,))[0]:
        with pytest.raises(ValueError, match=REFUSED[name][1]):
            fitted(ROWS[name], X)
        return
    model, said = fitted(ROWS[name], X)
    spare = f"{type(model).__name__}: n_components="  # more dimensions than columns, which is another matter
    own = [message for message in said if message.startswith(type(model).__name__) and not message.startswith(spare)]
    assert len(own) == 1
    assert words in own[0]
    Z = places(model, X)
    assert np.isfinite(Z).all()
    if name not in TORCH:
        assert spread_within_groups(X, Z) <= 1e-9 * max(1.0, float(np.ptp(Z)))


@pytest.mark.parametrize("name", METRICS)
def test_metrics_warn_too(name):
    X = np.repeat(FEW[:3], 4, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", SmallDataWarning)
        with pytest.raises(SmallDataWarning, match="X=3 different rows among 12"):
            told(METRICS[name](), X)


@pytest.mark.parametrize("name", [*VARIANTS, *DISTANCES])
def test_one_row_is_refused(name):
    X = np.zeros((1, 1)) if name in DISTANCES else ROW
    with pytest.raises(ValueError, match=r"minimum of 2 is required"):
        {**VARIANTS, **DISTANCES}[name]().fit(X)


@pytest.mark.thorough
@pytest.mark.parametrize("name", [*DEFAULTS, "kie-levels", "two-way-isomap"])
def test_equal_rows_have_one_place_among_others(name):
    model, said = fitted(VARIANTS[name], MANY_EQUAL)
    assert said == []
    assert spread_within_groups(MANY_EQUAL, model.embedding_) <= 1e-9 * float(np.ptp(model.embedding_))


@pytest.mark.thorough
def test_equal_rows_have_one_place_in_tsne_too():
    """t-SNE itself leaves 203 equal rows four units apart, while transform had one place for them."""
    model = TwoWayEmbedding(TSNE(max_iter=300, random_state=0)).fit(MANY_EQUAL)
    assert spread_within_groups(MANY_EQUAL, model.embedding_) == 0.0
    assert np.abs(model.transform(MANY_EQUAL) - model.embedding_).max() < 1e-6


@pytest.mark.parametrize("settings", [{"solver": "annealed"}, {"solver": "multilevel"}, {"conditioning": "residual"}])
def test_equal_rows_with_equal_given_have_one_place(settings):
    X = np.column_stack([RNG.integers(0, 3, size=(300, 2)), RNG.integers(0, 2, size=300)]).astype(np.float64)
    given = RNG.integers(0, 3, size=300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few iterations
        model = KernelInformationEmbedding(max_iter=20, random_state=0, **settings).fit(X, given=given)
    assert spread_within_groups(np.column_stack([X, given]), model.embedding_) == 0.0


def test_enough_rows_and_wide_data_with_groups_are_fitted_without_a_word():
    wide = RNG.normal(size=(20, 2000))
    wide[:10, :100] += 6.0
    for X in (RNG.normal(size=(10, 4)), wide, RNG.normal(size=(30, 40))):
        assert fitted(lambda: TwoWayEmbedding(), X)[1] == []


@pytest.mark.parametrize("n", [3, 64, 65, 1000])
def test_different_rows_are_counted_up_to_enough(n):
    X = np.zeros((n, 3))
    X[-1] = 1.0
    X[1] = np.nan
    assert count_different(X, 10) == 3
    assert count_different(np.arange(3.0 * n).reshape(n, 3), 10) == min(n, 10)


def test_the_variation_of_distances_of_noise_is_what_theory_says():
    """Of d independent columns: 1 / sqrt(2 d), whatever the unit."""
    for unit in (1e-150, 1.0, 1e150):
        assert distance_variation(unit * RNG.normal(size=(64, 5000))) == pytest.approx(0.01, rel=0.2)
    assert distance_variation(np.zeros((5, 3))) == np.inf


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("make", [KernelInformationEmbedding, ProbabilisticPCA])
def test_more_dimensions_than_columns_are_named(make):
    X = np.random.default_rng(0).normal(size=(40, 3))
    sentence = r"n_components=5 is more than the 3 columns of X, so the map has more dimensions than the data\. Ask"
    with pytest.warns(SmallDataWarning, match=sentence):
        make(n_components=5, max_iter=3).fit(X)


def test_a_plane_of_one_column_and_relations_of_few_columns_are_no_reason_to_warn():
    X, labels = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 4
    with warnings.catch_warnings():
        warnings.simplefilter("error", SmallDataWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        KernelInformationEmbedding(max_iter=3).fit(X[:, :1])
        relations = Relations({"data": Relation.from_data(X), "kind": Relation.from_labels(labels)})
        MultipleRelationalEmbedding(n_components=3, max_iter=3).fit(X, relations=relations)
        KernelInformationEmbedding(n_components=4, metric="precomputed", max_iter=3).fit(cdist(X, X))
