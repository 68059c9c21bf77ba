"""A Pipeline of the library's models is one file: steps by name, never code, the same answers to the bit."""

import json
from itertools import product

import numpy as np
import pandas as pd
import pytest
from persistence_standins import Shelf, Unlisted
from sklearn.decomposition import NMF, PCA
from sklearn.manifold import Isomap
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import SplineTransformer

from sidelight import (
    DistanceMetric,
    EquivalenceMetric,
    HybridEmbedding,
    KernelInformationEmbedding,
    MultiAttributeMetric,
    TwoWayEmbedding,
    load,
    save,
)
from sidelight.persistence import ModelFileError, _container

X = np.random.default_rng(1).normal(size=(60, 4))
LABELS = np.column_stack([X[:, 0] > 0, X[:, 1] > 0])
PAIRS = np.arange(60).reshape(30, 2)


METRICS = {
    "pairs": lambda: EquivalenceMetric().fit(X, same=PAIRS[:15], different=PAIRS[15:]),
    "labels, two directions": lambda: EquivalenceMetric(2).fit(X, LABELS[:, 0]),
    "kernel": lambda: EquivalenceMetric(3, kernel="rbf").fit(X, LABELS[:, 0]),
    "attributes": lambda: MultiAttributeMetric().fit(X, LABELS),
    "distances": lambda: DistanceMetric(2).fit(X, pairs=PAIRS, distances=np.abs(np.diff(X[PAIRS][:, :, 2])[:, 0])),
}
EMBEDDINGS = {
    "kie": lambda: KernelInformationEmbedding(max_iter=20, perplexity=8.0, random_state=0),
    "hybrid": lambda: HybridEmbedding(n_neighbors=6, alpha=0.3),
    "two-way": lambda: TwoWayEmbedding(Isomap(n_neighbors=8)),
}


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("metric", "embedding"), list(product(METRICS, EMBEDDINGS)))
def test_a_loaded_pipeline_gives_the_same_answers_to_the_bit(metric, embedding, file):
    """Bytes may be compared: a file or a pickle holds the arrays themselves, and the same calls follow."""
    first = METRICS[metric]()
    pipeline = Pipeline([("metric", first), ("embedding", EMBEDDINGS[embedding]().fit(first.transform(X)))])
    save(pipeline, file)
    back = load(file)
    assert type(back) is Pipeline
    assert [name for name, _ in back.steps] == ["metric", "embedding"]
    assert back.transform(X).tobytes() == pipeline.transform(X).tobytes()
    assert back.score_samples(X).tobytes() == pipeline.score_samples(X).tobytes()
    assert hasattr(back, "inverse_transform") == (metric != "kernel")
    if metric != "kernel":
        Z = pipeline.transform(X)
        assert back.inverse_transform(Z).tobytes() == pipeline.inverse_transform(Z).tobytes()


def test_an_unfitted_pipeline_comes_back_and_can_be_fitted(file):
    pipeline = Pipeline([("metric", EquivalenceMetric(2)), ("nothing", "passthrough"), ("map", HybridEmbedding())])
    save(pipeline.set_params(verbose=False, map__alpha=0.2), file)
    back = load(file)
    assert repr(back) == repr(pipeline)
    again, expected = back.fit_transform(X, LABELS[:, 0]), pipeline.fit_transform(X, LABELS[:, 0])
    assert again.tobytes() == expected.tobytes()


def test_names_of_columns_and_the_kind_of_output_are_kept(file):
    table = pd.DataFrame(X, columns=list("abcd"))
    pipeline = make_pipeline(EquivalenceMetric(), TwoWayEmbedding()).set_output(transform="pandas")
    save(pipeline.fit(table, LABELS[:, 0]), file)
    back = load(file)
    assert back.feature_names_in_.tolist() == list("abcd")
    pd.testing.assert_frame_equal(back.transform(table), pipeline.transform(table))


def test_a_pipeline_inside_a_pipeline_is_saved(file):
    inner = make_pipeline(EquivalenceMetric(3), EquivalenceMetric(2))
    pipeline = make_pipeline(inner, HybridEmbedding()).fit(X, LABELS[:, 0])
    save(pipeline, file)
    assert load(file).transform(X).tobytes() == pipeline.transform(X).tobytes()


def test_a_place_for_a_cache_is_not_saved(file, tmp_path):
    save(Pipeline([("shelf", Shelf(1))], memory=str(tmp_path / "cache")), file)
    assert load(file).memory is None
    assert b"cache" not in file.read_bytes()


class Own(Pipeline):
    """Looks like a Pipeline, and may do anything."""


@pytest.mark.parametrize(
    ("pipeline", "where"),
    [
        (make_pipeline(EquivalenceMetric(), NMF(2)), r"Pipeline\.nmf=NMF"),
        (make_pipeline(SplineTransformer(), HybridEmbedding()), r"Pipeline\.splinetransformer=SplineTransformer"),
        (make_pipeline(make_pipeline(NMF()), HybridEmbedding()), r"Pipeline\.pipeline\.nmf=NMF"),
        (make_pipeline(Shelf(), Unlisted()), r"Pipeline\.unlisted=Unlisted"),
        (Own([("shelf", Shelf())]), "model=Own"),
        (Pipeline([("nothing", "passthrough")]), "model=Pipeline"),
    ],
)
def test_a_foreign_step_is_refused_by_its_name(pipeline, where, file):
    with pytest.raises(TypeError, match=rf"save: {where} is not a model of this library.*\. .*TwoWayEmbedding"):
        save(pipeline, file)
    assert not file.exists()


def test_a_step_that_holds_code_is_refused_by_its_place(file):
    with pytest.raises(TypeError, match=r"Pipeline\.shelf\.content=.*a model file never holds code"):
        save(make_pipeline(Shelf(lambda x: x), HybridEmbedding()), file)


def test_a_pipeline_inside_two_way_embedding_stays_a_description(file):
    save(TwoWayEmbedding(make_pipeline(EquivalenceMetric(), PCA(2))).fit(X, LABELS[:, 0]), file)
    assert "Pipeline" in load(file).estimator.description


@pytest.mark.parametrize(
    "steps",
    [
        [["a", {"$": "record", "name": "Span", "fields": {}}]],
        [["a", {"$": "estimator", "name": "PCA", "parameters": {}, "attributes": {}}]],
        [["a", "os.system"]],
        [["a", 3]],
        ["a"],
        7,
    ],
)
def test_a_file_with_absurd_steps_is_not_a_model(steps, file):
    tree = {"$": "pipeline", "steps": steps, "transform_input": None, "verbose": False}
    _container.write_container(file, json.loads(json.dumps({"notes": {}, "model": tree})), {})
    with pytest.raises(ModelFileError, match=r"^load: path="):
        load(file)
