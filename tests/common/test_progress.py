"""Long work: progress, stopping, interrupting, warnings, and cost said before it is paid."""

from __future__ import annotations

import numpy as np
import pytest
from registry import MIXTURES, VARIANTS, blobs
from sklearn.exceptions import ConvergenceWarning

import sidelight.base.cost
from sidelight import CoordinatedCCA, CoordinatedMixture, KernelInformationEmbedding, PPCAMixture, TwoWayEmbedding
from sidelight.coordinated import _coordinated_charts

COORDINATED = {
    **{name: VARIANTS[name] for name in ("coordinated", "coordinated-parallel-smooth", "coordinated-automatic", "cca")},
    "coordinated-given": lambda: CoordinatedMixture(mixture=PPCAMixture(3, 2, tol=1e-12)),
    "cca-views": lambda: CoordinatedCCA(1, views=[[0, 1], [2, 3, 4]], n_charts=2),
}
BY_EM = {"ppca": VARIANTS["ppca"], "ppca-standardized-3d": VARIANTS["ppca-standardized-3d"], **MIXTURES, **COORDINATED}
by_em = pytest.mark.parametrize("make", BY_EM.values(), ids=BY_EM.keys())
coordinated = pytest.mark.parametrize("make", COORDINATED.values(), ids=COORDINATED.keys())


def test_verbose_draws_one_line_with_the_objective(capsys):
    KernelInformationEmbedding(verbose=1).fit(blobs())
    drawn = capsys.readouterr().err
    assert "objective" in drawn
    assert "left" in drawn
    assert drawn.count("\n") == 1
    assert "converged" in drawn.splitlines()[-1]


def test_silence_is_the_default(capsys):
    KernelInformationEmbedding().fit(blobs())
    captured = capsys.readouterr()
    assert captured.err == ""
    assert captured.out == ""


def test_a_callback_sees_the_state_and_stops_the_fit():
    seen = []

    def stop_at_seven(state):
        seen.append((state.stage, state.iteration, state.objective, state.embedding.shape, sorted(state.terms)))
        return len(seen) == 7

    model = KernelInformationEmbedding(callback=stop_at_seven).fit(blobs())
    assert len(seen) == 7
    assert model.n_iter_ == 7
    assert seen[0][3] == (90, 2)
    assert seen[0][4] == ["-I", "H(X,Z)", "H(Z)", "penalty"]
    assert np.isfinite(model.transform(blobs())).all()


