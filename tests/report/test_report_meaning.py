"""What the axes stand for, and groups compared: the numbers of explain, in words, within a share of the fit's cost."""

import json
import re
from html import escape

import numpy as np
import pandas as pd
import pytest
from test_report_file import unpack

from sidelight import (
    KernelInformationEmbedding,
    SemidefiniteEmbedding,
    TableEncoder,
    TwoWayEmbedding,
    explain,
    report,
)
from sidelight.explain._compared import compared
from sidelight.pipeline import make_pipeline
from sidelight.plot._plane import plane_of

EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def kinds():
    rng = np.random.default_rng(0)
    kind = np.repeat(["first", "second", EVIL], 30)
    X = rng.normal(size=(90, 5)) + np.outer(kind == "second", [5, 0, 0, 0, 0]) + np.outer(kind == EVIL, [0, 4, 0, 0, 0])
    return pd.DataFrame(X, columns=["mass", EVIL, "height", "depth", "age"]), kind


@pytest.fixture(scope="module")
def fitted(kinds):
    return TwoWayEmbedding(maps="kernel").fit(kinds[0])


@pytest.fixture(scope="module")
def page(fitted, kinds, tmp_path_factory):
    path = tmp_path_factory.mktemp("meaning") / "r.html"
    return report.write(fitted, path, X=kinds[0], colours={"kind": kinds[1]}).read_text(encoding="utf-8")


def section(page, name):
    return page.partition(f'<section id="{name}"')[2].partition("</section>")[0]


def test_axes_are_said_in_words_with_the_shares_of_explain(page, fitted, kinds):
    found = section(page, "meaning")
    table = explain.axes(fitted, kinds[0])
    first = table[table.axis == "1"].iloc[0]
    assert f"{first['share']:.2f}" in found
    assert "To the right: " in found
    assert "In regions of the map" in found
    assert "what the map uses, not causes" in found
    assert EVIL not in found


def test_groups_have_the_effects_intervals_and_rates_of_explain(page, fitted, kinds):
    found = section(page, "groups")
    assert found.count("<details>") == 3
    assert EVIL not in found
    one = next(
        one for one in compared(explain.groups(fitted, kinds[0], kinds[1], tolerance=0.05)) if one.name == "second"
    )
    k = list(one.feature).index("mass")
    second = found.partition("<b>second</b>")[2].partition("</details>")[0]
    line = second.partition(">mass</th>")[2].partition("</tr>")[0]
    assert one.interval(k) in line
    assert "&lt; 0.001" in line
    mean = kinds[0]["mass"][kinds[1] == "second"].mean()
    assert f"<td>{mean:.4g}</td>" in line


def test_groups_of_an_encoded_table_have_shares_of_categories_and_mean_dates(tmp_path):
    rng = np.random.default_rng(0)
    kind = np.repeat(["flat", "house"], 40)
    day = pd.Timestamp("1990-01-01") + pd.to_timedelta(rng.integers(0, 3000, 80), unit="D")
    frame = pd.DataFrame({"size": rng.normal(size=80) + 3.0 * (kind == "house"), "heat": "gas", "built": day})
    frame.loc[:29, "heat"] = "oil"
    frame.loc[70:, "heat"] = "coal"
    model = make_pipeline(TableEncoder(), TwoWayEmbedding(maps="kernel")).fit(frame)
    path = report.write(model, tmp_path / "r.html", X=frame, colours={"kind": kind})
    flats = section(path.read_text(encoding="utf-8"), "groups").partition("<b>flat</b>")[2].partition("</details>")[0]
    line = flats.partition(">heat_oil</th>")[2].partition("</tr>")[0]
    assert line.startswith("<td>75 %</td><td>0 %</td>")
    line = flats.partition(">built</th>")[2].partition("</tr>")[0]
    assert f"<td>{day[:40].mean().round('D'):%Y-%m-%d}</td>" in line


def test_beside_what_was_given_means_are_those_of_the_data(kinds, tmp_path):
    X, kind = kinds
    site = np.tile(["a", "b"], 45)
    model = KernelInformationEmbedding(max_iter=5, tol=1e-1).fit(X, given=site)
    path = report.write(model, tmp_path / "r.html", X=X, given=site, colours={"kind": kind})
    found = section(path.read_text(encoding="utf-8"), "groups")
    assert "means and shares are of the data before" in found
    line = found.partition("<b>second</b>")[2].partition(">mass</th><td>")[2].partition("</tr>")[0]
    assert float(line.partition("</td>")[0]) == pytest.approx(X.mass[kind == "second"].mean(), rel=1e-3)


