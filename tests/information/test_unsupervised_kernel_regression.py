from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from sidelight import Annealing, SmootherEmbedding, UnsupervisedKernelRegression
from sidelight.datasets import noisy_s, s_curve, swiss_roll
from sidelight.evaluate import trustworthiness
from sidelight.maps.kernel_map import KernelMap
from sidelight.maps.weights import FixedWeights


def objective(model):
    return model.history_[-1]["objective"]


@pytest.mark.parametrize("seed", range(3))
def test_every_draw_of_a_rolled_sheet_is_unrolled(seed):
    X = swiss_roll(500, random_state=seed).X
    model = UnsupervisedKernelRegression().fit(X)
    assert trustworthiness(X, model.embedding_) > 0.995
    assert objective(model) < 0.012


@pytest.mark.thorough
def test_every_random_start_ends_where_the_default_does():
    X = s_curve(250, random_state=0).X
    ends = [objective(UnsupervisedKernelRegression().fit(X))]
    for seed in range(3):
        model = UnsupervisedKernelRegression(
            init="random", random_state=seed, regularization=Annealing(0.003, start=1.0)
        ).fit(X)
        ends.append(objective(model))
    np.testing.assert_allclose(ends, ends[0], rtol=0.02)


def test_rows_left_out_are_told_better_than_from_the_spectral_embedding():
    train, test = (noisy_s(200, random_state=seed).X for seed in (0, 1))
    ours, spectral = (model.fit(train) for model in (UnsupervisedKernelRegression(1), SmootherEmbedding(1)))
    assert ours.reconstruction_error_ < spectral.reconstruction_error_
    assert ours.score(test) > spectral.score(test)


def test_error_is_that_of_the_forward_map_with_each_row_left_out():
    X = noisy_s(120, random_state=0).X
    model = UnsupervisedKernelRegression(1).fit(X)
    left_out = KernelMap(FixedWeights(model.embedding_, 1.0), X).leave_one_out_error()
    assert model.reconstruction_error_ == pytest.approx(left_out**2, rel=1e-3)
    assert model.history_[-1]["terms"]["error"] == pytest.approx(model.reconstruction_error_, rel=1e-5)


def test_more_columns_than_rows_give_the_same_map_as_their_span():
    rng = np.random.default_rng(0)
    X = s_curve(100, random_state=0).X
    turn = np.linalg.qr(rng.normal(size=(400, 3)))[0]
    narrow, wide = UnsupervisedKernelRegression().fit(X), UnsupervisedKernelRegression().fit(X @ turn.T)
    assert wide.reconstruction_error_ == pytest.approx(narrow.reconstruction_error_, rel=0.02)
    assert wide.inverse_transform(wide.embedding_).shape == (100, 400)


def test_the_path_is_kept_and_its_error_falls():
    model = UnsupervisedKernelRegression().fit(s_curve(150, random_state=0).X)
    assert len(model.history_) == model.n_iter_
    assert len(model.path_) == len(model.regularization_path_)
    assert model.regularization_path_[-1] == 0.003
    np.testing.assert_allclose(model.path_[-1], model.embedding_)
    ends = [[r for r in model.history_ if r["stage"] == s][-1]["terms"]["error"] for s in range(len(model.path_))]
    assert (np.diff(ends) < 0).all()


def test_a_callback_sees_the_state_and_stops_the_fit():
    seen = []

    def stop_at_five(state):
        seen.append((state.embedding.shape, sorted(state.terms)))
        return len(seen) == 5

    X = s_curve(80, random_state=0).X
    model = UnsupervisedKernelRegression(callback=stop_at_five).fit(X)
    assert len(seen) == model.n_iter_ == 5
    assert seen[0] == ((80, 2), ["error", "penalty"])
    assert np.isfinite(model.transform(X)).all()


def test_ctrl_c_keeps_the_best_so_far_and_is_raised_again():
    def interrupt(state):
        if state.stage == 2:
            raise KeyboardInterrupt

    X = s_curve(80, random_state=0).X
    model = UnsupervisedKernelRegression(callback=interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert model.history_[-1]["stage"] == 2
    assert model.inverse_transform(model.transform(X)).shape == (80, 3)


def test_running_out_of_iterations_is_warned_of():
    with pytest.warns(ConvergenceWarning, match=r"UnsupervisedKernelRegression: max_iter=1 did not let"):
        UnsupervisedKernelRegression(max_iter=1).fit(s_curve(60, random_state=0).X)


def test_verbose_draws_one_line_with_the_objective(capsys):
    UnsupervisedKernelRegression(verbose=1).fit(s_curve(60, random_state=0).X)
    drawn = capsys.readouterr().err
    assert "objective" in drawn
    assert drawn.count("\n") == 1


@pytest.mark.parametrize("latent_kernel", ["student", "quartic"])
@pytest.mark.parametrize("penalty", ["l4", "box"])
def test_other_kernels_and_penalties_tell_the_data_too(latent_kernel, penalty):
    X = s_curve(150, random_state=0).X
    model = UnsupervisedKernelRegression(latent_kernel=latent_kernel, penalty=penalty, regularization=1e-5).fit(X)
    assert model.score(X) > 0.9


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_components", 0),
        ("perplexity", 1.0),
        ("n_neighbors", 2.5),
        ("latent_kernel", "delta"),
        ("regularization", 0.0),
        ("penalty", "l1"),
        ("init", "pca"),
        ("max_iter", 0),
        ("tol", -1.0),
    ],
)
def test_a_bad_parameter_is_named_with_its_value_and_a_way_out(name, value):
    with pytest.raises(ValueError, match=rf"^UnsupervisedKernelRegression: {name}=.* is not .*\. (Give|Choose) .*\.$"):
        UnsupervisedKernelRegression(**{name: value}).fit(s_curve(30, random_state=0).X)


def test_a_bad_option_is_named_with_its_parameter():
    message = r"^UnsupervisedKernelRegression: regularization\.decay=2\.0 is not a number in range\. Give .*\.$"
    with pytest.raises(ValueError, match=message):
        UnsupervisedKernelRegression(regularization=Annealing(0.003, decay=2.0)).fit(s_curve(30, random_state=0).X)


def test_a_start_is_taken_as_it_is_or_refused():
    X = s_curve(60, random_state=0).X
    start = np.random.default_rng(0).normal(size=(60, 2))
    first = []
    UnsupervisedKernelRegression(init=start, callback=lambda state: first.append(state.embedding) or True).fit(X)
    assert np.abs(first[0] - start).max() <= 1.0 + 1e-9  # one step, of length at most 1 per point
    with pytest.raises(ValueError, match="init=array of 3 rows does not match the 60 rows of X"):
        UnsupervisedKernelRegression(init=start[:3]).fit(X)
    with pytest.raises(ValueError, match=r"init=array of shape \(60, 1\) is not a finite array of shape \(60, 2\)"):
        UnsupervisedKernelRegression(init=start[:, :1]).fit(X)


def test_cost_is_said_and_grows():
    small, large = (UnsupervisedKernelRegression().estimate_cost(n, 10) for n in (1000, 20_000))
    assert large.seconds > 100 * small.seconds
    assert large.bytes > small.bytes


@pytest.mark.slow
def test_on_rolls_the_default_start_ends_at_one_optimum_and_the_spectral_one_often_does_not():
    rolls = [swiss_roll(600, random_state=seed).X for seed in range(10)]
    scaling, spectral = (
        [objective(UnsupervisedKernelRegression(init=init).fit(X)) for X in rolls] for init in ("mds", "spectral")
    )
    assert max(scaling) < 0.009
    assert sum(value > 0.0095 for value in spectral) >= 3
