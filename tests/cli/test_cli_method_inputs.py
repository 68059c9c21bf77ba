"""Methods with an input of their own: mixtures, networks, actions, pictures, distances, files larger than memory."""

import numpy as np
import pandas as pd
import pytest
from scipy import io, sparse
from sklearn.neighbors import kneighbors_graph

import sidelight
from sidelight.datasets import imagebot

FEATURES = ["length", "width", "height", "depth"]


def test_a_mixture_of_planes_writes_clusters_and_coordinates_within_them(table, frame, run, here, inner):
    plain = ("--colour", "kind", "--no-standardize")
    done = run("embed", table, "--method", "ppca-mixture", "--set", "n_charts=3", "--dims", 1, "--out", "out", *plain)
    assert done.code == 0, done.err
    assert "A mixture has clusters and no common map" in done.out
    assert "A mixture has clusters and no common map" in (here / "out/report.html").read_text()
    found = pd.read_csv("out/embedding.csv")
    assert list(found.columns) == ["row", "cluster", "u1", "p1", "p2", "p3", "kind"]
    model = inner("out/model.sidelight")
    shares = model.predict_proba(frame[FEATURES].to_numpy())
    np.testing.assert_allclose(found[["p1", "p2", "p3"]], shares)
    assert (found["cluster"] == shares.argmax(axis=1) + 1).all()
    own = [model.charts_.features(frame[FEATURES].to_numpy()[[i]], c - 1)[0, 0] for i, c in enumerate(found["cluster"])]
    np.testing.assert_allclose(found["u1"], own)
    assert run("transform", "out/model.sidelight", table, "--out", "again.csv").code == 0
    again = pd.read_csv("again.csv")
    pd.testing.assert_frame_equal(again.drop(columns=["density", "unusual"]), found)
    assert again["density"].between(0, 1).all()


def test_a_mixture_of_bernoullis_writes_clusters(frame, run, here):
    (frame[FEATURES] > 4).astype(int).to_csv("answers.csv", index=False)
    done = run("embed", "answers.csv", "--method", "bernoulli-mixture", "--set", "n_charts=2", "--out", "out")
    assert done.code == 0, done.err
    assert list(pd.read_csv("out/embedding.csv").columns) == ["row", "cluster", "p1", "p2", *FEATURES]
    assert (
        "cannot go back to the data" in run("invert", "out/model.sidelight", "out/embedding.csv", "--out", "b.csv").err
    )


def test_an_autoencoder_writes_codes_and_goes_both_ways(table, frame, run, here, inner):
    pytest.importorskip("torch", reason="needs the extra torch")
    plain = ("--colour", "kind", "--no-standardize")
    done = run("embed", table, "--method", "autoencoder", "--set", "max_iter=30", "--out", "out", *plain)
    assert done.code == 0, done.err
    model = inner("out/model.sidelight")
    found = pd.read_csv("out/embedding.csv")[["z1", "z2"]]
    np.testing.assert_allclose(found, model.transform(frame[FEATURES].to_numpy()))
    assert run("invert", "out/model.sidelight", "out/embedding.csv", "--out", "back.csv").code == 0
    np.testing.assert_allclose(pd.read_csv("back.csv")[FEATURES], model.inverse_transform(found.to_numpy()))


@pytest.fixture
def pairs(here):
    X = np.random.default_rng(0).normal(size=(40, 4))
    np.save("before.npy", X)
    np.save("after.npy", np.roll(X, 1, axis=1))
    return X, np.roll(X, 1, axis=1)


@pytest.mark.thorough
@pytest.mark.parametrize("method", ["gated-boltzmann", "gated-autoencoder"])
def test_models_of_pairs_write_codes_of_the_change(method, pairs, run, here):
    pytest.importorskip("torch", reason="needs the extra torch")
    options = ("--method", method, "--view-y", "after.npy", "--dims", 3, "--set", "max_iter=20", "--out", "out")
    done = run("embed", "before.npy", *options)
    assert done.code == 0, done.err
    assert "z1 to z3 are codes of how each row became that of --view-y" in done.out
    model = sidelight.load("out/model.sidelight")
    np.testing.assert_allclose(pd.read_csv("out/embedding.csv")[["z1", "z2", "z3"]], model.infer(*pairs))
    assert 'id="pairs"' in (here / "out/report.html").read_text()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_model_that_predicts_writes_its_predictions(pairs, run, here):
    pytest.importorskip("torch", reason="needs the extra torch")
    options = ("--method", "biased-autoencoder", "--view-y", "after.npy", "--set", "max_iter=20", "--out", "out")
    done = run("embed", "before.npy", *options)
    assert done.code == 0, done.err
    assert run("predict", "out/model.sidelight", "before.npy", "--out", "y.csv").code == 0
    written = pd.read_csv("out/embedding.csv").drop(columns="row")
    assert list(written.columns) == [f"predicted x{k}" for k in range(1, 5)]
    np.testing.assert_allclose(written.to_numpy(), pd.read_csv("y.csv").drop(columns="row").to_numpy())


