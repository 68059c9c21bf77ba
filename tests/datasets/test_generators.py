"""Generated sheets: the formulas, the factors as true lengths, and determinism."""

import numpy as np
import pytest

from sidelight.datasets import Dataset, noisy_s, s_curve, shifted_digits, swiss_roll

GENERATORS = [s_curve, swiss_roll, noisy_s]


@pytest.mark.parametrize("generate", GENERATORS)
def test_same_seed_gives_the_same_bytes(generate):
    first, second = generate(50, random_state=3), generate(50, random_state=3)
    assert first.X.tobytes() == second.X.tobytes()
    assert generate(50, random_state=4).X.tobytes() != first.X.tobytes()


@pytest.mark.parametrize("generate", GENERATORS)
def test_every_factor_has_one_entry_per_row(generate):
    data = generate(37, random_state=0)
    assert data.X.shape[0] == 37
    assert data.X.dtype == np.float64
    assert {len(values) for values in data.factors.values()} == {37}


def test_s_curve_rows_follow_the_formula():
    data = s_curve(200, height=3.0, random_state=0)
    for x, t, v in zip(data.X, data.factors["arc"], data.factors["height"], strict=True):
        np.testing.assert_allclose(x, [np.sin(t), v, np.sign(t) * (np.cos(t) - 1.0)], atol=1e-14)
    assert np.abs(data.factors["arc"]).max() <= 1.5 * np.pi
    assert 0.0 <= data.factors["height"].min() <= data.factors["height"].max() <= 3.0


def test_swiss_roll_arc_is_the_length_of_the_spiral():
    data = swiss_roll(400, random_state=0)
    t = np.hypot(data.X[:, 0], data.X[:, 2])
    fine = np.linspace(0.0, 1.0, 20001)
    for row in (0, 1, 2, 3):
        curve = fine[:, None] * t[row]
        points = np.column_stack([curve * np.cos(curve), curve * np.sin(curve)])
        length = np.linalg.norm(np.diff(points, axis=0), axis=1).sum()
        assert data.factors["arc"][row] == pytest.approx(length, rel=1e-6)


@pytest.mark.parametrize("generate", [s_curve, swiss_roll])
def test_factor_distance_is_sheet_distance_between_close_rows(generate):
    """Locally a sheet is flat: straight distances in space and in the factors agree."""
    data = generate(4000, random_state=0)
    factors = np.column_stack([data.factors["arc"], data.factors["height"]])
    query = factors[:50]
    distances = np.linalg.norm(query[:, None] - factors[None], axis=2)
    distances[np.arange(50), np.arange(50)] = np.inf
    nearest = distances.argmin(axis=1)
    straight = np.linalg.norm(data.X[:50] - data.X[nearest], axis=1)
    np.testing.assert_allclose(straight, distances.min(axis=1), rtol=0.02)


def test_noise_has_the_standard_deviation_asked_for():
    data = noisy_s(20000, noise=0.2, random_state=0)
    residual = data.X - data.factors["clean"]
    np.testing.assert_allclose(residual.std(axis=0), 0.2, rtol=0.03)
    np.testing.assert_allclose(residual.mean(axis=0), 0.0, atol=0.01)


def test_noisy_s_keeps_its_strokes_apart_at_the_sources_bandwidth():
    """exp(-r²/h), h = 1/2: a neighbour along the curve counts, the opposite stroke hardly does."""
    data = noisy_s(300, random_state=0)
    position = data.factors["position"]
    kernel = np.exp(-((data.X[:, None] - data.X[None]) ** 2).sum(axis=2) / 0.5)
    apart = np.abs(position[:, None] - position[None])
    assert kernel[(apart > 0.0) & (apart < 0.2)].mean() > 0.75
    assert kernel[apart > 3.0].mean() < 0.02


@pytest.mark.parametrize("bad", [0, -3, 2.5, "ten", True, None])
def test_bad_counts_get_a_sentence(bad):
    with pytest.raises(ValueError, match=r"^s_curve: n_samples=.* is not a whole number >= 1\. Give 1 or more\.$"):
        s_curve(bad)


@pytest.mark.parametrize("bad", [-0.1, np.nan, np.inf, "loud"])
def test_bad_noise_gets_a_sentence(bad):
    with pytest.raises(ValueError, match="swiss_roll: noise="):
        swiss_roll(10, noise=bad)


def test_dataset_take_keeps_rows_and_factors_together():
    data = s_curve(30, random_state=0)
    part = data.take(data.factors["arc"] > 0)
    assert 0 < len(part.X) < 30
    np.testing.assert_array_equal(part.X[:, 1], part.factors["height"])
    np.testing.assert_array_equal(data.take([4, 2]).X, data.X[[4, 2]])


def test_dataset_refuses_factors_and_pictures_that_do_not_fit():
    X = np.zeros((4, 6))
    with pytest.raises(ValueError, match="one entry per row"):
        Dataset(X, {"label": np.zeros(3)})
    with pytest.raises(ValueError, match="as many pixels"):
        Dataset(X, image_shape=(2, 2))
    with pytest.raises(ValueError, match="rows, columns"):
        Dataset(np.zeros(4))
    with pytest.raises(ValueError, match="no pictures"):
        _ = Dataset(X).images
    assert Dataset(X, image_shape=(2, 3)).images.shape == (4, 2, 3)


def test_shifted_digits_are_one_picture_in_many_places():
    data = shifted_digits((1, 7), n_shifts=4, step=3)
    images = data.images
    for digit in (1, 7):
        own = images[data.factors["digit"] == digit]
        for place in range(1, 4):
            np.testing.assert_array_equal(own[place], np.roll(own[0], 3 * place, axis=1))
    assert set(data.factors["shift"]) == {0, 3, 6, 9}
    assert (data.X.min(), data.X.max()) == (0.0, 1.0)


def test_shifted_digits_takes_other_pictures_and_says_what_is_wrong_with_them():
    pictures = np.random.default_rng(0).uniform(size=(2, 5, 4))
    assert shifted_digits((0, 1), n_shifts=3, pictures=pictures).image_shape == (5, 6)
    with pytest.raises(ValueError, match="is not one picture for each of the 3 digits"):
        shifted_digits((0, 1, 2), pictures=pictures)
    with pytest.raises(ValueError, match="are not digits"):
        shifted_digits((12,))
