"""``--relation``: kinds of similarity of which a fifth of the rows know, and the axes that mean them."""

import numpy as np
import pandas as pd
import pytest

import sidelight
from sidelight import MultipleRelationalEmbedding, Relation
from sidelight.cli._output import CommandError
from sidelight.cli._relations import RelationOption, build_relations, parse_relations
from sidelight.evaluate import axis_recovery

FEATURES = [f"x{k}" for k in range(8)]
ATTRIBUTES = ["azimuth", "person", "turn"]
OPTIONS = ["--relation", "light=azimuth", "--relation", "who=person:labels", "--relation", "turn:360"]


@pytest.fixture(scope="module")
def truth():
    """Pictures, so to say, of three people who turn round under a light that moves: eight mixed columns."""
    rng = np.random.default_rng(0)
    azimuth, turn, person = rng.uniform(-90, 90, 160), rng.uniform(0, 360, 160), rng.integers(1, 4, 160)
    a, mixing = np.deg2rad(turn), np.linalg.qr(rng.normal(size=(8, 8)))[0]
    parts = [azimuth / 40, 1.5 * np.cos(a), 1.5 * np.sin(a), 3.0 * (person[:, None] == [1, 2, 3])]
    X = np.column_stack([*parts, 0.05 * rng.normal(size=(160, 2))]) @ mixing
    return pd.DataFrame(X, columns=FEATURES).assign(azimuth=azimuth, person=person, turn=turn)


@pytest.fixture(scope="module")
def table(truth):
    """The same, with a fifth of the entries of each attribute."""
    rng, few = np.random.default_rng(1), truth.copy()
    for name in ATTRIBUTES:
        few[name] = few[name].where(rng.permutation(160) < 32)
    return few


@pytest.fixture
def folder(here, table, truth):
    table.to_csv("few.csv", index=False)
    truth.to_csv("all.csv", index=False)
    return here


@pytest.fixture(scope="module")
def embedded(table, truth, run, tmp_path_factory):
    """A folder with the table, the truth, and a model of four axes."""
    place = tmp_path_factory.mktemp("relations")
    table.to_csv(place / "few.csv", index=False)
    truth.to_csv(place / "all.csv", index=False)
    done = run("embed", place / "few.csv", *OPTIONS, "--dims", "4", "--out", place / "out", "--no-standardize")
    assert done.code == 0, done.err
    return place, done


@pytest.mark.thorough
def test_what_the_relations_are_and_whose_the_axes_are_is_said(embedded, inner):
    out = embedded[1].out
    assert "8 columns are embedded: 8 numbers (x0, x1, x2, x3, x4, x5 and 2 more)." in out
    assert "Relation light: values of azimuth, known of 32 of 160 rows." in out
    assert "Relation who: labels of person, known of 32 of 160 rows." in out
    assert "Relation turn: values of period 360 of turn, known of 32 of 160 rows." in out
    assert "Embedding with relational in 4 dimensions" in out
    model = inner(embedded[0] / "out" / "model.sidelight")
    share = 100 * model.relation_shares_[model.relation_names_.index("light"), 0]
    assert f"z1_light: light has {share:.0f} % of its weight there" in out


@pytest.mark.thorough
def test_the_model_is_the_one_of_the_library(embedded, table, inner):
    model = inner(embedded[0] / "out" / "model.sidelight")
    relations = {
        "light": Relation.from_values(table["azimuth"]),
        "who": Relation.from_labels(table["person"]),
        "turn": Relation.from_values(table["turn"], period=360.0),
    }
    rows = pd.DataFrame(np.ascontiguousarray(table[FEATURES].to_numpy()), columns=FEATURES)
    own = MultipleRelationalEmbedding(4, random_state=0).fit(rows, relations=relations)
    np.testing.assert_allclose(model.embedding_, own.embedding_)
    assert model.axis_names_ == own.axis_names_