def test_a_model_of_pairs_says_that_it_needs_them(pairs, run, here):
    pytest.importorskip("torch", reason="needs the extra torch")
    done = run("embed", "before.npy", "--method", "gated-boltzmann")
    assert done.code == 1
    assert "--method gated-boltzmann: learns transformations of rows; pass the outputs with --view-y FILE" in done.err
    holes = pairs[1].copy()
    holes[3] = np.nan
    np.save("holes.npy", holes)
    done = run("embed", "before.npy", "--method", "gated-boltzmann", "--view-y", "holes.npy")
    assert "some rows are empty, and gated-boltzmann learns from pairs" in done.err


@pytest.fixture
def drive(here):
    data = imagebot("line", view=20)
    frame = pd.DataFrame(data.X[:, ::10], columns=[f"x{k}" for k in range(data.X[:, ::10].shape[1])])
    frame["action"] = data.factors["actions"]
    frame.to_csv("drive.csv", index=False)
    return frame


def test_actions_are_a_column_and_mean_the_method_for_them(drive, run, here, inner):
    done = run("embed", "drive.csv", "--actions", "action", "--out", "out", "--no-standardize")
    assert done.code == 0, done.err
    assert "Rows in temporal order: 60 steps with 2 different actions." in done.out
    assert "Embedding with action in 2 dimensions" in done.out
    model = inner("out/model.sidelight")
    own = sidelight.ActionRespectingEmbedding(random_state=0).fit(
        drive.drop(columns="action"), actions=drive["action"].to_list()
    )
    np.testing.assert_allclose(model.embedding_, own.embedding_, atol=1e-9)  # some coordinates are 0
    assert (model.predict_next(7, "backward") == own.predict_next(7, "backward")).all()


@pytest.mark.thorough
def test_steps_to_rows_that_were_left_out_are_left_out(drive, run, here):
    drive.assign(run=["a"] * 30 + ["b"] * (len(drive) - 30)).to_csv("runs.csv", index=False)
    done = run("embed", "runs.csv", "--actions", "action", "--trajectory", "run", "--no-report", "--out", "out")
    assert "59 steps with 2 different actions in 2 trajectories." in done.out, done.err
    drive.loc[10, "x1"] = np.nan
    drive.to_csv("gap.csv", index=False)
    done = run("embed", "gap.csv", "--actions", "action", "--missing", "drop", "--no-report", "--out", "gap")
    assert "58 steps with 2 different actions; 2 steps from or to rows that were left out are not used." in done.out


@pytest.mark.thorough
def test_a_trajectory_without_actions_is_for_missing_entries(here, run, inner):
    time = np.linspace(0, 6, 90)
    X = np.column_stack([np.cos(time), np.sin(time), np.cos(2 * time), time])
    gaps = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    frame = pd.DataFrame(gaps, columns=list("abcd")).assign(run=np.repeat(["one", "two"], 45))
    frame.to_csv("runs.csv", index=False)
    done = run("embed", "runs.csv", "--trajectory", "run", "--no-standardize", "--no-report", "--out", "out")
    assert "Rows in temporal order in 2 trajectories: adjacent rows help to fill missing entries." in done.out, done.err
    model = inner("out/model.sidelight")
    own = sidelight.KernelInformationEmbedding(missing="expected", random_state=0)
    own.fit(frame.drop(columns="run"), trajectory=frame["run"])
    np.testing.assert_allclose(model.filled_, own.filled_, rtol=1e-9)
    frame.dropna().to_csv("whole.csv", index=False)
    done = run("embed", "whole.csv", "--trajectory", "run", "--no-report", "--out", "whole")
    assert "nothing is missing, so that the order of the rows changes nothing" in done.out, done.err
    done = run("embed", "runs.csv", "--trajectory", "run", "--method", "ppca", "--no-report", "--out", "ppca")
    assert done.code == 1
    assert "--trajectory: the method ppca cannot use it" in done.err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--actions", "acton"], "--actions or --trajectory acton: drive.csv has no such column"),
        (["--trajectory", "action"], "--trajectory action: some entries are empty; name the trajectory of each row"),
        (
            ["--actions", "action", "--method", "hybrid"],
            "--actions: the method hybrid cannot use it; use --method action",
        ),
        (["--actions", "action", "--drop", "action"], "is named by --drop, too"),
    ],
)
def test_what_is_wrong_with_actions_is_said(options, sentence, drive, run):
    done = run("embed", "drive.csv", *options)
    assert done.code == 1
    assert sentence in done.err


