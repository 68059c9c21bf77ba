"""Reconstruction error, sheet correlation and the comparison with PCA."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist
from scipy.stats import spearmanr
from sklearn.decomposition import PCA

from sidelight import TwoWayEmbedding, evaluate
from sidelight.datasets import load_digits, load_oil_flow, s_curve, swiss_roll
from sidelight.evaluate import compare, reconstruction_error, sheet_correlation


class Answer:
    """A model that maps every row to a fixed function of it."""

    def __init__(self, function):
        self.denoise = function


def test_reconstruction_error_is_zero_for_the_identity_and_one_for_the_mean():
    X = s_curve(100, random_state=0).X
    assert reconstruction_error(Answer(lambda X: X), X) == 0.0
    assert reconstruction_error(Answer(lambda X: np.tile(X.mean(axis=0), (100, 1))), X) == pytest.approx(1.0)


def test_absolute_reconstruction_error_is_the_root_mean_square_distance():
    X = np.random.RandomState(0).standard_normal((50, 4))
    shift = np.array([3.0, 0.0, 4.0, 0.0])
    assert reconstruction_error(Answer(lambda X: X + shift), X, relative=False) == pytest.approx(5.0)


@pytest.mark.parametrize("scale", [1e-150, 1e150, 1e300])
def test_reconstruction_error_at_huge_and_tiny_scales(scale):
    X = np.random.RandomState(0).standard_normal((50, 4))
    halve = Answer(lambda X: X / 2)
    assert reconstruction_error(halve, X * scale) == pytest.approx(reconstruction_error(halve, X), rel=1e-12)
    expected = reconstruction_error(halve, X, relative=False) * scale
    assert reconstruction_error(halve, X * scale, relative=False) == pytest.approx(expected, rel=1e-12)


def test_reconstruction_error_of_constant_rows_is_zero_or_infinite_but_never_nan():
    X = np.full((5, 2), 0.1)
    assert reconstruction_error(Answer(lambda X: X), X) == 0.0
    assert reconstruction_error(Answer(lambda X: X + 1), X) == np.inf


def test_reconstruction_error_agrees_with_a_fitted_models_score():
    X = s_curve(150, random_state=0).X
    model = TwoWayEmbedding().fit(X, embedding=X[:, :2])
    assert reconstruction_error(model, X) ** 2 == pytest.approx(1.0 - model.score(X), abs=1e-9)


def test_reconstruction_error_refuses_answers_of_another_shape_or_with_gaps():
    with pytest.raises(ValueError, match=r"model.denoise\(X\)=\(5, 1\) does not have the shape of X \(5, 2\)"):
        reconstruction_error(Answer(lambda X: X[:, :1]), np.ones((5, 2)))
    with pytest.raises(ValueError, match="contains NaN"):
        reconstruction_error(Answer(lambda X: X * np.nan), np.ones((5, 2)))


def test_sheet_correlation_is_spearmans_on_all_pairs():
    data = s_curve(120, random_state=0)
    sheet = np.column_stack([data.factors["arc"], data.factors["height"]])
    expected = spearmanr(pdist(data.X), pdist(sheet)).statistic
    assert 0.3 < expected < 0.99
    assert sheet_correlation(data.X, sheet) == pytest.approx(expected, abs=1e-12)
    assert sheet_correlation(data.X, data.factors) == pytest.approx(expected, abs=1e-12)


def test_sheet_correlation_does_not_mind_turning_scaling_or_shifting_the_map():
    data = swiss_roll(300, random_state=0)
    sheet = np.column_stack([data.factors["arc"], data.factors["height"]])
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    assert sheet_correlation(1e-3 * sheet @ turn + 7.0, data.factors) == pytest.approx(1.0, abs=1e-6)
    assert sheet_correlation(1e150 * sheet, data.factors) == pytest.approx(1.0, abs=1e-9)


def test_sheet_correlation_samples_rows_with_the_seed():
    data = s_curve(500, random_state=0)
    whole = sheet_correlation(data.X, data.factors)
    part = sheet_correlation(data.X, data.factors, sample=150)
    assert part == sheet_correlation(data.X, data.factors, sample=150)
    assert part != sheet_correlation(data.X, data.factors, sample=150, random_state=1)
    assert part == pytest.approx(whole, abs=0.08)


def test_sheet_correlation_takes_one_factor_and_is_zero_for_a_constant_map():
    t = np.linspace(0, 1, 40)
    assert sheet_correlation(t[:, None], t) == pytest.approx(1.0)
    assert sheet_correlation(np.zeros((40, 2)), t) == 0.0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: sheet_correlation(np.zeros((9, 2)), np.zeros(8)), "factors=array of 8 rows does not have as many"),
        (lambda: sheet_correlation(np.zeros((9, 2)), np.zeros(9), sample=1), "sample=1 is not a whole number >= 3"),
        (lambda: sheet_correlation(np.zeros((2, 2)), np.zeros(2)), "fewer than 3 rows"),
        (lambda: compare(np.zeros((9, 2)), np.zeros((8, 2))), "compare: Z=array of 8 rows"),
        (lambda: compare(np.zeros((2, 2)), np.zeros((2, 2))), "compare: n_neighbors=1 is not"),
    ],
)
def test_bad_input_gets_a_sentence(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_compare_puts_the_embedding_beside_pca():
    data = load_digits().take(slice(0, 300))
    pca = PCA(2, random_state=0).fit_transform(data.X)
    table = compare(data.X, pca, labels=data.factors["label"])
    assert list(table) == ["trustworthiness", "continuity", "neighbour_hit"]
    for measure, values in table.items():
        assert values["embedding"] == pytest.approx(values["pca"], abs=1e-9), measure
    assert table["trustworthiness"]["pca"] == pytest.approx(evaluate.trustworthiness(data.X, pca), abs=1e-9)
    assert list(compare(data.X, pca)) == ["trustworthiness", "continuity"]


def test_compare_shows_what_unrolling_wins():
    data = swiss_roll(400, random_state=0)
    table = compare(data.X, np.column_stack([data.factors["arc"], data.factors["height"]]))
    assert table["trustworthiness"]["embedding"] > table["trustworthiness"]["pca"] + 0.05


def test_compare_takes_few_rows_constant_data_frames_and_more_dimensions_than_columns():
    random = np.random.RandomState(0)
    few = compare(random.standard_normal((5, 3)), random.standard_normal((5, 2)), labels=list("aabbb"))
    flat = compare(np.ones((20, 3)), random.standard_normal((20, 2)))
    frame = compare(pd.DataFrame(random.standard_normal((30, 2))), random.standard_normal((30, 4)))
    huge = compare(1e150 * random.standard_normal((30, 3)), 1e-150 * random.standard_normal((30, 2)))
    for table in (few, flat, frame, huge):
        assert all(np.isfinite(value) for row in table.values() for value in row.values())


@pytest.mark.data
def test_oil_flow_classes_by_the_nearest_neighbour_in_two_principal_components():
    """The number that kernel information embedding has to beat."""
    data = load_oil_flow()
    pca = PCA(2, random_state=0).fit_transform(data.X)
    assert evaluate.neighbour_hit(pca, data.factors["label"], n_neighbors=1) == pytest.approx(0.83, abs=0.01)
