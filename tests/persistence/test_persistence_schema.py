"""A file whose checksum is right and whose contents are not those of its classes is refused when it is loaded."""

import dataclasses
import sys
import typing
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, csr_matrix

from sidelight import (
    ActionRespectingEmbedding,
    Annealing,
    BernoulliMixture,
    Conditioning,
    CoordinatedCCA,
    CountEncoder,
    Imputer,
    JointInformationEmbedding,
    KernelInformationEmbedding,
    KernelOptions,
    MultipleRelationalEmbedding,
    PPCAMixture,
    ProbabilisticPCA,
    Relation,
    SemidefiniteEmbedding,
    TableEncoder,
    TwoWayEmbedding,
    load,
    save,
)
from sidelight.persistence import ModelFileError, _container
from sidelight.persistence._encode import _state
from sidelight.persistence._fitted import FITTED
from sidelight.persistence._model_check import check_model
from sidelight.persistence._records import RECORD_TABLES
from sidelight.persistence._schema import MismatchError, Sizes, check_annotation, check_value
from sidelight.persistence._tables import ESTIMATORS, RECORDS, record_class

sys.path.insert(0, str(Path(__file__).parents[1] / "common"))
from optional_torch import TORCH_THERE, gated
from parameter_cases import TABLE as MIXED
from registry import ENCODERS, METRICS, MIXTURES, TORCH, VARIANTS, blobs, with_iterations

X = blobs(40)
D = np.linalg.norm(X[:, None] - X[None], axis=2)
GIVEN = pd.DataFrame({"batch": list("abcd") * 10, "dose": X[:, 0], "angle": np.r_[[np.nan], X[1:, 1]]})
GAPS = np.where(np.arange(200).reshape(40, 5) == 7, np.nan, X)
HALF = np.where(np.arange(40) < 30, X[:, 0], np.nan)
ACTIONS = np.array(["left", "right"] * 20, dtype=object)
PICTURES = [np.random.default_rng(i).random((8, 8)) for i in range(2)]
TABLE = MIXED.assign(
    day=pd.date_range("2024-01-01", periods=40), wind_direction=np.linspace(0, 350, 40), ok=[True, False] * 20
)
QUICK = {"max_iter": 5, "perplexity": 8.0}


def labelled(make):
    model = make()
    if type(model).__name__ == "DistanceMetric":
        return model.fit(X, pairs=np.arange(40).reshape(-1, 2), distances=np.ones(20))
    labels = np.arange(40) % 3
    return model.fit(X, labels[:, None] if type(model).__name__ == "MultiAttributeMetric" else labels)