def test_moves_of_the_features_are_arrows_that_sum_to_the_way(fitted, kinds):
    table = explain.groups(fitted, kinds[0], kinds[1], tolerance=0.05)
    Z, own = fitted.embedding_, kinds[1] == "second"
    one = next(one for one in compared(table) if one.name == "second")
    assert one.way == pytest.approx(np.linalg.norm(Z[own].mean(axis=0) - Z[~own].mean(axis=0)), rel=1e-9)
    part = table[(table.group == "second") & (table.feature == "mass")]
    assert one.move[0] == pytest.approx(np.linalg.norm(part.contribution))
    within = np.sqrt((kinds[0][own].var() + kinds[0][~own].var()) / 2)
    np.testing.assert_allclose(
        one.effect, ((kinds[0][own].mean() - kinds[0][~own].mean()) / within)[list(one.feature)], rtol=1e-9
    )
    assert (one.low <= one.effect).all()
    assert (one.effect <= one.high).all()


@pytest.mark.thorough
def test_pictures_are_explained_by_pictures(model, views, columns, tmp_path):
    path = report.write(model, tmp_path / "r.html", X=views.X, colours=columns, image_shape=views.image_shape)
    page = path.read_text(encoding="utf-8")
    assert section(page, "meaning").count('<img class="signed pixels"') == 2
    assert section(page, "groups").count('<img class="signed pixels"') == len(np.unique(views.factors["object"]))


def test_a_model_without_derivatives_says_so_and_a_dear_one_is_left_out(kinds, tmp_path, monkeypatch):
    X = kinds[0].to_numpy()
    measured = SemidefiniteEmbedding(metric="cityblock", gap=0.3, tol=0.05, n_landmarks=20).fit(X)
    page = report.write(measured, tmp_path / "r.html", X=X, colours={"kind": kinds[1]}).read_text(encoding="utf-8")
    assert "needs derivatives of the maps, which this model does not have in closed form" in section(page, "meaning")
    assert not section(page, "groups")
    from sidelight.report import _meaning

    monkeypatch.setattr(_meaning, "SECONDS", 1e-9)
    monkeypatch.setattr(_meaning, "SHARE", 0.0)
    path = report.write(TwoWayEmbedding(maps="kernel").fit(X), tmp_path / "r.html", X=X, colours={"kind": kinds[1]})
    assert re.search(
        r"Left out, because it would take about [\d,]+ s", section(path.read_text(encoding="utf-8"), "groups")
    )


@pytest.mark.thorough
def test_with_given_columns_are_looked_at_after_its_effect(kinds, tmp_path):
    X, kind = kinds[0].to_numpy(), kinds[1]
    given = {"place": np.tile(["a", "b"], 45)}
    fitted = KernelInformationEmbedding(random_state=0).fit(X + 3.0 * (given["place"] == "b")[:, None], given=given)
    path = report.write(fitted, tmp_path / "r.html", X=X, given=given, colours={"kind": kind})
    found = section(path.read_text(encoding="utf-8"), "groups")
    assert "after subtracting the effect of given" in found
    assert "elsewhere" in found
    assert "means and shares are of the data before" in found


def test_quality_says_which_share_of_the_rows_can_be_believed(page, fitted, kinds):
    for sentence in explain.in_words(explain.reliability(fitted, kinds[0])):
        assert escape(sentence) in section(page, "quality")


def test_numbers_at_a_place_have_the_intervals_of_the_model(page, fitted, kinds):
    data = json.loads(page.partition('id="sidelight-data">')[2].partition("</script>")[0])
    profile, rows, columns = data["forward"]["profile"], data["forward"]["rows"], data["forward"]["columns"]
    lattice = plane_of(fitted.embedding_).grid(rows, columns)
    found = fitted.inverse_transform_interval(lattice.points, level=0.9)
    middle = fitted.inverse_transform(lattice.points)
    span = np.array(profile["high"]) - np.array(profile["low"])
    above = unpack(profile["interval"]["above"]).reshape(-1, 5) / 255 * profile["interval"]["widest"] * span
    np.testing.assert_allclose(above, found.upper - middle, atol=0.003 * float((found.upper - middle).max()))
