"""The report of models without a map: pairs, changes, filters, training."""

import re

import numpy as np
import pandas as pd
import pytest
from chromium import Page, find_chromium
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from test_report_file import EVIL, Elements, picture_of

from sidelight import report
from sidelight.gated import (
    Autoencoder,
    BiasedAutoencoder,
    GatedAutoencoder,
    GatedBoltzmannMachine,
    GatedField,
    Manifield,
    RestrictedBoltzmannMachine,
)

LEARNED = ["pairs", "analogy", "flow", "filters", "training"]
SIDE = 5


@pytest.fixture(scope="module")
def pairs():
    """Random pictures, and the same moved one pixel left or right."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, SIDE, SIDE))
    steps = rng.integers(2, size=120) * 2 - 1
    Y = np.stack([np.roll(x, step, axis=1) for x, step in zip(X, steps, strict=True)])
    return X.reshape(120, -1), Y.reshape(120, -1)


@pytest.fixture(scope="module")
def machine(pairs):
    return GatedBoltzmannMachine(4, max_iter=150, validation_fraction=0.2, patience=0, random_state=0).fit(*pairs)


@pytest.fixture(scope="module")
def page(machine, pairs, tmp_path_factory):
    X, Y = pairs
    path = tmp_path_factory.mktemp("gated") / "r.html"
    return report.write(machine, path, X=X, y=Y, image_shape=(SIDE, SIDE)).read_text(encoding="utf-8")


def written(model, path, **options):
    return report.write(model, path / "r.html", **options).read_text(encoding="utf-8")


def names_of(page):
    return [attributes["id"] for tag, attributes in Elements(page).found if tag == "section"]


def section(page, name):
    return re.search(rf'<section id="{name}".*?</section>', page, re.S).group()


def images(html):
    return [picture_of(address) for address in re.findall(r'<img[^>]*src="([^"]+)"', html)]


def test_a_gated_machine_has_pairs_changes_filters_and_training(page):
    assert names_of(page) == [*LEARNED[:4], "cost", "training", "parameters", "origin"]
    assert "GatedBoltzmannMachine: what it learned" in page
    assert "120 pairs of rows of 25 values (5×5 pictures) shown to GatedBoltzmannMachine." in page


def test_a_map_has_none_of_these(model, views, tmp_path):
    assert not set(names_of(written(model, tmp_path, X=views.X))) & set(LEARNED)


def test_the_same_arguments_give_the_same_bytes(machine, pairs, page, tmp_path):
    X, Y = pairs
    assert written(machine, tmp_path, X=X, y=Y, image_shape=(SIDE, SIDE)) == page


def test_the_file_refers_to_nothing_outside_itself(page):
    for tag, attributes in Elements(page).found:
        assert "style" not in attributes, "the policy forbids it"
        for name in ("src", "href"):
            assert attributes.get(name, "data:").startswith("data:"), (tag, attributes)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("X", "y=None leaves out the outputs for a GatedBoltzmannMachine"),
        ("y", "X=None leaves out the inputs for a GatedBoltzmannMachine"),
    ],
)
def test_inputs_or_outputs_that_are_missing_are_asked_for(given, words, machine, pairs, tmp_path):
    with pytest.raises(ValueError, match=words):
        report.write(machine, tmp_path / "r.html", **{given: pairs[0]})


def test_outputs_are_one_for_each_input(machine, pairs, tmp_path):
    with pytest.raises(ValueError, match="is not one output for each of the 120 inputs"):
        report.write(machine, tmp_path / "r.html", X=pairs[0], y=pairs[1][:5])


def test_outputs_are_not_for_a_map(model, views, tmp_path):
    with pytest.raises(ValueError, match="is not for a KernelInformationEmbedding"):
        report.write(model, tmp_path / "r.html", X=views.X, y=views.X)


def test_pictures_of_pairs_are_input_output_and_reconstruction(page, machine, pairs):
    X, Y = pairs
    before, after, made = images(section(page, "pairs"))
    low, high = min(X.min(), Y.min()), max(X.max(), Y.max())
    shown = [int(row) for row in re.findall(r"row (\d+)", section(page, "flow"))]
    for place, row in enumerate(shown):
        one = slice(row, row + 1)
        for picture, rows in ((before, X[one]), (after, Y[one]), (made, machine.reconstruct(X[one], Y[one]))):
            cell = picture[:SIDE, place * (SIDE + 1) :][:, :SIDE, 0] / 255
            np.testing.assert_allclose(cell, np.clip((rows - low) / (high - low), 0, 1).reshape(SIDE, SIDE), atol=0.06)


def test_an_analogy_is_the_change_of_a_pair_done_to_others(page, machine, pairs):
    X, Y = pairs
    html = section(page, "analogy")
    others, *lines = images(html)
    named = [int(row) for row in re.findall(r'alt="as in pair (\d+)"', html)]
    assert len(lines) == 2 * len(named) == 8
    limits = others[..., 0].min() / 255, others[..., 0].max() / 255
    assert limits[0] < 0.3 < 0.7 < limits[1]
    differs = [np.abs(line[..., 0].astype(int) - others[..., 0]).max() for line in lines[1::2]]
    assert min(differs) > 50
    found = dict(zip(named, lines[1::2], strict=True))
    codes = machine.infer(X[named], Y[named])
    opposite = np.abs(codes[:, None] - codes[None]).max(axis=2) > 0.9
    first, second = np.argwhere(opposite)[0]
    assert np.abs(found[named[first]][..., 0].astype(int) - found[named[second]][..., 0]).max() > 50


def test_every_pixel_of_a_flow_has_an_arrow_or_a_dot(page, machine, pairs):
    html = section(page, "flow")
    rows = [int(row) for row in re.findall(r"row (\d+)", html)]
    steps = machine.flow(pairs[0][rows], pairs[1][rows], shape=(SIDE, SIDE)).reshape(len(rows), -1, 2)
    still, goes = (re.findall(rf'<path class="{kind}" d="([^"]*)"', html) for kind in ("still", "goes"))
    for dots, arrows, found in zip(still, goes, steps, strict=True):
        assert dots.count("h0") == (found == 0).all(axis=1).sum()
        assert arrows.count("M") == 2 * (found != 0).any(axis=1).sum()


def test_the_contrast_and_held_out_rows_have_charts_of_their_own(page):
    html = section(page, "training")
    assert html.count("<svg") == 2
    assert "150 steps" in html
    assert "held-out rows, the best so far" in html


def test_a_loss_and_that_of_held_out_rows_share_a_chart(pairs, tmp_path):
    model = Autoencoder(4, optimizer="adam", max_iter=120, validation_fraction=0.2, patience=0).fit(pairs[0])
    html = section(written(model, tmp_path, X=pairs[0]), "training")
    assert html.count("<svg") == 1
    assert html.count("<polyline") == 2


def test_codes_of_two_numbers_are_a_map_and_wider_ones_are_not(pairs, tmp_path):
    options = {"optimizer": "adam", "max_iter": 20}
    flat, wide = (Autoencoder(q, hidden=(6,), **options).fit(pairs[0]) for q in (2, 5))
    shape = {"X": pairs[0], "image_shape": (SIDE, SIDE)}
    assert names_of(written(flat, tmp_path, **shape))[:3] == ["map", "pairs", "filters"]
    html = written(wide, tmp_path, **shape)
    assert names_of(html)[:2] == ["pairs", "filters"]
    assert "PCA, 5 components" in html


def test_a_restricted_machine_shows_its_weights_the_strongest_first(pairs, tmp_path):
    model = RestrictedBoltzmannMachine(6, max_iter=50, random_state=0).fit(pairs[0])
    html = section(written(model, tmp_path, X=pairs[0], image_shape=(SIDE, SIDE)), "filters")
    (drawn,) = images(html)
    weights = model.parameters_["tie.weights"].T
    first = weights[np.argmax(np.linalg.norm(weights, axis=1))]
    np.testing.assert_allclose(drawn[:SIDE, :SIDE, 0].ravel(), 127.5 * (1 + first / np.abs(first).max()), atol=0.51)


def test_rows_that_are_no_pictures_are_bars_with_the_names_of_their_columns(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(40, 3)), columns=["a", "b", "c"])
    Y = pd.DataFrame(X.to_numpy()[:, :2], columns=[EVIL, "second"])
    model = BiasedAutoencoder(1, predictor=(), optimizer="adam", max_iter=20).fit(X, Y)
    html = written(model, tmp_path, X=X, y=Y)
    assert "<script>alert" not in html
    assert "second, model: " in section(html, "pairs")
    assert section(html, "pairs").count("<rect") == 12 * 2 * 2
    assert "of 3 and 2 values" in html


def test_a_frame_reaches_the_model_with_its_names(tmp_path):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 4)), columns=list("abcd"))
    Y = X.to_numpy()[:, ::-1]
    model = GatedBoltzmannMachine(2, max_iter=20).fit(X, Y)
    assert "filters" in names_of(written(model, tmp_path, X=X, y=Y, image_shape=(2, 2)))


def test_a_gated_autoencoder_with_a_predictor_sees_the_input_alone(pairs, tmp_path):
    X, Y = pairs
    words = {}
    for predictor in (None, ()):
        model = GatedAutoencoder(2, n_factors=3, predictor=predictor, optimizer="adam", max_iter=10).fit(X, Y)
        words[predictor] = section(written(model, tmp_path, X=X, y=Y, image_shape=(SIDE, SIDE)), "pairs")
    assert "reconstructs an output from its mapping units" in words[None]
    assert "The model uses the input alone." in words[()]


def test_sequences_are_lines(tmp_path):
    clean = np.sin(np.arange(600) / 6)
    noisy = clean + 0.1 * np.random.default_rng(0).normal(size=600)
    model = Manifield(BiasedAutoencoder(2, optimizer="adam", max_iter=20), patch_size=5).fit([noisy], [clean])
    html = written(model, tmp_path, X=[noisy], y=[clean])
    assert section(html, "pairs").count("<polyline") == 3
    assert "The first 400 sites are drawn." in html
    assert "linear filter" in html
    assert "1 pair of sequences shown to Manifield" in html


def test_a_gated_manifield_of_other_channels_sees_outputs_through_its_mapping_units(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3, 8, 8, 2))
    Y = X[..., 0] * X[..., 1]
    model = GatedAutoencoder(2, n_factors=3, optimizer="adam", max_iter=5)
    html = written(Manifield(model, patch_size=3, structure="grid").fit(X, Y), tmp_path, X=X, y=Y)
    assert names_of(html)[:2] == ["pairs", "analogy"]
    assert "reconstructs an output from its mapping units" in html
    assert "The first channel is drawn." in html
    assert "copying the input" not in html


def test_an_unconditional_field_gives_its_pictures_back(tmp_path):
    X = np.random.default_rng(0).normal(size=(2, 9, 8))
    field = Manifield(Autoencoder(2, optimizer="adam", max_iter=5), patch_size=3, structure="grid").fit(X)
    html = written(field, tmp_path, X=X)
    assert names_of(html)[:2] == ["pairs", "filters"]
    assert len(images(section(html, "pairs"))) == 2
    assert "2 pictures shown to Manifield" in html


def test_a_gated_field_has_pictures_of_any_size(tmp_path):
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(9, 8)), rng.normal(size=(7, 10)), rng.normal(size=(8, 8))]
    Y = [np.roll(x, 1, axis=1) for x in X]
    field = GatedField(GatedBoltzmannMachine(3, max_iter=5, batch_size=4), patch_size=3).fit(X, Y)
    html = written(field, tmp_path, X=X, y=Y)
    assert names_of(html)[:3] == ["pairs", "analogy", "filters"]
    before = images(section(html, "pairs"))[0]
    assert before.shape == (9, 3 * 10 + 2, 4)
    assert before[8, 12, 3] == 0, "a cell is see-through where its picture ends"


def test_any_model_that_predicts_can_be_shown(tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 4))
    Y = X @ np.arange(8).reshape(4, 2)
    html = written(LinearRegression().fit(X, Y), tmp_path, X=X, y=Y)
    assert names_of(html) == ["pairs", "cost", "parameters", "origin"]


def test_a_step_before_a_network_keeps_its_map_and_its_training(pairs, tmp_path):
    model = make_pipeline(StandardScaler(), Autoencoder(3, optimizer="adam", max_iter=20)).fit(pairs[0])
    html = written(model, tmp_path, X=pairs[0])
    assert names_of(html) == ["map", "quality", "cost", "training", "parameters", "origin"]


def test_few_pairs_are_shown_without_a_rival_that_learns(machine, pairs, tmp_path):
    html = section(written(machine, tmp_path, X=pairs[0][:2], y=pairs[1][:2], image_shape=(SIDE, SIDE)), "pairs")
    assert "copying the input" in html
    assert "linear regression" not in html


@pytest.mark.thorough
@pytest.mark.browser
@pytest.mark.skipif(find_chromium() is None, reason="no chromium on this machine (apt-get install chromium)")
def test_it_is_shown_without_an_error_and_within_a_phones_page(page, tmp_path):
    (tmp_path / "r.html").write_text(page, encoding="utf-8")
    with Page(tmp_path / "profile", width=390, dark=True) as browser:
        browser.open(tmp_path / "r.html")
        assert browser.evaluate("document.documentElement.scrollWidth") <= 390
        assert browser.evaluate("document.querySelector('#pairs img').naturalWidth") == 12 * (SIDE + 1) - 1
        assert browser.evaluate("document.querySelector('#flow .goes').getBoundingClientRect().width") > 60
        assert browser.complaints() == []
        assert browser.requests() == [(tmp_path / "r.html").resolve().as_uri()]
