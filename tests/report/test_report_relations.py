"""What a report says of a model of several relations: whose each axis is, its ends, what it tells of unseen entries."""

import re

import numpy as np
import pandas as pd
import pytest
from chromium import Page, find_chromium
from sklearn.pipeline import make_pipeline
from test_report_file import Elements, data_of, picture_of

from sidelight import EquivalenceMetric, MultipleRelationalEmbedding, Relation, report
from sidelight.evaluate import axis_recovery
from sidelight.report._axes_section import AT_AN_END
from sidelight.report._heat import heat_map


@pytest.fixture(scope="module")
def seen():
    return np.random.default_rng(0).permutation(60) < 24


@pytest.fixture(scope="module")
def relational(views, seen):
    """The turning objects in three dimensions; of two rows in five the object and the angle were told."""
    relations = {
        "object": Relation.from_labels(np.where(seen, views.factors["object"].astype(object), None)),
        "angle": Relation.from_values(np.where(seen, views.factors["angle"], np.nan), period=360.0),
    }
    return MultipleRelationalEmbedding(3, random_state=0).fit(views.X, relations=relations)


@pytest.fixture(scope="module")
def truth(views):
    return {"object": views.factors["object"], "angle": views.factors["angle"]}


@pytest.fixture(scope="module")
def page(relational, views, truth, tmp_path_factory):
    path = tmp_path_factory.mktemp("relations") / "report.html"
    report.write(relational, path, X=views.X, colours=truth, image_shape=views.image_shape)
    return path.read_text(encoding="utf-8")


def section_of(page):
    """The markup of the section about the axes."""
    start = page.index('<section id="axes"')
    return page[start : page.index("</section>", start)]


def cells_of(page, name):
    """Cells of the line of the table that begins with ``name``."""
    start = page.index(f'<tr><th scope="row">{name}</th>')
    return page[start : page.index("</tr>", start)].replace("</td>", "").split("<td>")[1:]


def written(model, path, **options):
    return report.write(model, path, **options).read_text(encoding="utf-8")


def test_the_section_follows_the_map_and_only_models_of_relations_have_it(page, model, views, tmp_path):
    sections = [attributes["id"] for tag, attributes in Elements(page).found if tag == "section"]
    assert [name for name in sections if name not in ("meaning", "groups")][:3] == ["map", "axes", "forward"]
    assert "What each axis means" in page
    assert 'id="axes"' not in written(model, tmp_path / "r.html", X=views.X)


def test_the_heat_map_has_every_share(page, relational):
    found = re.findall(r'fill-opacity="([\d.]+)"><title>([^<]+): ', section_of(page))
    np.testing.assert_allclose([float(share) for share, _ in found], relational.relation_shares_.ravel(), atol=6e-4)
    assert [where for _, where in found][3:5] == ["object, axis 1", "object, axis 2"]


def test_every_axis_says_whose_it_is_and_how_much(page, relational):
    section = section_of(page)
    for k, owner in enumerate(relational.axis_names_):
        share = relational.relation_shares_[relational.relation_names_.index(owner), k]
        assert f"<h3>Axis {k + 1}: {owner}</h3><p>{owner} has {100 * share:.0f} % of its weight here" in section
    assert relational.axis_names_[0] == "object"


