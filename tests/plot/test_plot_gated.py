"""Pictures of models of transformations."""

import numpy as np
import pytest
from matplotlib import pyplot as plt

from sidelight import plot
from sidelight.gated import GatedBoltzmannMachine


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def pairs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4, 6))
    return X.reshape(300, -1), np.roll(X, 1, axis=2).reshape(300, -1)


@pytest.fixture(scope="module")
def model(pairs):
    return GatedBoltzmannMachine(5, max_iter=30, random_state=0).fit(*pairs)


def shown(W):
    """The first cell of a field, black and white at the strongest thousandth of its weights."""
    return W[0].reshape(4, 6) / np.quantile(np.abs(W), 0.999)


def drawn(ax):
    return ax.images[0].get_array()


def test_filters_are_folded_and_scaled_one_by_one():
    W = np.array([[0.0, 2.0, 0.0, -1.0], [0.0, 0.0, 0.0, 10.0], [0.0, 0.0, 0.0, 0.0]])
    picture = drawn(plot.filters(W, (2, 2), columns=3))
    assert picture.shape == (4, 10)
    np.testing.assert_array_equal(picture[1:3, 1:3], [[0, 1], [0, -0.5]])
    np.testing.assert_array_equal(picture[1:3, 4:6], [[0, 0], [0, 1]])
    np.testing.assert_array_equal(picture[1:3, 7:9], 0)
    assert picture.mask[0].all()


def test_a_filter_field_has_the_weights_of_a_pixel_at_its_place(model):
    picture = drawn(plot.filter_field(model, unit=2, image_shape=(4, 6)))
    W = model.parameters_["gated.weights"][:, :, 2]
    cell = W[1 * 6 + 3].reshape(4, 6) / np.quantile(np.abs(W), 0.999)
    np.testing.assert_allclose(picture[1 + 1 * 5 : 5 + 1 * 5, 1 + 3 * 7 : 7 + 3 * 7], cell)


def test_a_factored_field_is_its_three_way_tensor(pairs):
    model = GatedBoltzmannMachine(5, n_factors=7, max_iter=20, random_state=0).fit(*pairs)
    P = model.parameters_
    W = np.einsum("if,jf,f->ij", P["gated.inputs"], P["gated.visible"], P["gated.hidden"][1])
    picture = drawn(plot.filter_field(model, unit=1, image_shape=(4, 6)))
    np.testing.assert_allclose(
        picture[1:5, 1:7], W[0].reshape(4, 6) / np.quantile(np.abs(W), 0.999), rtol=1e-5, atol=1e-6
    )


def test_components_bring_a_field_back_to_pixels(pairs):
    C = np.linalg.qr(np.random.default_rng(1).normal(size=(24, 9)))[0].T
    model = GatedBoltzmannMachine(3, max_iter=20, random_state=0).fit(*(part @ C.T for part in pairs))
    W = C.T @ model.parameters_["gated.weights"][:, :, 0] @ C
    picture = drawn(plot.filter_field(model, image_shape=(4, 6), components=C, step=2))
    assert picture.shape == (2 * 5 + 1, 3 * 7 + 1)
    np.testing.assert_allclose(
        picture[1:5, 1:7], W[0].reshape(4, 6) / np.quantile(np.abs(W), 0.999), rtol=1e-5, atol=1e-6
    )
    with pytest.raises(ValueError, match="does not match the 9 inputs and 9 outputs"):
        plot.filter_field(model, image_shape=(4, 6), components=C[:5])


def test_flow_has_an_arrow_where_a_pixel_goes_and_a_dot_where_it_stays():
    arrows = np.zeros((3, 4, 2), dtype=int)
    arrows[1, 2] = (1, -1)
    ax = plot.flow(arrows, picture=np.zeros((3, 4)), title="one goes")
    (quiver,) = ax.collections
    assert (quiver.X.item(), quiver.Y.item(), quiver.U.item(), quiver.V.item()) == (2, 1, -1, 1)
    assert len(ax.lines[0].get_xdata()) == 11
    assert ax.yaxis_inverted()
    assert ax.get_title() == "one goes"
    with pytest.raises(ValueError, match=r"flow: arrows=array of shape \(3, 4\) is not"):
        plot.flow(np.zeros((3, 4)))


def test_an_analogy_shows_pairs_others_and_what_becomes_of_them(model, pairs):
    X, Y = (part[:3] for part in pairs)
    ax = plot.analogy(model, X, Y, X[::-1], image_shape=(4, 6), truth=Y[::-1])
    assert [text.get_text() for text in ax.texts] == ["before", "after", "another", "changed", "right"]
    picture = drawn(ax)
    assert picture.shape == (3 * 5 + 1, 5 * 7 + 1)
    limits = X.min(), X.max()
    grey = np.rint(255 * (X[1].reshape(4, 6) - limits[0]) / (limits[1] - limits[0])) / 127.5 - 1
    np.testing.assert_allclose(picture[6:10, 1:7], grey, atol=1e-6)


def test_what_has_no_pixels_is_refused(model, pairs):
    with pytest.raises(ValueError, match="unit=5 is not one of the 5 mapping units"):
        plot.filter_field(model, unit=5, image_shape=(4, 6))
    with pytest.raises(ValueError, match="has 25 pixels, but a row has 24 values"):
        plot.filter_field(model, image_shape=(5, 5))
    with pytest.raises(ValueError, match="has colours"):
        plot.filters(np.zeros((2, 12)), (2, 2, 3))
    mapped = GatedBoltzmannMachine(2, premapping=3, max_iter=5, random_state=0).fit(*pairs)
    with pytest.raises(ValueError, match="model=GatedBoltzmannMachine has no weights between pixels"):
        plot.filter_field(mapped, image_shape=(4, 6))