def test_axes_tell_the_attributes_of_rows_that_had_none(embedded, table, truth):
    Z = pd.read_csv(embedded[0] / "out" / "embedding.csv")
    axes = [name for name in Z.columns if name.startswith("z")]
    assert axes == ["z1_light", "z2_who", "z3_turn", "z4_turn"]
    unseen = {name: table[name].isna() for name in ATTRIBUTES}
    found = axis_recovery(Z[axes], truth[ATTRIBUTES], unseen, kinds={"turn": 360.0})
    assert [one.n_rows for one in found.attributes] == [128, 128, 128]
    assert found["azimuth"].values[0] > 0.9  # larger value, larger attribute
    assert found["person"].strengths[1] > 0.9
    assert found["turn"].pair == (2, 3)
    assert found["turn"].pair_value > 0.9


def test_transform_and_invert_go_there_and_back_by_the_names_of_the_axes(embedded, run, truth, monkeypatch, inner):
    monkeypatch.chdir(embedded[0])
    model = inner("out/model.sidelight")
    assert run("transform", "out/model.sidelight", "all.csv", "--out", "z.csv").code == 0
    Z = pd.read_csv("z.csv")
    axes = ["z1_light", "z2_who", "z3_turn", "z4_turn"]
    np.testing.assert_allclose(Z[axes], model.transform(truth[FEATURES].to_numpy()))
    assert list(Z.columns) == ["row", *axes, "azimuth", "person", "turn", "density", "unusual"]
    plain = Z[axes].set_axis(["z1", "z2", "z3", "z4"], axis=1)
    plain.assign(other=1.0).to_csv("plain.csv", index=False)
    for points in ("z.csv", "plain.csv"):
        assert run("invert", "out/model.sidelight", points, "--out", "x.csv", "--force").code == 0
        np.testing.assert_allclose(pd.read_csv("x.csv")[FEATURES], model.inverse_transform(Z[axes].to_numpy()))
    assert run("score", "out/model.sidelight", "all.csv", "--json").answer["reconstruction_r2"] > 0.8


@pytest.mark.thorough
def test_a_report_over_all_entries_measures_the_axes_on_rows_that_had_none(embedded, run, monkeypatch):
    monkeypatch.chdir(embedded[0])
    page = (embedded[0] / "out" / "report.html").read_text(encoding="utf-8")
    assert '<section id="axes"' in page
    assert '<tr><th scope="row">light</th>' not in page  # the table knows no entry that the model had not
    assert run("report", "out/model.sidelight", "all.csv", "--out", "all.html").code == 0
    page = (embedded[0] / "all.html").read_text(encoding="utf-8")
    for name, measure in (("light", "Spearman"), ("who", "accuracy"), ("turn", "correlation")):
        start = page.index(f'<tr><th scope="row">{name}</th><td>{measure}</td>')
        assert page[start : page.index("</tr>", start)].endswith("<td>128</td>")
    assert '<tr><th scope="row">azimuth</th>' not in page  # it is light's own column, not another one


def test_json_has_the_relations_and_the_axes(folder, run, table):
    done = run(
        "embed", "few.csv", "--relation", "azimuth", "--drop", "turn", "--drop", "person", "--json", "--no-report"
    )
    assert done.code == 0, done.err
    assert done.answer["method"] == "relational"
    assert done.answer["relations"] == {"azimuth": {"columns": ["azimuth"], "kind": "values", "rows": 32}}
    first, second = done.answer["axes"]
    assert (first["axis"], first["relation"]) == ("z1_azimuth", "azimuth")
    assert 0.5 < first["share"] <= 1.0
    assert second == {"axis": "z2", "relation": None, "share": None}


def test_several_columns_are_one_relation(folder, run, table, inner):
    done = run("embed", "few.csv", "--relation", "pose=azimuth+turn", "--drop", "person", "--no-report", "--json")
    assert done.code == 0, done.err
    both = int(table[["azimuth", "turn"]].notna().all(axis=1).sum())
    assert done.answer["relations"]["pose"] == {"columns": ["azimuth", "turn"], "kind": "values", "rows": both}
    assert inner("sidelight-out/model.sidelight").relations_["pose"].entries.shape == (both, 2)


