"""scikit-learn steps in front of a model are saved as data, with the same answers to the bit; others are refused."""

import copy
import importlib
import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import NMF, PCA, TruncatedSVD
from sklearn.feature_selection import SelectKBest, VarianceThreshold, f_regression
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from sidelight import EquivalenceMetric, KernelInformationEmbedding, TwoWayEmbedding, load, save
from sidelight.base.capabilities import capabilities
from sidelight.base.chain import as_chain
from sidelight.persistence import ModelFileError, _container
from sidelight.persistence._schema import MismatchError
from sidelight.persistence._sklearn_steps import STEPS, step_class, step_state

RNG = np.random.default_rng(3)
X = np.abs(RNG.normal(size=(50, 5))) + 0.1
GAPS = np.where(RNG.random(X.shape) < 0.05, np.nan, X)
TABLE = pd.DataFrame(
    {
        "weight": X[:, 0],
        "height": np.where(np.arange(50) == 7, np.nan, X[:, 1]),
        "age": X[:, 2],
        "kind": np.array(["cat", "dog", "eel", "owl", "cat"] * 10, dtype=object),
        "size": pd.Series(["s", "m", "l", "m", "s"] * 10, dtype=object),
        "count": np.arange(50) % 4,
    }
)
GROUP = np.where(np.arange(50) % 2, "a", "b")


def columns():
    """One of most: a Pipeline, an encoder of infrequent categories, columns by name, selector, number, slice, mask."""
    return ColumnTransformer(
        [
            ("n", make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), TABLE.columns[:2]),
            ("one", "passthrough", ["age"]),
            ("gone", "drop", ["count"]),
            ("kind", OneHotEncoder(sparse_output=False, max_categories=3, dtype=np.float32), ["kind"]),
            ("size", OrdinalEncoder(categories=[["s", "m", "l"]]), make_column_selector("size")),
            ("ends", MinMaxScaler(), slice(0, 1)),
            ("mask", Normalizer(), [True, False, True, False, False, False]),
        ],
        remainder=MaxAbsScaler(),
    )


def columns_without_selector():
    """Before it is fitted, a function that selects columns has selected none."""
    step = columns()
    return step.set_params(transformers=[triple for triple in step.transformers if triple[0] not in ("n", "size")])