def test_the_ends_of_an_axis_are_the_pictures_of_its_extreme_rows(page, relational, views):
    found = re.findall(r'alt="(\w+) rows: ([\d, ]+)" title="[^"]*" src="([^"]+)"', section_of(page))
    assert [which for which, *_ in found] == ["lowest", "highest"] * 3
    low, high = views.X.min(), views.X.max()
    for place, (which, numbers, address) in enumerate(found):
        order = np.argsort(relational.embedding_[:, place // 2], kind="stable")
        rows = order[:AT_AN_END] if which == "lowest" else order[::-1][:AT_AN_END]
        assert numbers == ", ".join(map(str, rows))
        expected = np.hstack([views.images[row] for row in rows])
        np.testing.assert_allclose(picture_of(address), 255 * (expected - low) / (high - low), atol=0.6)


def test_axes_are_measured_on_the_rows_whose_entry_was_not_seen(page, relational, truth, seen):
    found = axis_recovery(relational.embedding_, truth, ~seen, kinds={"angle": 360.0})
    for name in ("object", "angle"):
        measure, *values, chance, rows = cells_of(page, name)
        assert measure == {"object": "accuracy", "angle": "correlation"}[name]
        assert values == [f"{value:.2f}" for value in found[name].values]
        assert chance == f"{found[name].chance:.2f}"
        assert rows == "36"
    pair = found["angle"].pair
    assert f"Axes {pair[0] + 1} and {pair[1] + 1} predict angle: R² {found['angle'].pair_value:.2f}" in page


def test_entries_that_were_all_seen_are_not_measured(relational, views, truth, seen, tmp_path):
    known = {
        "object": np.where(seen, truth["object"].astype(object), None),
        "angle": np.where(seen, truth["angle"], np.nan),
    }
    page = written(relational, tmp_path / "r.html", X=views.X, attributes=known)
    assert '<tr><th scope="row">object</th>' not in page
    assert "measure" not in section_of(page)


def test_of_new_rows_nothing_was_seen(relational, views, truth, tmp_path):
    some = {name: values[:40] for name, values in truth.items()}
    page = written(relational, tmp_path / "r.html", X=views.X[:40], attributes=some)
    assert cells_of(page, "object")[-1] == "40"


@pytest.mark.thorough
def test_other_columns_are_measured_on_rows_without_any_label_or_else_on_all(relational, views, truth, tmp_path, seen):
    shade = views.X.mean(axis=1, dtype=np.float64)
    page = written(relational, tmp_path / "r.html", X=views.X, colours={"shade": shade}, attributes=truth)
    found = axis_recovery(relational.embedding_, {"shade": shade}, ~seen)["shade"]
    assert cells_of(page, "shade") == ["Spearman", *(f"{value:.2f}" for value in found.values), "0.00", "36"]
    everywhere = Relation.from_labels(truth["object"])
    whole = MultipleRelationalEmbedding(2, random_state=0).fit(views.X, relations={"object": everywhere})
    page = written(whole, tmp_path / "w.html", X=views.X, colours={"shade": shade})
    assert cells_of(page, "shade")[-1] == "60"


def test_a_column_of_a_relation_is_not_measured_twice(relational, views, truth, tmp_path):
    frames = {"object": pd.DataFrame({"thing": truth["object"]}), "angle": pd.DataFrame({"turn": truth["angle"]})}
    colours = {"thing": truth["object"], "turn": truth["angle"]}
    page = written(relational, tmp_path / "r.html", X=views.X, colours=colours, attributes=frames)
    assert '<tr><th scope="row">object</th><td>accuracy' in page
    assert '<tr><th scope="row">thing</th>' not in page


def test_a_relation_of_several_columns_has_a_line_for_each(views, truth, tmp_path):
    shade = views.X.mean(axis=1, dtype=np.float64)
    both = pd.DataFrame({"angle": truth["angle"], "shade": shade})
    some = both.where(both.index.to_series() % 3 == 0)
    fitted = MultipleRelationalEmbedding(2, random_state=0).fit(views.X, relations={"pose": Relation.from_values(some)})
    page = written(fitted, tmp_path / "r.html", X=views.X, attributes={"pose": both})
    assert cells_of(page, "pose: angle")[-1] == cells_of(page, "pose: shade")[-1] == "40"


@pytest.fixture(scope="module")
def table():
    """Six columns, the second of which is what a relation is about."""
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(80, 6)) * [2, 3, 1, 1, 1, 0], columns=list("abcdef"))
    depth = Relation.from_values(X["b"].where(np.arange(80) % 2 == 0))
    return MultipleRelationalEmbedding(2, random_state=0).fit(X, relations={"depth": depth}), X


def test_rows_that_are_no_pictures_say_what_differs_between_the_ends(table, tmp_path):
    fitted, X = table
    section = section_of(written(fitted, tmp_path / "r.html", X=X))
    order = np.argsort(fitted.embedding_[:, 0], kind="stable")
    assert f'<th scope="row">lowest</th><td>{", ".join(map(str, order[:AT_AN_END]))}</td>' in section
    first = section[section.index("mean of") :]
    name, low, high = re.search(r'<th scope="row">(\w)</th><td>([^<]+)</td><td>([^<]+)</td>', first).groups()
    assert name == "b"
    assert float(low) == pytest.approx(X["b"].iloc[order[:8]].mean(), rel=1e-3)
    assert float(high) == pytest.approx(X["b"].iloc[order[-8:]].mean(), rel=1e-3)
    assert float(high) - float(low) > 3
    assert '<th scope="row">f</th>' not in section  # a constant does not differ