@pytest.mark.parametrize("options", [("--method", "tangent"), ("--method", "hybrid", "--set", "metric=tangent")])
def test_pictures_are_embedded_by_tangent_distances(options, run, here):
    pictures = np.random.default_rng(0).normal(size=(30, 5, 4))
    np.save("pictures.npy", pictures)
    done = run("embed", "pictures.npy", *options, "--set", "transformation=shift", "--no-report", "--out", "out")
    assert done.code == 0, done.err
    distance = sidelight.TangentDistance("shift", image_shape=(5, 4))
    own = sidelight.HybridEmbedding(metric=distance, random_state=0).fit(pictures.reshape(30, 20))
    np.testing.assert_allclose(sidelight.load("out/model.sidelight").embedding_, own.embedding_)
    assert run("transform", "out/model.sidelight", "pictures.npy", "--out", "z.csv").code == 0


@pytest.fixture
def distances(table, frame):
    X = frame[FEATURES].to_numpy()
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    np.save("D.npy", D)
    return D


def test_distances_are_embedded_and_the_table_colours_the_map(distances, table, run, here):
    done = run("embed", table, "--distances-matrix", "D.npy", "--out", "out", "--set", "perplexity=10")
    assert done.code == 0, done.err
    own = sidelight.KernelInformationEmbedding(metric="precomputed", perplexity=10, random_state=0).fit(distances)
    found = pd.read_csv("out/embedding.csv")
    assert list(found.columns) == ["row", "z1", "z2", *FEATURES, "kind"]
    np.testing.assert_allclose(found[["z1", "z2"]], own.embedding_)
    np.save("new.npy", distances[:5])
    assert run("transform", "out/model.sidelight", "new.npy", "--out", "z.csv").code == 0
    np.testing.assert_allclose(pd.read_csv("z.csv")[["z1", "z2"]], own.embedding_[:5], atol=1e-8)