FRONT = {
    "standard": (StandardScaler, X),
    "standard, no mean": (lambda: StandardScaler(with_mean=False), X),
    "standard, no width": (lambda: StandardScaler(with_std=False), X),
    "range": (lambda: MinMaxScaler((-1, 2), clip=True), X),
    "robust": (lambda: RobustScaler(quantile_range=(10.0, 90.0)), X),
    "robust, centre": (lambda: RobustScaler(with_scaling=False), X),
    "largest": (MaxAbsScaler, X),
    "unit length": (lambda: Normalizer("l1"), X),
    "power": (PowerTransformer, X),
    "box-cox": (lambda: PowerTransformer("box-cox", standardize=False), X),
    "quantiles": (lambda: QuantileTransformer(n_quantiles=20, output_distribution="normal", random_state=0), X),
    "pca": (lambda: PCA(3), X),
    "pca, whitened, float32": (lambda: PCA(3, whiten=True), X.astype(np.float32)),
    "pca, share": (lambda: PCA(0.9, svd_solver="full"), X),
    "pca, random state": (lambda: PCA(3, svd_solver="randomized", random_state=np.random.RandomState(1)), X),
    "svd": (lambda: TruncatedSVD(3, random_state=0), X),
    "variance": (lambda: VarianceThreshold(0.2), np.c_[X, np.ones(50)]),
    "best": (lambda: SelectKBest(k=3), X),
    "best by regression": (lambda: SelectKBest(f_regression, k=2), X),
    "mean": (SimpleImputer, GAPS),
    "median and where": (lambda: SimpleImputer(strategy="median", add_indicator=True), GAPS),
    "constant": (lambda: SimpleImputer(strategy="constant", fill_value=-1.0), GAPS),
    "frequent": (lambda: make_pipeline(SimpleImputer(strategy="most_frequent"), OrdinalEncoder()), TABLE[["kind"]]),
    "one-hot, sparse": (lambda: make_pipeline(OneHotEncoder(), TruncatedSVD(3)), TABLE[["kind", "count"]]),
    "one-hot, first": (lambda: OneHotEncoder(drop="first", sparse_output=False), TABLE[["kind", "count"]]),
    "one-hot, binary": (lambda: OneHotEncoder(drop="if_binary", sparse_output=False), TABLE[["kind", "count"]]),
    "one-hot, rare": (
        lambda: OneHotEncoder(drop="first", min_frequency=0.3, handle_unknown="ignore", sparse_output=False),
        TABLE[["kind", "size"]],
    ),
    "ordinal": (lambda: OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), TABLE[["kind", "size"]]),
    "ordinal, gaps": (lambda: make_pipeline(OrdinalEncoder(), SimpleImputer()), TABLE[["height", "count"]]),
    "ordinal, rare": (lambda: OrdinalEncoder(max_categories=2), TABLE[["kind", "size"]]),
    "logarithm": (lambda: FunctionTransformer(np.log1p, np.expm1), X),
    "nothing": (FunctionTransformer, X),
    "columns": (columns, TABLE),
    "columns, sparse": (
        lambda: ColumnTransformer([("a", OneHotEncoder(), ["kind"])], remainder="drop", sparse_threshold=1.0),
        TABLE,
    ),
    "nested": (lambda: Pipeline([("in", make_pipeline(StandardScaler(), PCA(3))), ("off", "passthrough")]), X),
    "all in a row": (lambda: make_pipeline(SimpleImputer(), "passthrough", RobustScaler(), EquivalenceMetric()), GAPS),
}


def fitted(name):
    make, rows = FRONT[name]
    before = make_pipeline(make(), "passthrough")
    inside = before.fit_transform(rows, GROUP == "a")
    inside = inside.toarray() if hasattr(inside, "toarray") else np.asarray(inside)
    model = TwoWayEmbedding().fit(inside, embedding=np.c_[X[:, 0], X[:, 1]])
    return Pipeline([*before.steps, ("model", model)]), rows


def dense(rows):
    return rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)


@pytest.mark.filterwarnings("ignore::UserWarning")  # quantiles, names: scikit-learn's own remarks
@pytest.mark.parametrize("name", FRONT)
def test_a_step_in_front_is_saved_and_gives_the_same_answers_to_the_bit(name, file):
    """Bytes may be compared: the file holds the arrays themselves, and the same calls follow."""
    pipeline, rows = fitted(name)
    save(pipeline, file)
    back = load(file)
    assert [type(step) for _, step in back.steps] == [type(step) for _, step in pipeline.steps]
    expected, found = dense(pipeline[:-1].transform(rows)), dense(back[:-1].transform(rows))
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert found.tobytes() == expected.tobytes()
    one, two = as_chain(pipeline), as_chain(back)
    if not name.endswith("sparse"):
        assert two.transform(rows).tobytes() == one.transform(rows).tobytes()
    assert capabilities(two) == capabilities(one)
    if capabilities(one).has_inverse:
        Z = pipeline[-1].embedding_
        assert np.array_equal(two.inverse_transform(Z), one.inverse_transform(Z))


@pytest.mark.parametrize("name", FRONT)
def test_an_unfitted_step_comes_back_with_its_parameters(name, file):
    make, _ = FRONT[name]
    if name == "columns":
        make = columns_without_selector
    pipeline = make_pipeline(make(), TwoWayEmbedding())
    save(pipeline, file)
    shown = [re.sub("0x[0-9A-F]+", "", str(each)) for each in (load(file), pipeline)]  # of a RandomState, its address
    assert shown[0] == shown[1]