def test_rows_that_are_left_out_are_not_in_the_relation(folder, run, table, inner):
    gappy = table.copy()
    gappy.loc[:9, "x0"] = np.nan
    gappy.to_csv("few.csv", index=False)
    options = ["--relation", "azimuth", "--drop", "turn", "--drop", "person", "--missing", "drop", "--no-report"]
    assert run("embed", "few.csv", *options).code == 0
    model = inner("sidelight-out/model.sidelight")
    left = gappy["azimuth"].iloc[10:].reset_index(drop=True).dropna()
    assert model.relations_["azimuth"].index.tolist() == left.index.tolist()
    np.testing.assert_array_equal(model.relations_["azimuth"].entries[:, 0], left)


@pytest.mark.thorough
def test_a_metric_may_go_before_the_relations(folder, run, truth):
    truth.assign(kind=np.where(truth["person"] == 1, "a", "b")).to_csv("kinds.csv", index=False)
    options = ["--relation", "azimuth", "--attribute", "kind", "--drop", "person", "--drop", "turn"]
    done = run("embed", "kinds.csv", *options, "--out", "out")
    assert done.code == 0, done.err
    assert [type(step).__name__ for step in sidelight.load("out/model.sidelight")] == [
        "TableEncoder",
        "EquivalenceMetric",
        "MultipleRelationalEmbedding",
    ]
    assert '<section id="axes"' in (folder / "out" / "report.html").read_text(encoding="utf-8")
    assert "z1_azimuth" in pd.read_csv("out/embedding.csv").columns


@pytest.mark.thorough
def test_arrays_cells_and_folders_have_relations_too(folder, run, table):
    X = table[FEATURES].to_numpy()
    np.savez("few.npz", X=X, azimuth=table["azimuth"].to_numpy())
    assert run("embed", "few.npz", "--relation", "azimuth", "--no-report", "--out", "a").code == 0
    anndata = pytest.importorskip("anndata")
    obs = table[["azimuth"]].set_axis([f"c{i}" for i in range(160)])
    anndata.AnnData(X, obs=obs).write_h5ad("cells.h5ad")
    assert run("embed", "cells.h5ad", "--relation", "azimuth", "--no-report", "--out", "b").code == 0
    first, second = (sidelight.load(f"{out}/model.sidelight") for out in "ab")
    np.testing.assert_allclose(first.embedding_, second.embedding_)
    assert first.axis_names_ == ["azimuth", ""]


def test_folders_of_pictures_are_labels(here, run):
    from PIL import Image

    rng = np.random.default_rng(0)
    for group in ("left", "right"):
        (here / "pictures" / group).mkdir(parents=True)
        for k in range(12):
            pixels = rng.integers(0, 90, (6, 6)) + 150 * (group == "left")
            Image.fromarray(pixels.astype(np.uint8)).save(here / "pictures" / group / f"{k}.png")
    done = run("embed", "pictures", "--recursive", "--relation", "side=folder", "--out", "out")
    assert done.code == 0, done.err
    assert "Relation side: labels of folder, known of 24 of 24 rows." in done.out
    assert 'alt="lowest rows: ' in (here / "out" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("entries", "kind", "expected"),
    [
        ([1.5, 2.5, None, 2.5], None, "values"),
        ([1.0, 2.0, None, 2.0] * 9, None, "labels"),  # whole numbers with gaps are as they were written
        ([10.0, 20.0, 30.0, None], None, "values"),
        (["a", "b", None, "a"], None, "labels"),
        ([True, False, None, True], None, "labels"),
        ([1, 2, 3, 2], "values", "values"),
        ([0.5, 1.5, None, 0.5], "labels", "labels"),
        ([350.0, 10.0, None, 20.0], "angle", "values"),
        ([23.0, 1.0, None, 12.0], 24.0, "values"),
    ],
)
def test_the_kind_is_what_the_entries_look_like_unless_said(entries, kind, expected):
    built, (words,), answer = build_relations([RelationOption("r", ("c",), kind)], pd.DataFrame({"c": entries}))
    here = [entry is not None for entry in entries]
    assert built["r"].kind == expected
    assert built["r"].index.tolist() == np.flatnonzero(here).tolist()
    assert len(built["r"]) == len(entries)
    assert built["r"].period == {"angle": 360.0, 24.0: 24.0}.get(kind)
    assert answer["r"]["rows"] == sum(here)
    assert f"known of {sum(here)} of {len(entries)} rows." in words


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("person", RelationOption("person", ("person",))),
        ("who=person:labels", RelationOption("who", ("person",), "labels")),
        ("hour:24", RelationOption("hour", ("hour",), 24.0)),
        ("pose=pan+tilt:values", RelationOption("pose", ("pan", "tilt"), "values")),
        ("pan+tilt", RelationOption("pan+tilt", ("pan", "tilt"))),
    ],
)
def test_relations_are_read_with_or_without_name_and_kind(text, asked):
    assert parse_relations([text]) == (asked,)


