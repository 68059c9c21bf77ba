"""Every method that is offered can be used, and comes back from its file."""

import numpy as np
import pandas as pd
import pytest

import sidelight
from sidelight import Annealing, Conditioning, KernelOptions
from sidelight.base.capabilities import capabilities
from sidelight.cli._methods import METHODS, make, needs_pairs, parse_settings
from sidelight.cli._our_methods import PYTHON_ONLY
from sidelight.cli._output import CommandError
from sidelight.cli._placement import place_fitted
from sidelight.cli._second_view import SecondView
from sidelight.persistence._tables import ESTIMATORS

SLOW_TO_IMPORT = ("umap", "opentsne")


def test_the_version_is_printed(run):
    assert run("--version").out == f"sidelight {sidelight.__version__}\n"


def test_methods_lists_ours_and_scikit_learns(run):
    listed = [method["name"] for method in run("methods", "--json").answer["methods"]]
    ours = ["kie", "ukr", "smoother", "hybrid", "mds", "tangent", "semidefinite", "coordinated", "ppca"]
    ours += ["joint", "coordinated-cca", "relational", "action", "ppca-mixture", "bernoulli-mixture"]
    scikit = ["pca", "whitening", "factor-analysis", "ica", "kernel-pca", "dictionary-learning"]
    scikit += ["isomap", "lle", "spectral", "mds-smacof", "tsne"]
    assert listed[: len(ours)] == ours
    assert [name for name in listed if name in scikit] == scikit
    assert "Laplacian eigenmaps" in run("methods").out


def test_methods_are_listed_in_families_that_stay_together(run):
    families = [method["family"] for method in run("methods", "--json").answer["methods"]]
    assert all(families)
    out = run("methods").out
    for family in set(families):
        assert out.count(f"\n{family}\n") == 1


def test_every_public_estimator_is_a_method_or_named_with_the_way_to_use_it():
    metrics = {"EquivalenceMetric", "MultiAttributeMetric", "DistanceMetric"}  # --same, --attribute, --distances
    around = {"TwoWayEmbedding", "TableEncoder", "Imputer"}  # every method of another library; every table; `impute`
    offered = {method.class_name for method in METHODS.values()}
    named = {other.instead.partition("(")[0].rpartition(".")[2] for other in PYTHON_ONLY}
    assert set(ESTIMATORS) == metrics | around | named | {name for name in offered if name in ESTIMATORS}


NETWORKS = [name for name, method in METHODS.items() if method.extra == "torch"]
FITTED = [name for name in METHODS if name not in SLOW_TO_IMPORT]


@pytest.mark.parametrize("name", FITTED)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_method_places_rows_and_returns_from_its_file(name, tmp_path):
    if name in NETWORKS:
        pytest.importorskip("torch", reason="needs the extra torch")
    X = np.random.default_rng(0).normal(size=(50, 5))
    settings = {"perplexity": 10} if name in ("tsne", "kie", "joint") else {}
    settings |= {"max_iter": 5} if name in NETWORKS else {}
    settings |= {"n_charts": 2} if "mixture" in name else {}
    settings |= {"transformation": "shift"} if name == "tangent" else {}
    Y = X[:, ::-1].copy() if needs_pairs(name) else None
    model = make(name, dims=2, seed=0, settings=settings).fit(X, *([] if Y is None else [Y]))
    sidelight.save(model, tmp_path / "model.sidelight")
    back = sidelight.load(tmp_path / "model.sidelight")
    second = SecondView(list("abcde"), None)
    places, again = (place_fitted(own, X, y=Y, second=second, side={}) for own in (model, back))
    assert len(places.values) == 50
    assert places.values.shape[1] == len(places.names)
    assert np.isfinite(places.values).all()
    assert (again.values == places.values).all()
    offers = capabilities(model)
    if offers.has_embedding:
        assert model.embedding_.shape == (50, 2)
        assert (back.transform(X[:3]) == model.transform(X[:3])).all()
    if offers.has_inverse:
        Z = model.transform(X[:3])
        assert (back.inverse_transform(Z) == model.inverse_transform(Z)).all()


