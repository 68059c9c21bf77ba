"""scikit-learn's callbacks (1.9): every estimator calls them, and earlier versions of scikit-learn go without."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from registry import DEFAULT_METRICS, DEFAULT_MIXTURES, DEFAULTS, ENCODERS, TORCH, blobs, with_iterations
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sidelight
from sidelight import JointInformationEmbedding, KernelInformationEmbedding, PPCAMixture, ProbabilisticPCA

pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")

MODELS = {**DEFAULTS, **DEFAULT_METRICS, **DEFAULT_MIXTURES, **ENCODERS}
of_torch = [pytest.param(make, id=name, marks=pytest.mark.thorough) for name, make in TORCH.items()]
every = pytest.mark.parametrize("make", [*(pytest.param(make, id=name) for name, make in MODELS.items()), *of_torch])


class Recorder:
    """A callback of scikit-learn that writes down every call; it stops the fit after ``stop_after`` iterations."""

    def __init__(self, stop_after=None, error_at=None):
        self.calls, self.stop_after, self.error_at, self.states, self.fitted = [], stop_after, error_at, [], None

    def setup(self, estimator, context):
        self.calls.append(("setup", context.task_name))

    def teardown(self, estimator, context):
        self.calls.append(("teardown", context.task_name))

    def on_fit_task_begin(self, estimator, context, *, X=None, metadata=None):
        self.calls.append(("begin", context.task_name))
        self.X, self.metadata = X, metadata

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.calls.append(("end", context.task_name))
        if context.task_name == self.error_at:
            raise RuntimeError("the callback failed")
        if context.task_name == "iteration":
            self.states.append(context.state)
            return len(self.states) == self.stop_after
        self.fitted = fitted_estimator
        return None

    def count(self, event, task):
        return self.calls.count((event, task))


def targets(make, X):
    return np.arange(len(X)) % 3 if make in DEFAULT_METRICS.values() else None


def numbers(model):
    """Fitted numbers, with which two fits are compared."""
    named = ("embedding_", "components_", "means_", "mixture_", "fill_")
    return [np.asarray(getattr(model, name)) for name in named if hasattr(model, name)]


@every
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_estimator_opens_and_closes_its_tasks_and_fits_the_same_numbers(make):
    X, recorder = np.abs(blobs()), Recorder()  # counts are not negative
    y = targets(make, X)
    plain = with_iterations(make(), 5).fit(X, y)
    watched = with_iterations(make(), 5).set_callbacks(recorder).fit(X, y)
    assert recorder.calls[:2] == [("setup", "fit"), ("begin", "fit")]
    assert recorder.calls[-2:] == [("end", "fit"), ("teardown", "fit")]
    for task in ("fit", "stage", "iteration"):
        assert recorder.count("begin", task) == recorder.count("end", task)
    for ours, theirs in zip(numbers(watched), numbers(plain), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert recorder.X is X
    assert vars(recorder.fitted).keys() >= {name for name in vars(plain) if name.endswith("_")}
    assert vars(watched).keys() == vars(plain).keys() | {"_skl_callbacks"}


def test_iterations_are_tasks_below_their_stage_with_the_state_of_our_callbacks():
    recorder = Recorder()
    model = KernelInformationEmbedding().set_callbacks(recorder).fit(blobs())
    assert recorder.count("end", "iteration") == model.n_iter_
    assert recorder.count("end", "stage") == len(model.path_)
    assert [state.objective for state in recorder.states] == [record["objective"] for record in model.history_]


def test_a_callback_of_scikit_learn_stops_a_fit_beside_one_of_ours():
    recorder, seen = Recorder(stop_after=7), []
    model = KernelInformationEmbedding(callback=lambda state: seen.append(state)).set_callbacks(recorder).fit(blobs())
    assert model.n_iter_ == len(seen) == len(recorder.states) == 7
    assert np.isfinite(model.transform(blobs())).all()
    assert recorder.calls[-3:] == [("end", "stage"), ("end", "fit"), ("teardown", "fit")]


@pytest.mark.parametrize("task", ["iteration", "fit"])
def test_a_callback_that_fails_leaves_the_model_as_it_was_and_is_torn_down(task):
    model = KernelInformationEmbedding().fit(blobs())
    before, recorder = dict(vars(model)), Recorder(error_at=task)
    with pytest.raises(RuntimeError, match="the callback failed"):
        model.set_callbacks(recorder).fit(blobs(60))
    assert vars(model) == before | {"_skl_callbacks": [recorder]}
    assert recorder.calls[-1] == ("teardown", "fit")


def test_a_refused_fit_tears_its_callbacks_down():
    recorder = Recorder()
    with pytest.raises(ValueError, match="max_iter"):
        KernelInformationEmbedding(max_iter="many").set_callbacks(recorder).fit(blobs())
    assert recorder.calls == [("setup", "fit"), ("begin", "fit"), ("teardown", "fit")]


def test_a_fit_inside_a_fit_does_not_report_again():
    X = blobs()
    X[3, 1] = np.nan
    recorder = Recorder()
    KernelInformationEmbedding(missing="expected", max_iter=5, tol=1e-1).set_callbacks(recorder).fit(X)
    assert recorder.count("setup", "fit") == recorder.count("begin", "fit") == 1


def test_clone_and_pickle_keep_callbacks_and_model_files_do_not(tmp_path):
    import pickle

    recorder = Recorder()
    model = ProbabilisticPCA(2).set_callbacks(recorder).fit(blobs())
    assert clone(model)._skl_callbacks == [recorder]
    assert len(pickle.loads(pickle.dumps(model))._skl_callbacks) == 1
    sidelight.save(model, tmp_path / "model.sidelight")
    loaded = sidelight.load(tmp_path / "model.sidelight")
    assert not hasattr(loaded, "_skl_callbacks")
    np.testing.assert_array_equal(loaded.transform(blobs()), model.transform(blobs()))
    assert "_skl_callbacks" not in vars(model.set_callbacks())


def test_metadata_are_those_that_score_takes():
    recorder, given = Recorder(), np.arange(90) % 2
    KernelInformationEmbedding(max_iter=5, tol=1e-1).set_callbacks(recorder).fit(blobs(), given=given)
    assert list(recorder.metadata) == ["given"]


def test_the_progress_bar_of_scikit_learn_shows_a_fit(capsys):
    pytest.importorskip("rich")
    from sklearn.callback import ProgressBar

    KernelInformationEmbedding().set_callbacks(ProgressBar()).fit(blobs())
    shown = capsys.readouterr().out
    assert "KernelInformationEmbedding - fit" in shown
    assert "KernelInformationEmbedding - stage #5" in shown
    assert "100%" in shown


def test_the_progress_bar_of_a_pipeline_and_of_a_grid_search_goes_down_to_our_model(capsys):
    pytest.importorskip("rich")
    from sklearn.callback import ProgressBar

    pipeline = make_pipeline(StandardScaler(), PPCAMixture(2, 2)).set_callbacks(ProgressBar())
    pipeline.fit(blobs())
    assert "fit-final-estimator | PPCAMixture - fit" in capsys.readouterr().out
    search = GridSearchCV(PPCAMixture(2, 2), {"n_charts": [1, 2]}, cv=2).set_callbacks(ProgressBar())
    search.fit(blobs())
    assert capsys.readouterr().out.count("PPCAMixture - fit") >= 5
    assert not hasattr(search.best_estimator_, "_skl_callbacks")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_scoring_monitor_of_scikit_learn_scores_the_fitted_model():
    from sklearn.callback import ScoringMonitor

    X, monitor = blobs(), ScoringMonitor(scoring={"share": lambda model, X, y: model.score(X, y)})
    model = JointInformationEmbedding(max_iter=5).set_callbacks(monitor).fit(X, X[:, :2])
    (row,) = monitor.get_logs().data
    assert row["task_name"] == "fit"
    assert row["share"] == model.score(X, X[:, :2])


WITHOUT = """
import sys
import numpy as np
import sklearn.decomposition, sklearn.model_selection, sklearn.pipeline, sklearn.preprocessing
sys.modules["sklearn.callback"] = None  # as before 1.9: importing it fails
import sidelight
X = np.random.default_rng(0).normal(size=(60, 4))
model = sidelight.KernelInformationEmbedding(max_iter=3, tol=1e-1, callback=lambda state: False)
pipeline = sklearn.pipeline.make_pipeline(sklearn.preprocessing.StandardScaler(), model)
assert np.isfinite(pipeline.fit_transform(X)).all()
assert not hasattr(model, "set_callbacks")
print("fitted")
"""


@pytest.mark.thorough
def test_without_scikit_learns_callbacks_a_fit_is_what_it_was():
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WITHOUT], capture_output=True, text=True, check=False, timeout=120
    )
    assert run.stdout.strip() == "fitted", run.stderr