@pytest.mark.parametrize("method", ["hybrid", "semidefinite", "action"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_other_methods_of_distances(method, distances, run, here):
    settings = ["--set", "gap=0.3", "--set", "tol=0.05"] if method != "hybrid" else []
    done = run("embed", "D.npy", "--distances-matrix", "D.npy", "--method", method, "--no-report", *settings)
    assert done.code == 0, done.err
    assert list(pd.read_csv("sidelight-out/embedding.csv").columns) == ["row", "z1", "z2"]


@pytest.mark.parametrize("suffix", ["npz", "mtx"])
def test_a_graph_of_distances_is_embedded(suffix, frame, table, run, here):
    graph = kneighbors_graph(frame[FEATURES].to_numpy(), 25, mode="distance")
    graph = sparse.csr_array(graph.maximum(graph.T))
    if suffix == "npz":
        sparse.save_npz("graph.npz", graph)
    else:
        io.mmwrite("graph.mtx", graph, precision=17)
    options = ("--set", "perplexity=8", "--out", "out")
    done = run("embed", table, "--distances-matrix", f"graph.{suffix}", *options)
    assert done.code == 0, done.err
    own = sidelight.KernelInformationEmbedding(metric="precomputed", perplexity=8, random_state=0).fit(graph)
    np.testing.assert_allclose(pd.read_csv("out/embedding.csv")[["z1", "z2"]], own.embedding_, rtol=1e-6, atol=1e-6)


def test_distances_in_a_table_may_have_a_heading_and_names(distances, table, run, here):
    pd.DataFrame(distances).to_csv("plain.csv", index=False)
    named = pd.DataFrame(distances, columns=[f"r{k}" for k in range(60)])
    named.insert(0, "name", named.columns)
    named.to_csv("named.csv", index=False)
    for name in ("plain", "named"):
        file = f"{name}.csv"
        done = run("embed", file, "--distances-matrix", file, "--no-report", "--out", name, "--set", "perplexity=10")
        assert done.code == 0, done.err
    plain, names = (pd.read_csv(f"{name}/embedding.csv") for name in ("plain", "named"))
    np.testing.assert_allclose(plain[["z1", "z2"]], names[["z1", "z2"]], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("matrix", "options", "sentence"),
    [
        (np.ones((3, 2)), [], "has 3 rows and 2 columns, and distances between rows make a square"),
        (-np.ones((60, 60)), [], "has distances that are missing, infinite or negative"),
        (np.ones((5, 5)), [], "is about 5 rows, and flowers.csv has 60"),
        (np.ones((60, 60)), ["--method", "pca"], "the method pca needs columns; use --method kie or hybrid"),
        (np.ones((60, 60)), ["--attribute", "kind"], "--attribute: needs columns, and --distances-matrix has none"),
    ],
)
def test_what_is_wrong_with_distances_is_said(matrix, options, sentence, table, run, here):
    np.save("bad.npy", matrix)
    done = run("embed", table, "--distances-matrix", "bad.npy", *options)
    assert done.code == 1
    assert sentence in done.err
    assert not (here / "sidelight-out").exists()


@pytest.mark.thorough
def test_a_file_of_rows_is_embedded_in_batches(run, here):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3))
    np.save("rows.npy", X)
    done = run("embed", "rows.npy", "--batches", "--sample", 300, "--out", "out")
    assert done.code == 0, done.err
    Z = np.load("out/embedding.npy")
    model = sidelight.KernelInformationEmbedding(2, solver="multilevel", random_state=0)
    np.testing.assert_allclose(Z, sidelight.embed_rows(X, model=model, sample=300, random_state=0), atol=1e-6)
    assert "300 of 900 rows" in (here / "out/report.html").read_text()


def test_columns_of_a_table_in_batches_are_standardised_and_transform_agrees(run, here):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)) * [1, 1000, 10] + [0, 5000, 0]
    pd.DataFrame(X, columns=list("abc")).assign(name="x").to_parquet("rows.parquet")
    done = run("embed", "rows.parquet", "--batches", "--sample", 200, "--method", "pca", "--no-report", "--out", "out")
    assert done.code == 0, done.err
    assert "Not embedded: name." in done.out
    assert "Columns are standardised." in done.out
    Z = np.load("out/embedding.npy")
    assert np.abs(Z).max() < 10.0
    assert run("transform", "out/model.sidelight", "rows.parquet", "--out", "z.csv").code == 0
    np.testing.assert_allclose(pd.read_csv("z.csv")[["z1", "z2"]], Z, atol=1e-9)


@pytest.mark.parametrize(
    ("file", "options", "sentence"),
    [
        ("flowers.csv", [], "--batches reads .npy and Parquet files"),
        ("cube.npy", [], "has 3 axes, and --batches embeds rows and columns"),
        ("cube.npy", ["--given", "kind"], "--given: --batches reads rows without it"),
        ("text.parquet", [], "has no numeric column to embed"),
    ],
)
def test_what_is_wrong_with_batches_is_said(file, options, sentence, table, run, here):
    np.save("cube.npy", np.ones((2, 2, 2)))
    pd.DataFrame({"a": ["x", "y"]}).to_parquet("text.parquet")
    done = run("embed", file, "--batches", *options)
    assert done.code == 1
    assert sentence in done.err


def test_the_score_of_an_informed_map_says_why_it_may_be_low(table, run, here):
    assert run("embed", table, "--given", "kind", "--no-report", "--set", "perplexity=10").code == 0
    done = run("score", "sidelight-out/model.sidelight", table)
    assert "which this map factors out, so lower values are expected" in done.out
    answer = run("score", "sidelight-out/model.sidelight", table, "--json").answer
    assert len(answer["notes"]) == 1
    assert answer["trustworthiness"] < answer["trustworthiness_after_given"] <= 1
    assert run("embed", table, "--no-report", "--out", "plain", "--method", "pca").code == 0
    assert run("score", "plain/model.sidelight", table, "--json").answer["notes"] == []