@pytest.mark.parametrize("name", ["pca", "whitening", "factor-analysis", "ica"])
def test_linear_methods_place_new_rows_as_scikit_learn_does(name, run, here):
    rng = np.random.default_rng(0)
    rows = rng.laplace(size=(90, 3)) @ rng.normal(size=(3, 5)) + rng.normal(size=(90, 5))
    pd.DataFrame(rows[:60], columns=list("abcde")).to_csv("old.csv", index=False)
    pd.DataFrame(rows[60:], columns=list("abcde")).to_csv("new.csv", index=False)
    options = ("--method", name, "--no-report", "--no-standardize", "--out", "out")
    assert run("embed", "old.csv", *options).code == 0
    assert run("transform", "out/model.sidelight", "new.csv", "--out", "z.csv").code == 0
    own = METHODS[name].load()(n_components=2, **METHODS[name].fixed)
    own.set_params(random_state=0)
    own.fit(rows[:60])
    np.testing.assert_allclose(pd.read_csv("z.csv")[["z1", "z2"]], own.transform(rows[60:]), rtol=1e-10, atol=1e-10)


def test_mds_is_classical_scaling_and_places_new_rows_by_its_formula(run, here):
    rows = np.random.default_rng(0).normal(size=(90, 5)) * [5, 3, 1, 0.5, 0.2]
    pd.DataFrame(rows[:60], columns=list("abcde")).to_csv("old.csv", index=False)
    pd.DataFrame(rows[60:], columns=list("abcde")).to_csv("new.csv", index=False)
    options = ("--method", "mds", "--no-report", "--no-standardize", "--out", "out")
    assert run("embed", "old.csv", *options).code == 0
    assert run("transform", "out/model.sidelight", "new.csv", "--out", "z.csv").code == 0
    squares = ((rows[:, None] - rows[:60]) ** 2).sum(axis=-1)
    old, H = squares[:60], np.eye(60) - 1 / 60
    values, V = (part[..., :-3:-1] for part in np.linalg.eigh(-0.5 * H @ old @ H))
    placed = -0.5 * (squares[60:] - old.mean(axis=0)) @ V / np.sqrt(values)  # Gower's formula for a new row
    expected = placed * np.sign((placed * pd.read_csv("z.csv")[["z1", "z2"]].to_numpy()).sum(axis=0))
    np.testing.assert_allclose(pd.read_csv("z.csv")[["z1", "z2"]], expected, atol=1e-6)


def test_mds_of_a_matrix_of_distances_is_that_of_the_rows(run, here):
    rows = np.random.default_rng(0).normal(size=(40, 4)) * [5, 3, 1, 0.5]
    pd.DataFrame(rows, columns=list("abcd")).to_csv("rows.csv", index=False)
    np.save("D.npy", np.sqrt(((rows[:, None] - rows) ** 2).sum(axis=-1)))
    assert run("embed", "rows.csv", "--method", "mds", "--no-standardize", "--no-report", "--out", "a").code == 0
    assert (
        run("embed", "D.npy", "--distances-matrix", "D.npy", "--method", "mds", "--no-report", "--out", "b").code == 0
    )
    of_rows, of_distances = (pd.read_csv(f"{name}/embedding.csv")[["z1", "z2"]] for name in "ab")
    np.testing.assert_allclose(np.abs(of_distances), np.abs(of_rows), atol=1e-6)


def test_dictionary_learning_is_not_given_our_callback(table, run, here):
    done = run("embed", table, "--method", "dictionary-learning", "--no-report", "--set", "max_iter=20")
    assert done.code == 0, done.err
    assert make("dictionary-learning", dims=2, seed=0, settings={}, callback=print).estimator.callback is None


@pytest.mark.parametrize("name", FITTED)
def test_every_method_is_explained(name, run):
    if name in NETWORKS:
        pytest.importorskip("torch", reason="needs the extra torch")
    answer = run("methods", name, "--json").answer
    for part in ("summary", "use", "avoid", "example"):
        assert answer[part], part
    assert answer["example"].startswith("sidelight embed ")
    assert f"--method {name}" in answer["example"]
    assert all(one["meaning"] for one in answer["parameters"] if one["name"] != "n_jobs"), answer["parameters"]
    ours = METHODS[name].is_ours
    assert bool(answer["references"]) or not ours
    assert answer["cost"] or not (ours and capabilities(METHODS[name].load()()).has_cost)


def test_the_explanation_names_parameters_with_their_defaults_and_the_cost_of_the_rows(run):
    out = run("methods", "kie", "--rows", 20000, "--columns", 50).out
    assert "perplexity" in out
    assert "30.0" in out
    assert "for 20,000 rows of 50 columns" in out
    assert "Kernel information embeddings. International Conference on Machine Learning, 2006" in out.replace("\n", " ")
    few, many = (run("methods", "ukr", "--rows", n, "--json").answer["cost"] for n in (100, 20000))
    assert few != many