@pytest.mark.thorough
def test_every_listed_class_is_there_and_is_tested():
    seen = set()

    def walk(node):
        if isinstance(node, dict):
            seen.add(node.get("name") if node.get("$") == "step" else None)
            node = list(node.values())
        for item in node if isinstance(node, list) else ():
            walk(item)

    from sidelight.persistence._encode import Encoder

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in FRONT:
            walk(Encoder().model(fitted(name)[0]))
    assert seen - {None} == set(STEPS)
    assert all(step_class(name) is not None for name in STEPS)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:.*extrapolation")  # 50 rows of noise
@pytest.mark.thorough
def test_the_counterfactual_and_the_report_of_a_loaded_pipeline_are_the_same(file, tmp_path):
    from sidelight import report

    model = KernelInformationEmbedding(max_iter=20, perplexity=8.0, random_state=0)
    scaler = StandardScaler().fit(X)
    pipeline = Pipeline([("scale", scaler), ("map", model.fit(scaler.transform(X), given=GROUP))])
    save(pipeline, file)
    back = load(file)
    one, two = as_chain(pipeline), as_chain(back)
    other = np.where(GROUP == "a", "b", "a")
    assert two.counterfactual(X, given=other).tobytes() == one.counterfactual(X, given=other).tobytes()
    pages = []
    for number, each in enumerate((pipeline, back)):
        report.write(each, tmp_path / f"{number}.html", X=X, given=GROUP, title="rows")
        pages.append((tmp_path / f"{number}.html").read_text())
    assert pages[0] == pages[1]


def test_names_and_output_kind_of_columns_are_kept(file):
    pipeline = make_pipeline(columns(), StandardScaler(), TwoWayEmbedding(PCA(2))).set_output(transform="pandas")
    save(pipeline.fit(TABLE), file)
    back = load(file)
    assert back.feature_names_in_.tolist() == list(TABLE.columns)
    pd.testing.assert_frame_equal(back[:-1].transform(TABLE), pipeline[:-1].transform(TABLE))
    assert back[0].transformers[4][2] == ["size"]  # of a selector, the columns that it selected


def only_a(values, name=None):
    return values


@pytest.mark.parametrize(
    ("step", "where", "words"),
    [
        (KBinsDiscretizer(), r"Pipeline\.kbinsdiscretizer=KBinsDiscretizer", "nor a step that is saved as data"),
        (NMF(2), r"Pipeline\.nmf=NMF", "nor a step that is saved as data"),
        (FeatureUnion([("a", PCA(2))]), r"Pipeline\.featureunion=FeatureUnion", "nor a step"),
        (make_pipeline(KNNImputer()), r"Pipeline\.pipeline\.knnimputer=KNNImputer", "nor a step"),
        (
            ColumnTransformer([("a", NMF(2), [0, 1])]),
            r"Pipeline\.columntransformer\.transformers\[0\]\[1\]=NMF",
            "nor a step",
        ),
        (FunctionTransformer(only_a), r"Pipeline\.functiontransformer=", "a NumPy ufunc of one array"),
        (FunctionTransformer(np.add), r"Pipeline\.functiontransformer=", "a NumPy ufunc of one array"),
        (FunctionTransformer(np.exp, kw_args={"casting": "no"}), r"Pipeline\.functiontransformer=", "kw_args"),
        (SelectKBest(only_a), r"Pipeline\.selectkbest\.score_func=", "never holds code"),
        (OneHotEncoder(feature_name_combiner=only_a), r"Pipeline\.onehotencoder\.feature_name", "never holds code"),
        (StandardScaler(with_mean="yes"), r"Pipeline\.standardscaler=", "a parameter that scikit-learn refuses"),
        (type("Own", (StandardScaler,), {})(), r"Pipeline\.own=Own", "nor a step"),
    ],
)
def test_other_steps_are_refused_by_name_with_the_way_out(step, where, words, file):
    with pytest.raises(TypeError, match=rf"^save: {where}.*{words}.*\. .*(outside|Use|Give)"):
        save(make_pipeline(step, TwoWayEmbedding()), file)
    assert not file.exists()