FITS = {
    name: (lambda make=make: with_iterations(make(), 2).fit(X))
    for name, make in (VARIANTS | MIXTURES | ENCODERS | TORCH).items()
}
FITS |= {name: (lambda make=make: labelled(make)) for name, make in METRICS.items()}
FITS |= {
    "precomputed": lambda: KernelInformationEmbedding(metric="precomputed", **QUICK).fit(D),
    "sparse distances": lambda: KernelInformationEmbedding(metric="precomputed", **QUICK).fit(csr_array(D)),
    "given": lambda: KernelInformationEmbedding(**QUICK).fit(X, given=GIVEN),
    "given, balanced": lambda: KernelInformationEmbedding(conditioning="balanced", **QUICK).fit(
        X, given=GIVEN["batch"]
    ),
    "gaps": lambda: KernelInformationEmbedding(missing="impute", **QUICK).fit(GAPS),
    "expected gaps": lambda: KernelInformationEmbedding(missing="expected", **QUICK).fit(GAPS),
    "names": lambda: KernelInformationEmbedding(**QUICK).fit(pd.DataFrame(X.astype(np.float32), columns=list("abcde"))),
    "pairs": lambda: JointInformationEmbedding(**QUICK).fit(X, HALF),
    "views": lambda: CoordinatedCCA(n_charts=2, views=[[0, 1], [2, 3, 4]]).fit(X),
    "second view": lambda: CoordinatedCCA(n_charts=2).fit(X, X[:, :2]),
    "metric": lambda: SemidefiniteEmbedding(metric="manhattan", n_landmarks=20, gap=0.3, tol=0.05).fit(X),
    "constant": lambda: SemidefiniteEmbedding().fit(np.ones((9, 3))),
    "actions": lambda: ActionRespectingEmbedding(gap=0.3, tol=0.05).fit(X, actions=ACTIONS),
    "relations": lambda: MultipleRelationalEmbedding(max_iter=5).fit(X, relations={"v": Relation.from_values(X[:, 0])}),
    "relations alone": lambda: MultipleRelationalEmbedding(max_iter=5).fit(
        None, relations={"v": Relation.from_values(X[:, 0]), "d": Relation.from_data(X)}
    ),
    "count-encoder": lambda: CountEncoder(2).fit(np.abs(X)),
    "sparse rows": lambda: KernelInformationEmbedding(max_iter=5).fit(csr_matrix(X), given=X[:, 0] > 0),
    "sparse two-way": lambda: TwoWayEmbedding().fit(csr_matrix(X)),
    "table": lambda: TableEncoder({"code": "ordinal"}).fit(TABLE),
    "imputed table": lambda: Imputer().fit(TABLE),
    "gaps of ppca": lambda: ProbabilisticPCA(2).fit(GAPS),
    "batches": lambda: PPCAMixture(2, 2).fit_batches([X, X]),
    "partial": lambda: ProbabilisticPCA(2).partial_fit(X),
    "partial mixture": lambda: BernoulliMixture(2, binarize=0.0).partial_fit(X),
}
GATED = {
    "gated pairs": lambda: gated.GatedBoltzmannMachine(3, n_factors=4, premapping=(6, 3), max_iter=2).fit(X, X),
    "gated rows": lambda: gated.GatedAutoencoder(3, max_iter=2).fit(X, X),
    "biased": lambda: gated.BiasedAutoencoder(3, max_iter=2).fit(X, X),
    "field": lambda: gated.GatedField(gated.GatedBoltzmannMachine(3, max_iter=2), patch_size=3).fit(PICTURES, PICTURES),
    "manifield": lambda: gated.Manifield(gated.Autoencoder(2, hidden=(3,), max_iter=2), patch_size=3).fit(PICTURES),
}
FITS |= GATED if TORCH_THERE else {}


@pytest.mark.filterwarnings("ignore")  # none of the fits is given the time to converge
@pytest.mark.parametrize("name", FITS)
def test_every_fitted_attribute_has_a_line_and_every_model_passes_its_own(name, file):
    model = FITS[name]()
    attributes = set(_state(model)[1]) - {"_sklearn_output_config"}
    assert attributes <= set(FITTED[type(model).__name__])
    save(model, file)
    assert type(load(file)) is type(model)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("rows", [X, csr_matrix(X)], ids=["dense", "sparse"])
@pytest.mark.parametrize("kind", [KernelInformationEmbedding, TwoWayEmbedding])
def test_columns_of_the_data_are_compared_with_those_of_the_frame(kind, rows):
    model = kind().fit(rows)
    fitted = set(_state(model)[1])
    check_model(model, fitted)
    model.n_features_in_ += 1
    with pytest.raises(MismatchError, match=r"n_features_in_, which is \d+ where frame_ has \d+ columns"):
        check_model(model, fitted)
    model.n_features_in_ -= 1
    model.feature_names_in_ = np.array(["a"], dtype=object)
    with pytest.raises(MismatchError, match="feature_names_in_, which are not as many"):
        check_model(model, fitted | {"feature_names_in_"})