def test_an_axis_of_no_relation_says_so(table, tmp_path):
    fitted, X = table
    assert fitted.axis_names_ == ["depth", ""]
    section = section_of(written(fitted, tmp_path / "r.html", X=X))
    share = fitted.relation_shares_[0, 1]
    words = f"It belongs to no single relation; data has {100 * share:.0f} % of its weight here"
    assert f"<h3>Axis 2</h3><p>{words}" in section


def test_without_the_rows_their_numbers_are_enough(table, tmp_path):
    section = section_of(written(table[0], tmp_path / "r.html"))
    assert "lowest" in section
    assert "mean of" not in section


def test_the_map_stretches_axes_of_units_of_their_own_and_names_them(page, model, views, tmp_path):
    data = data_of(page)["map"]
    assert data["axes"] == ["latent 1: object", "latent 2: angle"]
    assert data["shape"] == 0.75
    plain = data_of(written(model, tmp_path / "r.html", X=views.X))["map"]
    assert plain["axes"] == ["latent 1", "latent 2"]
    assert plain["shape"] is None


def test_the_loss_of_each_relation_is_a_line_without_a_regularization(page):
    assert "Path of the fit" in page
    assert "λ" not in page[page.index('<section id="path"') :].split("</section>")[0]
    assert "<li><i class=" in page
    assert "angle</li>" in page


@pytest.mark.thorough
def test_a_step_before_the_map_changes_nothing(views, truth, seen, tmp_path):
    metric = EquivalenceMetric().fit(views.X, truth["object"])
    relations = {"angle": Relation.from_values(np.where(seen, truth["angle"], np.nan), period=360.0)}
    last = MultipleRelationalEmbedding(2, random_state=0).fit(metric.transform(views.X), relations=relations)
    page = written(make_pipeline(metric, last), tmp_path / "r.html", X=views.X, colours=truth)
    assert cells_of(page, "angle")[-1] == "36"


def test_names_of_the_user_do_not_become_markup(views, tmp_path):
    evil = '</script><img src=x onerror="alert(2)">'
    labels = Relation.from_labels(views.factors["object"])
    fitted = MultipleRelationalEmbedding(2, random_state=0).fit(views.X, relations={evil: labels})
    page = written(fitted, tmp_path / "r.html", X=views.X, attributes={evil: views.factors["object"]})
    assert "<img" not in page
    assert "&lt;/script&gt;&lt;img" in section_of(page)


def test_a_long_name_is_cut_and_its_whole_is_in_the_tooltip():
    drawn = heat_map(["the light that comes from the left"], [("axis 1", "")], np.array([[0.5]]), "shares")
    assert "the light that comes …<title>the light that comes from the left</title>" in drawn


@pytest.mark.thorough
def test_the_same_input_gives_the_same_bytes(relational, views, truth, tmp_path):
    options = {"X": views.X, "colours": truth, "image_shape": views.image_shape}
    first, second = (report.write(relational, tmp_path / name, **options).read_bytes() for name in ("a", "b"))
    assert first == second


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        (
            {"thing": ["a"] * 60},
            r"report: attributes=thing is not a relation of labels or values \(there are: object, an",
        ),
        ({"object": ["a"]}, "does not match the 60 rows"),
    ],
)
def test_bad_attributes_get_a_sentence(relational, views, attributes, words, tmp_path):
    with pytest.raises(ValueError, match=words):
        report.write(relational, tmp_path / "r.html", X=views.X, attributes=attributes)


@pytest.mark.browser
@pytest.mark.skipif(find_chromium() is None, reason="no chromium on this machine (apt-get install chromium)")
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
@pytest.mark.thorough
def test_it_is_shown_without_an_error_and_within_the_page(page, width, dark, tmp_path):
    (tmp_path / "r.html").write_text(page, encoding="utf-8")
    with Page(tmp_path / "profile", width=width, dark=dark) as browser:
        browser.open(tmp_path / "r.html")
        assert browser.evaluate("document.documentElement.scrollWidth") <= width
        assert browser.evaluate("document.querySelector('#axes .heat rect.shade').getBoundingClientRect().width") > 40
        assert browser.evaluate("document.querySelector('#axes img').naturalWidth") == 72
        scatter = "document.getElementById('scatter').scatter"
        assert browser.evaluate(f"{scatter}.sx !== {scatter}.sy")
        assert browser.complaints() == []
        assert browser.requests() == [(tmp_path / "r.html").resolve().as_uri()]