def test_a_pipeline_without_a_model_of_the_library_is_refused(file):
    with pytest.raises(TypeError, match=r"save: model=Pipeline is not a model of this library\."):
        save(make_pipeline(StandardScaler(), PCA(2)).fit(X), file)


def test_an_attribute_that_the_table_does_not_know_is_refused_when_saving(file):
    scaler = StandardScaler().fit(X)
    scaler.weights_ = np.ones(5)
    with pytest.raises(TypeError, match=r"Pipeline\.standardscaler=.* has an attribute weights_, which scikit-learn"):
        save(make_pipeline(scaler, TwoWayEmbedding()), file)
    with pytest.raises(MismatchError):
        step_state(scaler)


def written(name, file):
    """The document and arrays of the file of a pipeline."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        save(fitted(name)[0], file)
    document, arrays = _container.read_document(file)
    return copy.deepcopy({key: document[key] for key in ("notes", "model")}), dict(arrays)


def rewritten(file, document, arrays):
    _container.write_container(file, json.loads(json.dumps(document)), arrays)


def set_array(key, value):
    def change(step, arrays):
        step["attributes"][key] = {"$": "array", "name": "other"}  # the old one may be stored transposed
        arrays["other"] = np.asarray(value)

    return change


def set_value(part, key, value):
    def change(step, arrays):
        step[part][key] = value

    return change


ADVERSARIAL = {
    "a mean of three columns": ("standard", set_array("mean_", np.zeros(3)), "mean_.* size of 3"),
    "a matrix of means": ("standard", set_array("mean_", np.zeros((5, 5))), "mean_.*2 dimensions instead of 1"),
    "whole numbers": ("standard", set_array("scale_", np.ones(5, dtype=np.int64)), "scale_.*type int64"),
    "no mean": ("standard", set_value("attributes", "mean_", None), "has no mean_"),
    "text for a mean": ("standard", set_value("attributes", "mean_", "0"), "mean_.*not an array"),
    "other name": ("standard", set_value("attributes", "__class__", "PCA"), "unknown '__class__'"),
    "other attribute": ("standard", set_value("attributes", "weights_", 1), "unknown 'weights_'"),
    "other parameter": ("standard", set_value("parameters", "power", 1), "unknown 'power'"),
    "bad parameter": ("standard", set_value("parameters", "with_mean", "os"), "scikit-learn refuses"),
    "a model for a scaler": (
        "power",
        lambda step, arrays: step["attributes"].update(_scaler={**step, "attributes": {}}),
        "other than a fitted StandardScaler",
    ),
    "two columns of lambdas": ("power", set_array("lambdas_", np.ones(2)), "lambdas_.* size of 2"),
    "other quantiles": ("quantiles", set_array("quantiles_", np.ones((3, 5))), "size of 3"),
    "infinite axes": ("pca", set_array("components_", np.full((3, 5), np.inf)), "components_.*not finite"),
    "more columns than categories": (
        "one-hot, first",
        set_value("attributes", "_n_features_outs", [900, 900]),
        "_n_features_outs, which contradicts",
    ),
    "dropped outside": (
        "one-hot, first",
        lambda step, arrays: step["attributes"].update(
            _drop_idx_after_grouping={
                "$": "objects",
                "shape": [2],
                "items": [-7, 99],
            }
        ),
        "drop_idx_, which points outside",
    ),
    "groups outside": (
        "one-hot, rare",
        lambda step, arrays: arrays.update(
            {
                step["attributes"]["_default_to_infrequent_mappings"][0]["name"]: np.array([0, 1, 999, 1]),
            }
        ),
        "infrequent categories",
    ),
    "an estimator as a category": (
        "ordinal",
        set_value("attributes", "categories_", [{"$": "objects", "shape": [1], "items": [{"a": 1}]}] * 2),
        "not values",
    ),
    "a function of two arrays": (
        "logarithm",
        set_value("parameters", "func", {"$": "callable", "name": "numpy.add"}),
        "not a NumPy ufunc of one array",
    ),
    "a function that is none": ("logarithm", set_value("parameters", "func", "numpy.save"), "scikit-learn refuses"),
    "no indicator": ("median and where", set_value("attributes", "indicator_", None), "contradicts add_indicator"),
    "columns there are not": (
        "columns",
        lambda step, arrays: step["attributes"]["_transformer_to_input_indices"].update(one=[77]),
        "columns that there are not",
    ),
    "a transformer of other columns": (
        "columns",
        lambda step, arrays: step["attributes"]["_transformer_to_input_indices"].update(kind=[0, 1]),
        "which is given 2",
    ),
    "a transformer that is text": (
        "columns",
        lambda step, arrays: step["parameters"]["transformers"][0]["items"].__setitem__(1, "os.system"),
        "not a step",
    ),
}


@pytest.mark.parametrize("name", ADVERSARIAL)
def test_a_signed_file_with_a_wrong_step_is_refused_with_a_sentence(name, file):
    front, change, words = ADVERSARIAL[name]
    document, arrays = written(front, file)
    change(document["model"]["steps"][0][1], arrays)
    rewritten(file, document, arrays)
    with pytest.raises(ModelFileError, match=rf"^load: path=.*{words}.*\. \w.*\.$"):
        load(file)


@pytest.mark.parametrize("name", ["Isomap", "os.system", "Pipeline", "NMF", "MissingIndicators", "TwoWayEmbedding"])
def test_a_step_of_an_unlisted_class_is_refused(name, file):
    document, arrays = written("standard", file)
    document["model"]["steps"][0][1]["name"] = name
    rewritten(file, document, arrays)
    with pytest.raises(ModelFileError, match=f"unknown class '{name}'"):
        load(file)


def test_a_step_alone_is_not_a_model(file):
    document, arrays = written("standard", file)
    document["model"] = document["model"]["steps"][0][1]
    rewritten(file, document, arrays)
    with pytest.raises(ModelFileError, match="does not hold a model"):
        load(file)


def test_steps_that_do_not_follow_each_other_are_refused(file):
    document, arrays = written("pca", file)
    document["model"]["steps"][0] = ["again", copy.deepcopy(written("standard", file)[0]["model"]["steps"][0][1])]
    arrays |= {name: array for name, array in written("standard", file)[1].items() if "standardscaler" in name}
    rewritten(file, document, arrays)
    with pytest.raises(ModelFileError, match="StandardScaler makes 5 columns, and whose TwoWayEmbedding takes 3"):
        load(file)


def test_the_version_of_scikit_learn_is_recorded_and_named_where_attributes_do_not_fit(file):
    document, arrays = written("standard", file)
    step = document["model"]["steps"][0][1]
    assert step["version"] == sklearn.__version__
    step["version"] = "0.99"
    rewritten(file, document, arrays)
    load(file)  # what fits is read, whatever the version
    del step["attributes"]["var_"]
    rewritten(file, document, arrays)
    words = rf"has no var_.*saved with scikit-learn 0\.99 and this is {sklearn.__version__}: install that version"
    with pytest.raises(ModelFileError, match=words):
        load(file)


def test_an_imputer_of_scikit_learn_1_6_is_read(file):
    document, arrays = written("mean", file)
    step = document["model"]["steps"][0][1]
    step["attributes"].pop("_fill_dtype", None)
    step["version"] = "1.6.0"
    rewritten(file, document, arrays)
    assert np.array_equal(load(file)[0].transform(GAPS), SimpleImputer().fit_transform(GAPS))


def test_saving_leaves_the_step_as_it_was(file):
    step = columns().fit(TABLE)
    before = {name: repr(value) for name, value in vars(step).items()}
    save(make_pipeline(step, TwoWayEmbedding()), file)
    assert {name: repr(value) for name, value in vars(step).items()} == before


def test_the_modules_of_listed_classes_are_those_of_scikit_learn():
    assert all(module.startswith("sklearn.") and importlib.import_module(module) for module, _ in STEPS.values())
