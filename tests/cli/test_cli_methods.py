"""Every method that is offered can be used, and comes back from its file."""

import numpy as np
import pytest

import sidelight
from sidelight import Annealing, Conditioning, KernelOptions
from sidelight.cli._methods import METHODS, make, parse_settings
from sidelight.cli._output import CommandError

SLOW_TO_IMPORT = ("umap", "opentsne")


def test_the_version_is_printed(run):
    assert run("--version").out == f"sidelight {sidelight.__version__}\n"


def test_methods_lists_ours_and_scikit_learns(run):
    listed = [method["name"] for method in run("methods", "--json").answer["methods"]]
    ours = ["kie", "joint", "hybrid", "semidefinite", "ppca", "coordinated", "coordinated-cca", "relational"]
    scikit = ["pca", "whitening", "factor-analysis", "ica", "kernel-pca", "dictionary-learning"]
    scikit += ["isomap", "lle", "spectral", "mds", "tsne"]
    assert listed[: len(ours + scikit)] == ours + scikit
    assert "Laplacian eigenmaps" in run("methods").out


@pytest.mark.parametrize("name", [name for name in METHODS if name not in SLOW_TO_IMPORT])
def test_every_method_embeds_and_returns_from_its_file(name, tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 5))
    settings = {"perplexity": 10} if name in ("tsne", "kie", "joint") else {}
    model = make(name, dims=2, seed=0, settings=settings).fit(X)
    sidelight.save(model, tmp_path / "model.sidelight")
    back = sidelight.load(tmp_path / "model.sidelight")
    assert model.embedding_.shape == (50, 2)
    assert (back.embedding_ == model.embedding_).all()
    assert (back.transform(X[:3]) == model.transform(X[:3])).all()
    assert (back.inverse_transform(model.embedding_[:3]) == model.inverse_transform(model.embedding_[:3])).all()


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