@pytest.mark.parametrize(
    ("columns", "asked", "sentence"),
    [
        (
            {"a": ["x", "y", "x"]},
            RelationOption("r", ("a",), "values"),
            "--relation r: a holds x, which is no number; use :labels",
        ),
        ({"a": [1.0, np.inf, 2.5]}, RelationOption("r", ("a",), "values"), "--relation r: has infinite entries"),
        (
            {"a": ["x", "y", "z"]},
            RelationOption("r", ("a",)),
            "--relation r: a differs in every row, so no two rows are the same",
        ),
        (
            {"a": [1, 2], "b": ["x", "y"]},
            RelationOption("r", ("a", "b")),
            "several columns are values, and b holds names",
        ),
        (
            {"a": [1, 2], "b": [1, 2]},
            RelationOption("r", ("a", "b"), "labels"),
            "a and b are several columns, and labels are one",
        ),
        ({"a": [1, None], "b": [None, 2]}, RelationOption("r", ("a", "b")), "--relation r: no row has both a and b"),
    ],
)
def test_entries_that_make_no_relation_get_a_sentence(columns, asked, sentence):
    with pytest.raises(CommandError) as error:
        build_relations([asked], pd.DataFrame(columns))
    assert sentence in str(error.value)


WRONG = [
    (["--relation", "azimut"], "--relation azimut: few.csv has no such column; it has x0, x1"),
    (["--relation", "azimut"], "did you mean azimuth?"),
    (["--relation", "light=azimuth:angles"], "no such kind; choose labels, values, angle (in degrees), or a period"),
    (["--relation", "light=azimuth:angles"], "did you mean angle?"),
    (["--relation", "azimuth:-3"], "--relation azimuth:-3: no such kind"),
    (["--relation", "light="], "--relation light=: write it as [NAME=]COLUMN[:KIND], for example"),
    (["--relation", "=azimuth"], "--relation =azimuth: write it as [NAME=]COLUMN[:KIND]"),
    (["--relation", "a=azimuth", "--relation", "a=turn"], "--relation a: is there twice; give each relation its own"),
    (["--relation", "data=azimuth"], "--relation data: is the name of the relation between the rows themselves"),
    (["--relation", "none", "--drop", "azimuth"], "--relation none: none has no entry"),
    (
        ["--relation", "one", "--drop", "azimuth"],
        "--relation one: one has the one value 1, so there is nothing to tell apart",
    ),
    (["--relation", "azimuth", "--drop", "azimuth"], "--relation azimuth: is named by --drop, too; give it one part"),
    (["--relation", "azimuth", "--given", "azimuth"], "--given azimuth: is named by --relation, too; give it one part"),
    (["--relation", "azimuth", "--method", "pca"], "--relation: the method pca cannot use it; use --method relational"),
    (["--relation", "azimuth", "--method", "joint"], "the method joint cannot use it; use --method relational"),
    (["--relation", "azimuth", "--given", "person"], "--given: the method relational cannot use it; use --method kie"),
    (["--relation", "azimuth", "--set", "weights={'azimut': 2}"], "weights=azimut is not the name of a relation"),
]


@pytest.mark.parametrize(("arguments", "sentence"), WRONG)
def test_wrong_relations_get_one_line_and_no_files(arguments, sentence, folder, run, table, truth):
    truth.assign(azimuth=table["azimuth"], one=1, none=np.nan).to_csv("few.csv", index=False)
    done = run("embed", "few.csv", "--out", "out", *arguments)
    assert done.code == 1
    assert sentence in done.err
    assert done.err.count("\n") == 1
    assert not (folder / "out").exists()