def test_every_estimator_and_record_has_a_table():
    ours = {name for name, module in ESTIMATORS.items() if module.startswith("sidelight")}
    assert set(FITTED) == ours
    assert set(RECORD_TABLES) == {name for name, module in RECORDS.items() if module.startswith("sidelight")}


@pytest.mark.parametrize("name", RECORD_TABLES)
def test_a_table_speaks_of_fields_that_exist_and_annotations_can_be_read(name):
    if RECORDS[name].startswith("sidelight.gated"):
        pytest.importorskip("torch", reason="needs the extra torch")
    kind = record_class(name)
    fields = {field.name for field in dataclasses.fields(kind)}
    assert set(RECORD_TABLES[name]) <= fields
    assert set(typing.get_type_hints(kind)) >= fields


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """The document and arrays of a few models."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, fit in {
            "kie": FITS["kie"],
            "imputer": FITS["imputer"],
            "two-way": lambda: TwoWayEmbedding().fit(X, embedding=X[:, :2]),
            **({"autoencoder": FITS["autoencoder"]} if TORCH_THERE else {}),
        }.items():
            path = tmp_path_factory.mktemp("schema") / name
            save(fit(), path)
            found[name] = path
    return found


def forged(path, file, change):
    document, arrays = _container.read_document(path)
    change(document["model"], arrays)
    _container.write_container(file, {"notes": {}, "model": document["model"]}, arrays)
    return file


def with_array(name, change):
    def forge(tree, arrays):
        full = next(key for key in arrays if key.endswith(name))
        arrays[full] = change(arrays[full])

    return forge


def with_attribute(name, value):
    return lambda tree, arrays: tree["attributes"].update({name: value})


def with_parameter(name, value):
    return lambda tree, arrays: tree["parameters"].update({name: value})


def with_field(name, field, value):
    return lambda tree, arrays: tree["attributes"][name]["fields"].update({field: value})


def as_before(name, value):
    """A file of the time when networks were described by parameters alone, of which one is changed."""

    def forge(tree, arrays):
        del tree["attributes"]["architecture_"]
        tree["parameters"][name] = value

    return forge


def past_the_end(lists):
    return np.where(np.arange(lists.size).reshape(lists.shape) == 3, len(lists), lists)


@pytest.mark.parametrize(
    ("model", "change", "sentence"),
    [
        ("imputer", with_attribute("model_", None), "model_, which is not of the codes of plan_"),
        ("imputer", with_field("plan_", "fills", []), "plan_"),
        ("imputer", with_field("plan_", "blocks", []), "plan_"),
        ("imputer", with_attribute("seed_", -1), "seed_"),
        (
            "kie",
            with_parameter("n_components", "two"),
            "parameter n_components, which is of type str, which is not int",
        ),
        ("kie", with_parameter("perplexity", [3]), "parameter perplexity, which is of type list, which is not float"),
        ("kie", with_parameter("tol", "x"), "parameter tol, which is of type str, which is not float"),
        ("kie", with_parameter("regularization", "x"), "parameter regularization, which is of type str"),
        ("kie", with_attribute("n_features_in_", "5"), "n_features_in_, which is not a whole number"),
        ("kie", with_attribute("embedding_", [[0.0, 1.0]]), "embedding_, which is not an array but list"),
        ("kie", with_attribute("backward_", None), "backward_, which is not a record"),
        ("kie", with_array("embedding_", lambda Z: Z.astype(int)), "embedding_, which has entries of type int64"),
        (
            "kie",
            with_array("embedding_", lambda Z: Z.astype(np.float16)),
            "embedding_, which has numbers of type float16",
        ),
        ("kie", with_array("embedding_", lambda Z: Z[:, :1].copy()), "has a size of"),
        ("kie", with_array("embedding_", lambda Z: Z[0].copy()), "embedding_, which has 1 dimension instead of 2"),
        ("kie", with_array("embedding_", lambda Z: Z * np.nan), "embedding_, which has numbers that are not finite"),
        (
            "two-way",
            with_array("backward_.mean.weights.lists", past_the_end),
            r"backward_\.mean\.weights\.lists points outside the",
        ),
        ("two-way", with_array("backward_.mean.weights.lists", lambda L: L - 1), r"lists points outside the 40 rows"),
        ("two-way", lambda tree, arrays: tree["attributes"].pop("frame_"), "has no frame_, which every fit leaves"),
        ("two-way", lambda tree, arrays: tree["attributes"].pop("forward_"), "has no forward_, which belongs to such"),
        (
            "autoencoder",
            with_field("architecture_", "hidden", [10**9]),
            "parameters_, which are not those of its network",
        ),
        (
            "autoencoder",
            with_field("architecture_", "activation", "step"),
            r"architecture_\.activation is none of linear",
        ),
        ("autoencoder", with_attribute("architecture_", 3), "architecture_, which is not a record"),
        ("autoencoder", as_before("hidden", [10**9]), "has parameters_, which are not those of its network"),
        ("autoencoder", as_before("activation", "step"), "has parameters of which no network can be made"),
        ("autoencoder", with_array("encoder.0.weight", lambda W: W[:, :1].copy()), "are not those of its network"),
        ("autoencoder", with_parameter("device", "moon"), "has parameters of which no network can be made"),
    ],
)
def test_what_contradicts_its_class_is_said_when_it_is_loaded(model, change, sentence, stored, file):
    if model == "autoencoder":
        pytest.importorskip("torch", reason="needs the extra torch")
    with pytest.raises(ModelFileError, match=sentence):
        load(forged(stored[model], file, change))


def test_old_parameters_of_a_file_become_options(stored, file):
    old = {"tol": 1e-3, "regularization_start": 2.0, "data_kernel": "sparse", "given_types": "angle"}
    model = load(forged(stored["kie"], file, lambda tree, arrays: tree["parameters"].update(old)))
    assert (model.regularization, model.tol) == (Annealing(0.1, start=2.0), 1e-3)
    assert model.kernel == KernelOptions(storage="sparse")
    assert model.conditioning == Conditioning(types="angle")


def test_an_attribute_that_this_version_does_not_know_is_kept(stored, file):
    assert load(forged(stored["two-way"], file, with_attribute("later_", 3))).later_ == 3


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (np.zeros((2, 3)), "float (n, d)"),
        (np.zeros((2, 1)), "float (n, d|1)"),
        (np.array([0, 1, -1]), "index-:k (*)"),
        (None, "?number"),
        (3.0, "string / number"),
        ([np.ones(2), np.zeros(3)], "list:n float (*)"),
        ({"a": np.inf}, "dict number~"),
        (np.array([np.nan]), "real (1)"),
    ],
)
def test_values_that_fit_a_line(value, line):
    sizes = Sizes(n=2, d=3, k=2)
    check_value(value, line, sizes, {})


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (np.zeros((2, 2)), "float (n, d)"),
        (np.array([2]), "index:k (*)"),
        (np.array([-1]), "index:k (*)"),
        (True, "count"),
        (np.nan, "number"),
        (0.0, "positive"),
        ("c", "choice:a|b"),
        ([1, 2, 3], "list:n count"),
        (None, "number / string"),
    ],
)
def test_values_that_do_not_fit_a_line(value, line):
    with pytest.raises(MismatchError):
        check_value(value, line, Sizes(n=2, d=3, k=2), {})


def test_annotations_are_understood_as_python_means_them():
    for value, hint in [
        (3, float),
        (None, int | None),
        ((1, 2), tuple[int, ...]),
        ([1.5], list[float]),
        (len, typing.Any),
    ]:
        check_annotation(value, hint)
    for value, hint in [("3", float), (1.5, int | None), ((1, "a"), tuple[int, ...]), ({}, list[float]), (None, str)]:
        with pytest.raises(MismatchError):
            check_annotation(value, hint)
