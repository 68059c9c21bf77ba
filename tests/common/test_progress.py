"""Long work: progress, stopping, interrupting, warnings, and cost said before it is paid."""

from __future__ import annotations

import numpy as np
import pytest
from registry import blobs
from sklearn.exceptions import ConvergenceWarning

import sidelight._cost
from sidelight import KernelInformationEmbedding, TwoWayEmbedding


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
    monkeypatch.setattr(sidelight._cost, "available_memory", lambda: 1000)
    for model in (KernelInformationEmbedding(), TwoWayEmbedding()):
        with pytest.raises(MemoryError, match=r"X=90 rows needs about .* Fit on a random sample"):
            model.fit(blobs())


def test_cost_grows_with_the_rows_and_reads_well():
    small, large = (KernelInformationEmbedding().estimate_cost(n, 10) for n in (1000, 100_000))
    assert large.bytes > 1000 * small.bytes / 100
    assert large.seconds > small.seconds
    assert "GiB" in str(large)
    assert "MiB" in str(small)
