"""What the pages say is refused, missing or never done, and no other test shows (``claims.toml`` has the sentences)."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.model_selection import GridSearchCV

import sidelight
from sidelight import (
    BernoulliMixture,
    Conditioning,
    CoordinatedCCA,
    CoordinatedMixture,
    DistanceMetric,
    EquivalenceMetric,
    JointInformationEmbedding,
    KernelInformationEmbedding,
    MultiAttributeMetric,
    MultipleRelationalEmbedding,
    Pairs,
    PPCAMixture,
    ProbabilisticPCA,
    SemidefiniteEmbedding,
    TableEncoder,
    TwoWayEmbedding,
)

SOURCES = Path(sidelight.__file__).parent
X = np.random.default_rng(0).normal(size=(60, 5))
GROUP = np.tile(["a", "b"], 30)


def distances(rows):
    return np.linalg.norm(rows[:, None] - rows[None], axis=2)


def test_only_the_gated_models_have_a_device():
    pytest.importorskip("torch", reason="needs the extra torch")
    estimators = [getattr(sidelight, name) for name in sidelight.__all__ if name[0].isupper()]
    assert not any("device" in c().get_params() for c in estimators if hasattr(c, "get_params"))
    assert sidelight.gated.Autoencoder().device == "cpu"


def test_torch_is_imported_by_the_gated_models_alone():
    users = {
        path for path in SOURCES.rglob("*.py") if re.search(r"^(import|from) torch", path.read_text(), re.MULTILINE)
    }
    assert {path.relative_to(SOURCES).parts[0] for path in users} == {"gated"}


def test_other_metrics_are_refused_with_those_there_are():
    with pytest.raises(ValueError, match=r"metric=manhattan is not an option.*'euclidean', 'cosine', 'precomputed'"):
        KernelInformationEmbedding(metric="manhattan").fit(X)


def test_labels_as_y_do_not_change_a_map():
    plain, labelled = (KernelInformationEmbedding().fit_transform(X, y) for y in (None, GROUP))
    np.testing.assert_array_equal(plain, labelled)


def test_no_estimator_clusters_a_map():
    top = [getattr(sidelight, name) for name in sidelight.__all__ if name[0].isupper()]
    assert not [c.__name__ for c in top if hasattr(c, "fit_predict") and hasattr(c, "inverse_transform")]


@pytest.mark.thorough
def test_the_seed_does_not_move_a_multilevel_map():
    centres = np.random.default_rng(0).normal(scale=5, size=(8, 6))
    rows = np.concatenate([centre + np.random.default_rng(1).normal(size=(270, 6)) for centre in centres])
    first, second = (KernelInformationEmbedding(random_state=seed).fit_transform(rows) for seed in (0, 1))
    np.testing.assert_array_equal(first, second)


def test_loaders_and_generators_open_no_connection():
    text = "".join(path.read_text(encoding="utf-8") for path in (SOURCES / "datasets").rglob("*.py"))
    assert not re.search(r"\b(urllib|requests|httpx?|socket|pooch|fetch_openml|ftplib)\b", text)


def test_a_frame_with_a_report_is_a_sandbox_without_access_to_the_notebook():
    text = (SOURCES / "report" / "_show.py").read_text(encoding="utf-8")
    assert 'sandbox="allow-scripts"' in text
    assert "allow-same-origin" not in text


def test_a_session_of_the_explorer_refuses_sparse_rows():
    pytest.importorskip("uvicorn", reason="needs the extra explore")
    rows = csr_array(np.where(X > 0, X, 0.0))
    model = KernelInformationEmbedding().fit(rows)
    with pytest.raises((TypeError, ValueError), match=r"[Ss]parse"):
        sidelight.explorer.serving.explore(model, rows, open_browser=False)


def test_there_is_no_command_that_extends_a_map():
    typer = pytest.importorskip("typer", reason="needs the extra cli")
    from sidelight.cli import _app  # the commands register themselves when it is imported

    commands = set(typer.main.get_command(_app.app).commands)
    assert "embed" in commands
    assert not {"extend", "forget"} & commands


def test_columns_with_signs_of_the_notation_cannot_be_named_in_a_relation():
    pytest.importorskip("typer", reason="needs the extra cli")
    from sidelight.cli._relations import parse_relations

    assert "a+b" not in [column for relation in parse_relations(["a+b"]) for column in relation.columns]


def test_the_latent_points_of_models_of_batches_are_not_kept():
    assert not hasattr(ProbabilisticPCA(2).fit_batches([X]), "embedding_")
    assert not hasattr(PPCAMixture(2, 1, random_state=0).fit_batches([X]), "embedding_")
    assert not hasattr(CoordinatedMixture(1, n_charts=3, random_state=0).fit_batches([X]), "embedding_")


def test_two_views_and_relations_take_no_given():
    with pytest.raises(TypeError, match="given"):
        JointInformationEmbedding().fit(X, X[:, :2], given=GROUP)
    with pytest.raises(TypeError, match="given"):
        MultipleRelationalEmbedding().fit(X, given=GROUP)


def test_one_view_alone_predicts_nothing():
    assert not hasattr(JointInformationEmbedding().fit(X), "predict")


def test_a_view_of_one_row_is_refused():
    with pytest.raises(ValueError, match="JointInformationEmbedding"):
        JointInformationEmbedding().fit(X, np.r_[X[:1], np.full((59, 5), np.nan)])


def test_distances_have_no_way_back_to_columns():
    D = distances(X[:40])
    for model in (KernelInformationEmbedding(metric="precomputed"), SemidefiniteEmbedding(metric="precomputed")):
        fitted = model.fit(D)
        assert not any(hasattr(fitted, name) for name in ("inverse_transform", "denoise", "sample"))
        assert fitted.transform(D[:3]).shape == (3, 2)


def test_a_mixture_alone_has_no_map():
    for model in (PPCAMixture(2, 1, random_state=0).fit(X), BernoulliMixture(2, random_state=0).fit(X > 0)):
        assert not any(hasattr(model, name) for name in ("embedding_", "inverse_transform", "latent_typicality"))
        np.testing.assert_array_equal(model.transform(X > 0), model.predict_proba(X > 0))


@pytest.mark.parametrize(
    ("model", "rows", "sentence"),
    [
        (PPCAMixture(10, 1), X[:5], "n_charts=10 is more than the 5 rows"),
        (KernelInformationEmbedding(), X[:1], "minimum of 2 is required"),
        (CoordinatedCCA(views=[slice(0, 3), slice(3, 5)]), np.where(np.eye(60, 5), np.nan, X), "NaN beside numbers"),
        (DistanceMetric(prior="trace", regularization=0), X, "regularization=0 is not a number in range"),
    ],
    ids=["rows", "one", "views", "prior"],
)
def test_what_cannot_be_fitted_is_refused_with_a_sentence(model, rows, sentence):
    more = {"pairs": [[0, 1], [2, 3]], "distances": [1.0, 2.0]} if isinstance(model, DistanceMetric) else {}
    with pytest.raises(ValueError, match=sentence):
        model.fit(rows, **more)


def test_a_metric_with_a_kernel_has_no_components():
    assert not hasattr(EquivalenceMetric(kernel="rbf").fit(X, np.arange(60) % 3), "components_")


def test_a_square_matrix_of_five_thousand_columns_is_refused():
    rows = np.random.default_rng(0).normal(size=(30, 5001))
    metric = EquivalenceMetric().fit(rows, np.arange(30) % 3)
    with pytest.raises(ValueError, match="mahalanobis_=5001 columns"):
        _ = metric.mahalanobis_


def test_a_dict_of_pairs_is_refused_inside_a_split():
    with sidelight_routing():
        metric = MultiAttributeMetric().set_fit_request(same=True)
        search = GridSearchCV(metric, {"n_components": [2]}, cv=2, scoring=lambda *_: 0.0, error_score="raise")
        with pytest.raises(ValueError, match="n_samples=60 does not match the 30 rows"):
            search.fit(X, same={"a": Pairs([[0, 1], [2, 3]], 60)})


def sidelight_routing():
    import sklearn

    return sklearn.config_context(enable_metadata_routing=True)


def test_a_loaded_model_is_not_fitted_again_without_an_estimator(tmp_path):
    from sklearn.manifold import Isomap

    sidelight.save(TwoWayEmbedding(Isomap(n_neighbors=20)).fit(X), tmp_path / "m.sidelight")
    with pytest.raises(TypeError, match="Give an estimator"):
        sidelight.load(tmp_path / "m.sidelight").fit(X)


def test_parameters_of_one_coordinated_model_are_not_those_of_the_other():
    mixture, views = CoordinatedMixture().get_params(), CoordinatedCCA().get_params()
    assert {"alignment", "n_neighbors"} == set(mixture) - set(views)
    assert {"regression", "views"} == set(views) - set(mixture)


def test_balanced_neighbours_are_refused_with_one_bandwidth():
    with pytest.raises(ValueError, match="balanced"):
        KernelInformationEmbedding(bandwidth=1.0, conditioning=Conditioning("balanced")).fit(X, given=GROUP)


def test_a_field_refuses_a_persistent_chain():
    pytest.importorskip("torch", reason="needs the extra torch")
    machine = sidelight.gated.GatedBoltzmannMachine(2, persistent=True, visible="binary")
    pictures = np.zeros((4, 6, 6))
    with pytest.raises(ValueError, match="persistent"):
        sidelight.gated.GatedField(machine, patch_size=3).fit(pictures, pictures)


def test_a_predictor_alone_has_no_auto_encoder():
    pytest.importorskip("torch", reason="needs the extra torch")
    model = sidelight.gated.BiasedAutoencoder(None).fit(X, X)
    assert model.predict(X).shape == X.shape
    with pytest.raises((AttributeError, ValueError)):
        model.transform(X)


@pytest.mark.parametrize("kernel", ["student", "quartic"])
def test_a_minimiser_or_other_variances_cannot_be_chosen(kernel):
    names = {"optimizer", "minimiser", "minimizer", "ddof", "bias"}
    for model in (KernelInformationEmbedding(latent_kernel=kernel), MultipleRelationalEmbedding(), ProbabilisticPCA()):
        assert not names & set(model.get_params())


def test_widths_of_the_kernels_of_a_two_way_map_are_not_parameters():
    assert not [name for name in TwoWayEmbedding().get_params() if re.search("bandwidth|perplexity|width", name)]


def test_files_without_errors_of_the_fit_have_no_intervals():
    model = ProbabilisticPCA(2).fit(X)
    assert hasattr(model, "inverse_transform_interval")
    del model.row_errors_  # files of earlier versions have none
    assert not hasattr(model, "inverse_transform_interval")


def test_numbers_beyond_the_range_of_the_fit_come_back():
    encoder = TableEncoder().fit(pd.DataFrame({"a": np.linspace(0, 1, 30), "b": np.linspace(5, 7, 30) ** 2}))
    beyond = pd.DataFrame({"a": [3.0], "b": [90.0]})
    np.testing.assert_allclose(encoder.inverse_transform(encoder.transform(beyond)), beyond, rtol=1e-9)


def test_a_map_whose_rows_cannot_be_held_offers_no_dragging():
    from sidelight.base.capabilities import capabilities

    assert capabilities(KernelInformationEmbedding().fit(X)).takes_held
    assert not capabilities(TwoWayEmbedding().fit(X, embedding=X[:, :2])).takes_held
