"""The spectrum of a Gram matrix as bars, summed up, with the dimension that it says."""

import numpy as np
import pytest
from matplotlib import pyplot as plt

from sidelight import SemidefiniteEmbedding, plot
from sidelight.datasets import s_curve
from sidelight.plot._spectrum import Spectrum


@pytest.fixture(scope="module")
def unfolded():
    return SemidefiniteEmbedding().fit(s_curve(120, random_state=0).X)


def heights_of(ax):
    return [bar.get_height() for bar in ax.patches]


def test_bars_are_the_shares_and_the_line_sums_them_up(unfolded):
    ax = plot.spectrum(unfolded, title="S-curve")
    heights = heights_of(ax)
    np.testing.assert_allclose(heights, unfolded.explained_[: len(heights)])
    np.testing.assert_allclose(ax.get_lines()[0].get_ydata(), np.cumsum(heights))
    assert ax.get_title() == "S-curve"


def test_the_dimension_of_a_sheet_is_told_and_its_bars_are_dark(unfolded):
    ax = plot.spectrum(unfolded)
    assert [text.get_text() for text in ax.texts][-1] == "2 dimensions hold 99 %"
    assert len({bar.get_facecolor() for bar in ax.patches[:2]}) == 1
    assert ax.patches[1].get_facecolor() != ax.patches[2].get_facecolor()


@pytest.mark.parametrize(
    ("shares", "share", "expected"),
    [([1.0], 0.99, 1), ([0.5, 0.5], 0.5, 1), ([0.5, 0.3, 0.2], 1.0, 3), ([0.9, 0.08, 0.02], 0.95, 2), ([0.0], 0.99, 0)],
)
def test_the_dimension_is_the_number_of_axes_that_hold_the_share(shares, share, expected):
    assert Spectrum(np.array(shares), share).n_dimensions == expected


def test_many_small_shares_do_not_make_many_bars():
    assert len(Spectrum(np.full(200, 0.005), 0.99).shown) == 12
    np.testing.assert_array_equal(Spectrum(np.array([1.0]), 0.99).shown, [1.0, 0.0, 0.0, 0.0])


def test_it_draws_on_given_axes(unfolded):
    ax = plt.subplots()[1]
    assert plot.spectrum(unfolded, ax=ax) is ax


def test_a_model_without_a_gram_matrix_gets_a_sentence(model):
    with pytest.raises(ValueError, match=r"spectrum: model=.* has no gram_eigenvalues_\. Fit a SemidefiniteEmbedding"):
        plot.spectrum(model)


def test_a_share_above_one_gets_a_sentence(unfolded):
    with pytest.raises(ValueError, match=r"spectrum: share=1.5 is not in \(0, 1\]\. Give 0.99"):
        plot.spectrum(unfolded, share=1.5)