def test_a_misspelled_method_is_answered_with_the_nearest(table, run):
    assert "--method hibrid: no such method; did you mean hybrid?" in run("embed", table, "--method", "hibrid").err
    assert "methods isomop: no such method; did you mean isomap?" in run("methods", "isomop").err


def test_a_setting_that_does_not_exist_is_answered_with_the_nearest(table, run):
    done = run("embed", table, "--set", "perplexty=3")
    assert "--set perplexty: kie has no such setting; did you mean perplexity?" in done.err


@pytest.mark.parametrize("name", ["manifield", "gated-field"])
def test_what_no_table_can_hold_is_named_with_the_way_from_python(name, table, run):
    for done in (run("embed", table, "--method", name), run("methods", name)):
        assert done.code == 1
        assert "use it from Python: sidelight.gated." in done.err


def test_the_cost_is_said_before_the_fit(table, run, here):
    done = run("embed", table, "--no-report")
    assert done.out.index("Cost: about") < done.out.index("Embedding with kie")
    answer = run("embed", table, "--no-report", "--json", "--force").answer
    assert answer["cost"]["seconds"] > 0
    assert answer["cost"]["bytes"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW_TO_IMPORT)
@pytest.mark.filterwarnings("ignore")
def test_methods_of_other_libraries_embed_when_they_are_installed(name):
    pytest.importorskip(METHODS[name].module)
    X = np.random.default_rng(0).normal(size=(100, 5))
    model = make(name, dims=2, seed=0, settings={}).fit(X)
    assert model.inverse_transform(model.embedding_[:3]).shape == (3, 5)


def test_settings_reach_the_estimator_inside():
    model = make("isomap", dims=3, seed=0, settings=parse_settings(["n_neighbors=7", "eigen_solver=dense"]))
    assert model.estimator.n_neighbors == 7
    assert model.estimator.eigen_solver == "dense"
    assert model.estimator.n_components == 3


def test_dotted_settings_are_options_of_a_parameter():
    told = ["kernel=student", "kernel.storage=sparse", "regularization.start=3", "conditioning.weight=2"]
    model = make("kie", dims=2, seed=0, settings=parse_settings(told), given_types={"hour": 24.0})
    assert model.kernel == KernelOptions("student", "sparse")
    assert model.regularization == Annealing(0.1, start=3)
    assert model.conditioning == Conditioning(types={"hour": 24.0}, weight=2)
    joint = make("joint", dims=2, seed=0, settings={"regularization.decay": 0.8, "tol": 0.1})
    assert (joint.regularization, joint.tol) == (Annealing(0.1, decay=0.8), 0.1)


def test_options_as_they_are_by_default_leave_the_name():
    told = parse_settings(["kernel.storage=auto", "conditioning=product", "conditioning.weight=1"])
    model = make("kie", dims=2, seed=0, settings=told)
    assert (model.kernel, model.conditioning) == ("gaussian", "product")


def test_settings_are_literals_and_never_code():
    assert parse_settings(["a=__import__('os')"]) == {"a": "__import__('os')"}
    assert parse_settings(["a=None", "b=1e-3", "c=x=y"]) == {"a": None, "b": 1e-3, "c": "x=y"}


def test_a_method_that_is_not_installed_names_its_package(monkeypatch):
    monkeypatch.setitem(METHODS, "other", type(METHODS["pca"])("other", "not_there", "Other", ""))
    with pytest.raises(CommandError, match="needs the package not_there, which is not installed"):
        make("other", dims=2, seed=0, settings={})
    monkeypatch.setitem(METHODS, "umap", type(METHODS["umap"])("umap", "umap", "UMAP", ""))
    monkeypatch.setattr(type(METHODS["umap"]), "installed", False)
    with pytest.raises(CommandError, match="not installed; pip install umap-learn"):
        make("umap", dims=2, seed=0, settings={})


def test_a_parameter_of_a_wrong_type_is_named(run, here):
    pd.DataFrame(np.random.default_rng(0).normal(size=(20, 3)), columns=list("abc")).to_csv("rows.csv", index=False)
    done = run("embed", "rows.csv", "--set", "perplexity=high", "--out", "out")
    assert done.code == 1
    assert "perplexity=high is not a number in range" in done.err