def test_ctrl_c_keeps_the_best_so_far_and_is_raised_again():
    def interrupt(state):
        if state.stage == 2:
            raise KeyboardInterrupt

    model = KernelInformationEmbedding(callback=interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(blobs())
    assert model.history_[-1]["stage"] == 2
    assert np.isfinite(model.embedding_).all()
    assert model.inverse_transform(model.transform(blobs())).shape == (90, 5)


def test_running_out_of_iterations_is_warned_of_whatever_verbose_is():
    with pytest.warns(ConvergenceWarning, match=r"max_iter=1 did not let .* ran out of iterations"):
        KernelInformationEmbedding(max_iter=1).fit(blobs())


def test_history_records_every_iteration_and_the_objective_falls_within_a_stage():
    model = KernelInformationEmbedding().fit(blobs())
    assert len(model.history_) == model.n_iter_
    assert {"stage", "regularization", "iteration", "objective", "terms", "seconds"} <= set(model.history_[0])
    for stage in range(len(model.path_)):
        values = [record["objective"] for record in model.history_ if record["stage"] == stage]
        assert all(np.diff(values) < 0)
    np.testing.assert_allclose(model.path_[-1], model.embedding_)
    assert model.regularization_path_[-1] == 0.1
    assert (np.diff(model.regularization_path_) < 0).all()


def test_a_fit_that_does_not_fit_is_refused_with_a_way_out(monkeypatch):
    monkeypatch.setattr(sidelight.base.cost, "available_memory", lambda: 1000)
    for model in (KernelInformationEmbedding(), TwoWayEmbedding()):
        with pytest.raises(MemoryError, match=r"X=90 rows needs about .* Fit on a random sample"):
            model.fit(blobs())


def test_cost_grows_with_the_rows_and_reads_well():
    small, large = (KernelInformationEmbedding(solver="annealed").estimate_cost(n, 10) for n in (1000, 100_000))
    assert large.bytes > 1000 * small.bytes / 100
    assert large.seconds > small.seconds > 0
    assert KernelInformationEmbedding().estimate_cost(100_000, 10).seconds < 0.5 * large.seconds
    assert "GiB" in str(large)
    assert "MiB" in str(small)


def climbed(make):
    """Rows that the model needs EM for: where nothing is missing, ProbabilisticPCA has a closed form."""
    X = blobs()
    if make in (VARIANTS["ppca"], VARIANTS["ppca-standardized-3d"]):
        X[::7, 1] = np.nan
    return X


def refuse_more_than(steps, act):
    """A callback that acts at a step, and must not be asked again."""
    seen = []

    def callback(state):
        seen.append(state)
        assert len(seen) <= steps
        return act() if len(seen) == steps else None

    return callback, seen


def raise_interrupt():
    raise KeyboardInterrupt


def answers(model, X):
    return model.transform(X), model.score_samples(X), model.sample(3, random_state=0)


@by_em
@pytest.mark.parametrize("steps", [1, 2])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_callback_stops_em_and_what_there_is_is_kept(make, steps):
    X = climbed(make)
    callback, seen = refuse_more_than(steps, lambda: True)
    model = make().set_params(callback=callback, tol=1e-12).fit(X)
    assert len(seen) == steps
    assert len(model.history_) >= 1
    assert all(np.isfinite(part).all() for part in answers(model, X))


@by_em
@pytest.mark.parametrize("steps", [1, 2])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_ctrl_c_in_em_keeps_what_there_is_and_is_raised_again(make, steps):
    X = climbed(make)
    callback, seen = refuse_more_than(steps, raise_interrupt)
    model = make().set_params(callback=callback, tol=1e-12)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert len(seen) == steps
    assert len(model.history_) >= 1
    assert all(np.isfinite(part).all() for part in answers(model, X))


@by_em
def test_em_records_every_step_and_the_objective_falls_within_a_stage(make):
    model = make().fit(climbed(make))
    gluing = 1 if make in COORDINATED.values() else 0
    assert len(model.history_) == model.n_iter_ + gluing
    assert [record["iteration"] for record in model.history_] == list(range(1, len(model.history_) + 1))
    assert all({"stage", "objective", "terms", "seconds"} <= set(record) for record in model.history_)
    for stage in range(model.history_[-1]["stage"] + 1):
        values = [record["objective"] for record in model.history_ if record["stage"] == stage]
        assert len(values) > 0
        assert (np.diff(values) <= 1e-9 * (1.0 + np.abs(values[0]))).all()


@coordinated
def test_the_last_record_of_coordinated_charts_is_the_gluing(make):
    model = make().fit(blobs())
    *before, last = model.history_
    assert last["objective"] == last["terms"]["disagreement"] == model.disagreement_.sum()
    assert last["terms"]["distortion"] == model.distortion_
    assert last["stage"] == before[-1]["stage"] + 1
    assert (np.diff([record["seconds"] for record in model.history_]) >= 0).all()


@pytest.mark.parametrize("name", sorted(COORDINATED.keys() - {"coordinated-automatic"}))
def test_coordinated_charts_are_kept_when_a_fit_of_batches_is_interrupted(name):
    callback, _ = refuse_more_than(2, raise_interrupt)
    model = COORDINATED[name]().set_params(callback=callback, tol=1e-12)
    with pytest.raises(KeyboardInterrupt):
        model.fit_batches(lambda: np.array_split(blobs(), 3))
    assert np.isfinite(model.transform(blobs())).all()


@pytest.mark.thorough
def test_charts_of_more_rows_than_the_search_sees_are_kept_when_interrupted(monkeypatch):
    """The search ends by itself; Ctrl-C comes while its charts are fitted to all rows."""
    monkeypatch.setattr(_coordinated_charts, "_SAMPLE", 100)
    X, total = blobs(300, d=3), []
    options = {"n_components": 1, "tol": 1e-2, "random_state": 0}
    CoordinatedMixture(**options, callback=lambda state: total.append(state)).fit(X)
    callback, seen = refuse_more_than(len(total), raise_interrupt)
    model = CoordinatedMixture(**options, callback=callback)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert len(seen) == len(total)
    assert model.embedding_.shape == (300, 1)
    np.testing.assert_allclose(model.score(X), CoordinatedMixture(**options).fit(X).score(X), atol=1e-6)


def test_a_second_ctrl_c_is_raised_at_once(monkeypatch):
    """The first one comes while the charts of the first view are fitted, the second while those of the next are."""

    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    callback, _ = refuse_more_than(2, raise_interrupt)
    model = CoordinatedCCA(1, views=[[0, 1], [2, 3, 4]], n_charts=2, callback=callback, tol=1e-12)
    fits = iter([_coordinated_charts.fit_planes, interrupted])
    monkeypatch.setattr(_coordinated_charts, "fit_planes", lambda *args, **kwargs: next(fits)(*args, **kwargs))
    with pytest.raises(KeyboardInterrupt):
        model.fit(blobs())
    assert not hasattr(model, "map_")


def test_ctrl_c_while_starts_are_compared_is_not_lost(monkeypatch):
    def interrupted(self, mixture, X):
        raise KeyboardInterrupt

    monkeypatch.setattr("sidelight.objectives.mixtures.Planes.sums", interrupted)
    with pytest.raises(KeyboardInterrupt):
        PPCAMixture(2, 2).fit(blobs())
