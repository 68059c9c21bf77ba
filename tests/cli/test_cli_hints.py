"""``--same``, ``--different``, ``--distances``, ``--attribute``: a metric is learned and goes before any method."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import Pipeline, make_pipeline

import sidelight

FEATURES = ["a", "b", "c", "d", "e"]
OPTIONS = {
    "pairs": ["--same", "same.csv", "--different", "different.csv"],
    "distances": ["--distances", "distances.csv"],
    "attribute": ["--attribute", "kind"],
    "attributes": ["--attribute", "kind", "--attribute", "size"],
}
METRICS = {
    "pairs": "EquivalenceMetric",
    "distances": "DistanceMetric",
    "attribute": "EquivalenceMetric",
    "attributes": "MultiAttributeMetric",
}
USUAL = ["density", "unusual"]


@pytest.fixture(scope="module")
def flowers():
    """Sixty flowers whose kind and size show in narrow columns, beside two wide ones that mean nothing."""
    rng = np.random.default_rng(0)
    kind, size = np.tile(["rose", "lily", "iris"], 20), np.repeat(["small", "large"], 30)
    X = rng.normal(size=(60, 5)) * [9, 1, 1, 6, 1]
    X[:, 1] += 5 * (kind == "rose")
    X[:, 2] += 5 * (kind == "lily")
    X[:, 4] += 4 * (size == "large")
    frame = pd.DataFrame(X, columns=FEATURES)
    return frame.assign(kind=kind, size=size, name=[f"f{i}" for i in range(60)], batch=np.tile(["x", "y"], 30))


@pytest.fixture(scope="module")
def pairs(flowers):
    """Row numbers of pairs that are of the same kind and of pairs that are not."""
    index = np.random.default_rng(1).permutation(np.column_stack(np.triu_indices(60, 1)))
    kind = flowers["kind"].to_numpy()
    alike = kind[index[:, 0]] == kind[index[:, 1]]
    return index[alike][:25], index[~alike][:25]


@pytest.fixture(scope="module")
def measured(flowers, pairs):
    """How far apart some rows are in two of the columns."""
    index, rows = np.vstack(pairs), flowers[["b", "c"]].to_numpy()
    return index, np.linalg.norm(rows[index[:, 0]] - rows[index[:, 1]], axis=1)


@pytest.fixture
def folder(here, flowers, pairs, measured):
    flowers.to_csv("flowers.csv", index=False)
    for name, index in zip(("same", "different"), pairs, strict=True):
        pd.DataFrame(index).to_csv(f"{name}.csv", index=False, header=False)
    index, distances = measured
    pd.DataFrame({"one": index[:, 0], "other": index[:, 1], "far": distances}).to_csv("distances.csv", index=False)
    return here


def others(arguments):
    """Options by which columns of words without another part colour the map and are not embedded."""
    return [part for name in ("kind", "size", "batch") if name not in arguments for part in ("--colour", name)]


def embed(run, *arguments, method="pca"):
    plain = () if "--standardize" in arguments else ("--no-standardize",)
    options = ("--method", method, "--no-report", "--force", *plain, *others(arguments))
    done = run("embed", "flowers.csv", "--out", "out", *options, *arguments)
    assert done.code == 0, done.err
    return done


def latent(path):
    return pd.read_csv(path)[["z1", "z2"]].to_numpy()


def rows_of(frame):
    """The features in the order of memory that a file is read in: sums of another order differ in the last bit."""
    return pd.DataFrame(np.ascontiguousarray(frame[FEATURES].to_numpy()), columns=FEATURES)


def hit(Z, labels):
    return sidelight.evaluate.neighbour_hit(Z, labels, n_neighbors=5)


def test_pairs_go_before_the_embedding_and_are_said(folder, run, flowers, pairs):
    done = embed(run, *OPTIONS["pairs"], method="kie")
    assert "EquivalenceMetric learns a metric of 5 directions from 25 same and 25 different pairs." in done.out
    X = rows_of(flowers)
    metric = sidelight.EquivalenceMetric().fit(X, same=pairs[0], different=pairs[1])
    own = sidelight.KernelInformationEmbedding(random_state=0).fit(metric.transform(X))
    np.testing.assert_allclose(latent("out/embedding.csv"), own.embedding_)


def test_one_file_of_pairs_is_enough(folder, run, flowers, pairs):
    for option, index in zip(("same", "different"), pairs, strict=True):
        embed(run, f"--{option}", f"{option}.csv")
        metric = sidelight.load("out/model.sidelight").named_steps["metric"]
        own = sidelight.EquivalenceMetric().fit(flowers[FEATURES].to_numpy(), **{option: index})
        np.testing.assert_allclose(metric.components_, own.components_)


@pytest.mark.thorough
def test_distances_go_before_the_embedding(folder, run, flowers, measured):
    done = embed(run, *OPTIONS["distances"], "--json")
    assert done.answer["metric"]["distances"] == 50
    assert done.answer["metric"]["misfit"] < 0.01
    metric = sidelight.load("out/model.sidelight").named_steps["metric"]
    index, distances = measured
    far = metric.pair_distance(flowers[FEATURES].to_numpy(), pairs=index)
    np.testing.assert_allclose(far, distances, rtol=0.05, atol=0.1)


@pytest.mark.parametrize("said", ["attribute", "attributes", "pairs", "distances"])
def test_hints_show_what_the_plain_map_does_not(said, folder, run, flowers):
    embed(run, "--drop", "kind")
    plain = hit(latent("out/embedding.csv"), flowers["kind"])
    embed(run, *OPTIONS[said])
    assert hit(latent("out/embedding.csv"), flowers["kind"]) > plain + 0.15


def test_attributes_are_not_embedded_and_colour_the_map(folder, run, flowers):
    coded = flowers.assign(kind=flowers["kind"].map({"rose": 1, "lily": 2, "iris": 3}))
    coded.loc[[3, 4], "kind"] = np.nan
    coded.to_csv("flowers.csv", index=False)
    done = embed(run, "--attribute", "kind", "--colour", "size")
    assert "from the attribute kind (3 values, 2 rows unknown)." in done.out
    model = sidelight.load("out/model.sidelight")
    assert model.feature_names_in_.tolist() == [*FEATURES, "name"]
    own = sidelight.EquivalenceMetric().fit(coded[FEATURES], coded["kind"])
    np.testing.assert_allclose(model.named_steps["metric"].components_, own.components_)
    columns = pd.read_csv("out/embedding.csv").columns.tolist()
    assert columns == ["row", "name", "z1", "z2", "batch", "size", "kind", *USUAL]
    embed(run, "--attribute", "kind")
    columns = pd.read_csv("out/embedding.csv").columns.tolist()
    assert columns == ["row", "name", "z1", "z2", "size", "batch", "kind", *USUAL]


@pytest.mark.parametrize("said", OPTIONS)
@pytest.mark.thorough
def test_the_saved_model_is_a_pipeline_that_every_command_can_use(said, folder, run, flowers):
    embed(run, *OPTIONS[said])
    model = sidelight.load("out/model.sidelight")
    assert isinstance(model, Pipeline)
    assert [type(step).__name__ for _, step in model.steps] == ["TableEncoder", METRICS[said], "TwoWayEmbedding"]
    for command in (["transform", "--out", "z.csv"], ["score"], ["report", "--out", "r.html"]):
        done = run(command[0], "out/model.sidelight", "flowers.csv", *command[1:])
        assert done.code == 0, done.err
    np.testing.assert_allclose(latent("z.csv"), model.transform(flowers[FEATURES]))
    assert run("invert", "out/model.sidelight", "z.csv", "--out", "x.csv").code == 0
    np.testing.assert_allclose(pd.read_csv("x.csv")[FEATURES], model.inverse_transform(latent("z.csv"))[FEATURES])


def test_score_measures_the_way_back_in_the_data_and_neighbours_in_both(folder, run, flowers):
    embed(run, *OPTIONS["pairs"])
    model, answer = sidelight.load("out/model.sidelight"), run("score", "out/model.sidelight", "flowers.csv", "--json")
    X = flowers[FEATURES].to_numpy()
    back = model.inverse_transform(model.transform(flowers[FEATURES]))[FEATURES].to_numpy()
    r2 = 1 - ((X - back) ** 2).sum() / ((X - X.mean(axis=0)) ** 2).sum()
    assert answer.answer["reconstruction_r2"] == pytest.approx(r2)
    assert answer.answer["trustworthiness_in_the_metric"] > answer.answer["trustworthiness"]
    assert "mean_log_density" not in answer.answer


def test_the_way_back_speaks_the_units_of_the_data(folder, run, flowers):
    flowers.assign(a=flowers["a"] * 1e4 + 7e5).to_csv("flowers.csv", index=False)
    embed(run, *OPTIONS["pairs"], "--standardize", "--dims", "5", method="hybrid")
    run("transform", "out/model.sidelight", "flowers.csv", "--out", "z.csv")
    assert run("invert", "out/model.sidelight", "z.csv", "--out", "x.csv").code == 0
    assert abs(pd.read_csv("x.csv")["a"].mean() - 7e5) < 3e4


@pytest.mark.thorough
def test_a_metric_with_a_kernel_says_that_it_has_no_way_back(folder, run):
    embed(run, "--attribute", "kind", "--set", "metric__kernel=rbf")
    assert run("transform", "out/model.sidelight", "flowers.csv", "--out", "z.csv").code == 0
    done = run("invert", "out/model.sidelight", "z.csv", "--out", "x.csv")
    assert done.code == 1
    assert "this EquivalenceMetric and TwoWayEmbedding cannot go back to the data" in done.err
    assert "reconstruction_r2" not in run("score", "out/model.sidelight", "flowers.csv", "--json").answer
    assert run("report", "out/model.sidelight", "flowers.csv", "--out", "r.html").code == 0


@pytest.mark.thorough
def test_the_report_names_both_steps_and_their_settings(folder, run):
    done = run(
        "embed", "flowers.csv", *OPTIONS["attribute"], "--out", "out", "--method", "hybrid", "--set", "alpha=0.3"
    )
    assert done.code == 0, done.err
    page = (folder / "out" / "report.html").read_text(encoding="utf-8")
    assert "made by EquivalenceMetric and HybridEmbedding" in page
    assert "from the attribute kind (3 values)" in page
    assert '<div class="changed"><dt>embedding__alpha</dt><dd>0.3</dd></div>' in page
    assert "<dt>metric__regularization</dt>" in page
    assert "which a step before the map changed" in page


@pytest.mark.thorough
def test_a_metric_and_what_is_given_work_together(folder, run, flowers, pairs):
    pd.DataFrame([[0, 1], [4, 5]]).to_csv("match.csv", index=False, header=False)
    options = ("--attribute", "kind", "--given", "batch", "--same", "match.csv", "--colour", "size", "--no-standardize")
    done = run("embed", "flowers.csv", "--out", "out", *options)
    assert done.code == 0, done.err
    assert "2 pairs of corresponding rows." in done.out
    assert "note:" not in done.err
    X, given = rows_of(flowers), flowers[["batch"]]
    metric = sidelight.EquivalenceMetric().fit(X, flowers["kind"])
    own, T = sidelight.KernelInformationEmbedding(random_state=0), metric.transform(X)
    own.fit(T, given=given, same=np.array([[0, 1], [4, 5]]))
    np.testing.assert_allclose(latent("out/embedding.csv"), own.embedding_)
    done = run("transform", "out/model.sidelight", "flowers.csv", "--out", "z.csv")
    assert "given: batch, read from flowers.csv" in done.out
    np.testing.assert_allclose(latent("z.csv"), own.transform(T, given=given))
    ask = ("counterfactual", "out/model.sidelight", "flowers.csv", "--given", "batch=x", "--out", "x.csv")
    assert run(*ask).code == 0
    moved = own.counterfactual(T, given=["x"] * 60, given_now=given)
    np.testing.assert_allclose(pd.read_csv("x.csv")[FEATURES].to_numpy(), metric.inverse_transform(moved))


def test_two_views_can_follow_a_metric(folder, run, flowers):
    flowers[["b", "e"]].to_csv("second.csv", index=False)
    embed(run, "--attribute", "kind", "--view-y", "second.csv", method="joint")
    assert run("predict", "out/model.sidelight", "flowers.csv", "--out", "second.csv", "--force").code == 0
    assert run("transform", "out/model.sidelight", "second.csv", "--view", "y", "--out", "z.csv").code == 0
    assert run("invert", "out/model.sidelight", "z.csv", "--view", "y", "--out", "b.csv").code == 0
    assert list(pd.read_csv("b.csv").columns) == ["row", "b", "e", "density", "unusual"]


@pytest.mark.thorough
def test_rows_can_be_named_with_or_without_a_heading(folder, run, flowers, pairs, measured):
    named = pd.DataFrame(flowers["name"].to_numpy()[pairs[0]], columns=["one", "other"])
    named.to_csv("headed.csv", index=False)
    named.to_csv("bare.csv", index=False, header=False)
    embed(run, "--same", "same.csv")
    expected = latent("out/embedding.csv")
    for name in ("headed.csv", "bare.csv"):
        embed(run, "--same", name, "--label", "name")
        np.testing.assert_array_equal(latent("out/embedding.csv"), expected)
    embed(run, "--distances", "distances.csv")
    expected = latent("out/embedding.csv")
    index, distances = measured
    named = pd.DataFrame(flowers["name"].to_numpy()[index]).assign(far=distances)
    named.to_csv("far.csv", index=False, header=False)
    embed(run, "--distances", "far.csv", "--label", "name")
    np.testing.assert_array_equal(latent("out/embedding.csv"), expected)


def test_pairs_count_the_rows_of_the_file_also_where_rows_are_dropped(folder, run, flowers):
    gappy = flowers.copy()
    gappy.loc[[0, 59], "a"] = np.nan
    gappy.to_csv("flowers.csv", index=False)
    pd.DataFrame([[1, 4], [4, 1], [3, 59], [2, 5]]).to_csv("same.csv", index=False, header=False)
    done = embed(run, "--same", "same.csv", "--missing", "drop")
    assert "2 same pairs; 1 same pairs that are there more than once count once; 1 same pairs of rows that" in done.out
    left = flowers[FEATURES].iloc[1:59]
    own = sidelight.EquivalenceMetric().fit(left, same=[[0, 3], [1, 4]])
    metric = sidelight.load("out/model.sidelight").named_steps["metric"]
    np.testing.assert_allclose(metric.components_, own.components_)
    pd.DataFrame([[0, 1]]).to_csv("same.csv", index=False, header=False)
    done = run("embed", "flowers.csv", "--out", "out", "--same", "same.csv", "--missing", "drop", "--force")
    assert "--same same.csv: every pair has a row that was left out" in done.err


def test_a_metric_is_at_least_as_wide_as_the_map(folder, run):
    done = embed(run, *OPTIONS["attributes"], "--dims", "3", "--json")
    assert done.answer["metric"]["directions"] == 4
    assert done.answer["metric"]["attributes"] == ["kind", "size"]
    narrow = embed(run, "--attribute", "kind", "--set", "metric__n_components=2", "--json")
    assert narrow.answer["metric"]["directions"] == 2


WRONG = [
    (["--same", "a.csv"], "0,1,2\n", "--same a.csv: needs two columns of row numbers, and has 3"),
    (["--different", "a.csv"], "0\n", "--different a.csv: needs two columns of row numbers, and has 1"),
    (["--same", "a.csv"], "", "--same a.csv: the file is empty"),
    (["--same", "a.csv"], "one,other\n", "--same a.csv: the table has no rows"),
    (["--same", "a.csv"], "0,60\n", "--same a.csv: there is no row 60; rows are counted from 0 to 59"),
    (["--same", "a.csv"], "3,3\n0,1\n", "--same a.csv: (3, 3) pairs a row with itself"),
    (["--same", "a.csv"], "o,p\nf1,f2\n", "and o holds text; name the column of row names with --label"),
    (["--same", "a.csv", "--label", "name"], "o,p\nf1,f99\n", "--same a.csv: no row is called f99; did you mean f9"),
    (["--same", "a.csv", "--label", "size"], "o,p\nsmall,large\n", "30 rows are called small; use row numbers"),
    (["--same", "nothing.csv"], "", "--same nothing.csv: there is no such file"),
    (["--same", "a.csv", "--different", "a.csv"], "2,1\n5,6\n", "(1, 2), (5, 6) is in the file of --same, too; decide"),
    (["--distances", "a.csv"], "0,1\n", "--distances a.csv: needs three columns (row, row, distance), and has 2"),
    (
        ["--distances", "a.csv"],
        "0,1,2\n0,2,-3\n",
        "--distances a.csv: pair 2 has -3, and a distance is a finite number",
    ),
    (["--distances", "a.csv"], "r,q,d\n0,1,far\n", "--distances a.csv: pair 1 has far, and a distance is"),
    (["--distances", "a.csv"], "0,1,0\n", "--distances a.csv: every distance is 0, so there is nothing to tell apart"),
    (["--distances", "a.csv"], "4,4,1\n", "--distances a.csv: (4, 4) pairs a row with itself"),
    (["--attribute", "kin"], "", "--attribute kin: flowers.csv has no such column; it has a, b, c, d, e, kind"),
    (["--attribute", "one"], "", "--attribute one: has the one value 1, so there is nothing to tell apart"),
    (["--attribute", "none"], "", "--attribute none: has no entry, so there is nothing to tell apart"),
    (["--attribute", "name"], "", "--attribute name: differs in every row, so no two rows are the same"),
    (["--attribute", "a"], "", "--attribute a: holds quantities, not groups; give a column of groups"),
    (["--attribute", "kind", "--drop", "kind"], "", "--attribute kind: is named by --drop, too; give it one part"),
    (["--attribute", "kind", "--given", "kind"], "", "--given kind: is named by --attribute, too; give it one part"),
    (
        ["--attribute", "kind", "--same", "a.csv"],
        "0,1\n",
        "--same and --attribute: one metric is learned from one kind",
    ),
    (["--set", "metric__kernel=rbf"], "", "--set metric__kernel: there is no metric; say with --same, --different"),
    (["--attribute", "kind", "--set", "metric__x=1"], "", "--set metric__x: EquivalenceMetric has no such setting"),
    (["--attribute", "kind", "--set", "metric__degree=-1"], "", "EquivalenceMetric: degree=-1 "),
]


@pytest.mark.parametrize(("arguments", "text", "sentence"), WRONG)
def test_wrong_hints_get_one_line_and_no_files(arguments, text, sentence, folder, run, flowers):
    flowers.assign(one=1, none=None).to_csv("flowers.csv", index=False)
    (folder / "a.csv").write_text(text)
    done = run("embed", "flowers.csv", "--out", "out", "--method", "pca", *arguments)
    assert done.code == 1
    assert sentence in done.err
    assert done.err.count("\n") == 1
    assert not (folder / "out").exists()


def test_arrays_and_cells_have_pairs_and_attributes_too(folder, run, flowers, pairs):
    X = flowers[FEATURES].to_numpy().astype(np.float32)
    np.savez("flowers.npz", X=X, kind=flowers["kind"].to_numpy(dtype=str))
    np.save("same.npy", pairs[0])
    for options in (["--attribute", "kind"], ["--same", "same.npy"]):
        done = run("embed", "flowers.npz", "--out", "out", "--method", "pca", "--no-report", "--force", *options)
        assert done.code == 0, done.err
        assert isinstance(sidelight.load("out/model.sidelight"), Pipeline)
    anndata = pytest.importorskip("anndata")
    obs = flowers[["kind"]].astype("category").set_axis(flowers["name"])
    anndata.AnnData(X, obs=obs).write_h5ad("cells.h5ad")
    pd.DataFrame([["f0", "f3"], ["f1", "f4"]], columns=["o", "p"]).to_csv("cells.csv", index=False)
    for options in (["--attribute", "kind"], ["--same", "cells.csv"]):
        done = run("embed", "cells.h5ad", "--out", "out", "--method", "pca", "--no-report", "--force", *options)
        assert done.code == 0, done.err


def test_folders_of_pictures_are_attributes_and_files_name_the_rows(run, here):
    from PIL import Image

    rng = np.random.default_rng(0)
    for group in ("dark", "light"):
        (here / "album" / group).mkdir(parents=True)
        for i in range(6):
            Image.fromarray(rng.integers(0, 255, (4, 4), dtype=np.uint8)).save(here / "album" / group / f"{i}.png")
    (here / "same.csv").write_text("dark/0.png,dark/1.png\nlight/0.png,light/1.png\n")
    for options, words in (
        (["--attribute", "folder"], "from the attribute folder (2 values)."),
        (["--same", "same.csv"], "from 2 same pairs."),
    ):
        done = run(
            "embed", "album", "--recursive", "--out", "out", "--method", "pca", "--no-report", "--force", *options
        )
        assert done.code == 0, done.err
        assert words in done.out


def test_a_pipeline_is_reported_on_from_python_too(here, flowers):
    X = flowers[FEATURES].to_numpy()
    model = make_pipeline(sidelight.EquivalenceMetric(), sidelight.HybridEmbedding()).fit(X, flowers["kind"])
    page = sidelight.report.write(model, "page.html", X=X).read_text(encoding="utf-8")
    assert "A map by EquivalenceMetric and HybridEmbedding" in page
    assert "From map to data" in page


def test_a_saved_metric_alone_is_a_model_as_well(here, run, flowers):
    flowers.to_csv("flowers.csv", index=False)
    metric = sidelight.EquivalenceMetric().fit(flowers[FEATURES], flowers["kind"])
    sidelight.save(metric, "metric.sidelight")
    assert run("transform", "metric.sidelight", "flowers.csv", "--out", "z.csv").code == 0
    assert run("invert", "metric.sidelight", "z.csv", "--out", "x.csv").code == 0
    np.testing.assert_allclose(pd.read_csv("x.csv")[FEATURES], flowers[FEATURES], atol=1e-9)


def documented():
    """Commands about the flowers in the docs, and the line that each is said to print."""
    page = (Path(__file__).parents[2] / "docs" / "command_line.md").read_text(encoding="utf-8")
    return re.findall(r"^\$ sidelight (embed flowers\.csv .+)\n  (.+)$", page, re.MULTILINE)


@pytest.mark.parametrize(("command", "line"), documented())
def test_the_docs_show_what_is_printed(command, line, folder, run, flowers):
    flowers[[*FEATURES, *(name for name in ("kind", "size") if name in command)]].to_csv("flowers.csv", index=False)
    done = run(*command.split(), "--no-report")
    assert done.code == 0, done.err
    assert f"  {line}\n" in done.out


def test_the_docs_have_an_example_of_every_kind_of_hint():
    commands = " ".join(command for command, _ in documented())
    assert all(option in commands for option in ("--same", "--different", "--distances", "--attribute"))


def test_the_help_says_what_same_means_with_and_without_given(run):
    text = " ".join(run("embed", "--help").out.replace("│", " ").split())
    assert "With --given: corresponding rows of different groups." in text
    for option in ("--different", "--distances", "--attribute"):
        assert option in text
