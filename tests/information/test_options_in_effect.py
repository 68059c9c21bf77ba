"""Options that another one overrules: each works, is refused with a sentence, or is said with a warning."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from sidelight import Annealing, Conditioning, KernelInformationEmbedding
from sidelight.information import _solver_choice
from sidelight.kernels.given_kernels import given_bandwidth, given_kernel, widened_factors
from sidelight.maps.interpolation import smooth_part
from sidelight.side.given import Given

QUICK = {"tol": 1e-2, "max_iter": 20}


def rows(n=90, d=5):
    rng = np.random.default_rng(0)
    t = rng.uniform(0, 3, n)
    X = 0.2 * rng.normal(size=(n, d))
    X[:, :2] += np.column_stack([3 * np.cos(t), 3 * np.sin(t)])
    return X, np.arange(n) % 3, rng.normal(size=(n, 6))


@pytest.fixture
def levels_beyond_60_rows(monkeypatch):
    monkeypatch.setattr(_solver_choice, "ANNEALED_ROWS", 60)


# The profile of the data kernel


@pytest.mark.parametrize("bandwidth", ["perplexity", "learned"])
@pytest.mark.parametrize("kernel", ["student", "quartic"])
def test_a_kernel_that_is_gaussian_always_takes_no_other_profile(kernel, bandwidth):
    message = (
        rf"^KernelInformationEmbedding: kernel={kernel} is for a kernel with one bandwidth, and .*{bandwidth}.*\. Give"
    )
    with pytest.raises(ValueError, match=message):
        KernelInformationEmbedding(kernel=kernel, bandwidth=bandwidth).fit(rows()[0])


def test_with_one_bandwidth_the_profile_matters():
    X, *_ = rows()
    first, second = (KernelInformationEmbedding(bandwidth=2.0, kernel=k, **QUICK) for k in ("gaussian", "student"))
    assert np.abs(first.fit_transform(X) - second.fit_transform(X)).max() > 1e-3


# How λ falls along the path

PATH_OPTIONS = pytest.mark.parametrize("option", [{"start": 1.0}, {"decay": 0.8}], ids=str)


@PATH_OPTIONS
def test_levels_that_were_asked_for_refuse_what_says_how_the_path_falls(option):
    (name,) = option
    with pytest.raises(
        ValueError,
        match=rf"^KernelInformationEmbedding: regularization\.{name}=.* has no place in a multilevel fit\. Use",
    ):
        KernelInformationEmbedding(solver="multilevel", regularization=Annealing(0.1, **option)).fit(rows()[0])


@PATH_OPTIONS
@pytest.mark.usefixtures("levels_beyond_60_rows")
def test_levels_that_auto_chose_say_that_they_have_no_path(option):
    X, *_ = rows()
    (name,) = option
    model = KernelInformationEmbedding(regularization=Annealing(0.1, **option), **QUICK)
    with pytest.warns(
        UserWarning, match=rf"regularization\.{name}=.* has no effect on a multilevel fit.*\. Use solver='annealed'"
    ) as said:
        model.fit(X)
    assert sum(f"regularization.{name}" in str(one.message) for one in said) == 1
    assert model.solver_ == "multilevel"
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        model.estimate_cost(90, 5)
        short = KernelInformationEmbedding(regularization=Annealing(0.1, **option)).fit(X[:50])
    assert short.solver_ == "annealed"


@pytest.mark.usefixtures("levels_beyond_60_rows")
def test_levels_say_nothing_of_a_path_that_nobody_asked_for():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (
            KernelInformationEmbedding(regularization=Annealing(0.1, decay=0.5)).fit(rows()[0]).solver_ == "multilevel"
        )


# Conditioning and bandwidth


@pytest.mark.parametrize("bandwidth", [2.0, "loo"])
def test_balanced_neighbours_need_a_perplexity(bandwidth):
    X, groups, _ = rows()
    message = r"^KernelInformationEmbedding: conditioning=balanced needs a perplexity, .*\. Use conditioning='residual'"
    with pytest.raises(ValueError, match=message):
        KernelInformationEmbedding(bandwidth=bandwidth, conditioning="balanced").fit(X, given=groups)


@pytest.mark.parametrize(("bandwidth", "meant"), [("perplexity", "balanced"), (2.0, "residual"), ("loo", "residual")])
def test_auto_conditioning_says_what_it_stands_for(bandwidth, meant):
    X, groups, _ = rows()
    auto, named = (
        KernelInformationEmbedding(bandwidth=bandwidth, conditioning=c, **QUICK).fit(X, given=groups)
        for c in ("auto", meant)
    )
    assert auto.conditioning_ == named.conditioning_ == meant
    np.testing.assert_array_equal(auto.embedding_, named.embedding_)
    assert auto.fit(X).conditioning_ is None


@pytest.mark.parametrize("bandwidth", ["perplexity", 2.0])
def test_residual_and_product_differ_by_the_effect_of_given(bandwidth):
    X, groups, _ = rows()
    X = X + 2.0 * groups[:, None]
    residual, product = (
        KernelInformationEmbedding(bandwidth=bandwidth, conditioning=c, **QUICK).fit(X, given=groups)
        for c in ("residual", "product")
    )
    assert residual.explained_ > 0.3
    assert product.explained_ == 0.0
    assert np.abs(residual.embedding_ - product.embedding_).max() > 1e-2


# The bandwidth of given


def learned(table, n, bandwidths):
    given = Given.learn("Model", table, n, None, bandwidths)
    return given, given.encode("Model", table, n).features


def test_a_kernel_of_given_is_as_wide_as_the_user_says():
    """Six columns of standard deviation 1 under a bandwidth of 0.3 leave 0.002 of the kernel to an average pair."""
    *_, numbers = rows()
    given, features = learned(numbers, 90, 0.3)
    G = given_kernel(features, chosen=given.chosen).to_dense()
    expected = np.exp(-((numbers[:, None] - numbers[None]) ** 2).sum(axis=2) / 0.3**2)
    np.testing.assert_allclose(G, expected, atol=1e-6)
    assert expected.mean() < 0.07
    np.testing.assert_allclose(given.bandwidths(1.0), 0.3)


def test_beside_a_bandwidth_of_the_users_only_the_other_columns_are_widened():
    *_, numbers = rows()
    table = {f"c{k}": numbers[:, k] for k in range(6)}
    given, features = learned(table, 90, {"c0": 1.0})
    wide = given_bandwidth(features, given.chosen)
    found = given.bandwidths(wide)
    assert wide > 1.0
    assert found[0] == pytest.approx(1.0)
    own = [float(np.sqrt(0.3) * numbers[:, k].std()) for k in range(1, 6)]
    np.testing.assert_allclose(found[1:], np.sqrt(wide) * np.array(own))
    G = given_kernel(features, chosen=given.chosen).to_dense()
    D = (numbers[:, None] - numbers[None]) ** 2
    np.testing.assert_allclose(G, np.exp(-(D / np.array(found) ** 2).sum(axis=2)), atol=1e-6)


@pytest.mark.parametrize("kind", ["category", "number", "angle"])
def test_bandwidths_are_told_in_the_units_they_are_given_in(kind):
    column = np.arange(90) % 7 if kind == "category" else np.linspace(0.0, 170.0, 90)
    given = Given.learn("Model", column, 90, kind, 0.4)
    assert given.bandwidths(1.0) == pytest.approx([0.4])


@pytest.mark.parametrize("conditioning", ["balanced", "product"])
def test_a_model_tells_the_bandwidth_of_given(conditioning):
    X, _, numbers = rows()
    own = KernelInformationEmbedding(conditioning=Conditioning(conditioning, bandwidth=0.3), **QUICK).fit(
        X, given=numbers
    )
    chosen = KernelInformationEmbedding(conditioning=conditioning, **QUICK).fit(X, given=numbers)
    assert own.given_bandwidth_ == pytest.approx([0.3] * 6)
    assert (np.array(chosen.given_bandwidth_) > np.sqrt(0.3) * numbers.std(axis=0)).all()
    assert np.abs(own.embedding_ - chosen.embedding_).max() > 1e-3
    assert own.fit(X).given_bandwidth_ is None


@pytest.mark.parametrize("bandwidth", [1e-3, 1e3])
@pytest.mark.parametrize("conditioning", ["balanced", "product"])
def test_a_bandwidth_that_leaves_rows_alone_or_together_is_a_map_all_the_same(conditioning, bandwidth):
    X, _, numbers = rows()
    model = KernelInformationEmbedding(conditioning=Conditioning(conditioning, bandwidth=bandwidth), **QUICK)
    assert np.isfinite(model.fit(X, given=numbers[:, 0]).embedding_).all()
    assert np.isfinite(model.transform(X, given=numbers[:, 0])).all()


@pytest.mark.thorough
def test_by_levels_a_bandwidth_of_categories_is_used():
    X, groups, _ = rows()
    wide, narrow, unset = (
        KernelInformationEmbedding(solver="multilevel", conditioning=Conditioning(bandwidth=h), **QUICK).fit(
            X, given=groups
        )
        for h in (20.0, 0.5, None)
    )
    assert wide.given_bandwidth_ == pytest.approx([20.0])
    assert narrow.given_bandwidth_ == pytest.approx([0.5])
    assert unset.given_bandwidth_ is None
    assert np.abs(wide.embedding_ - narrow.embedding_).max() > 1e-3


@pytest.mark.thorough
def test_by_levels_a_bandwidth_too_narrow_for_factors_is_widened_and_said():
    X, _, numbers = rows(200)
    model = KernelInformationEmbedding(solver="multilevel", conditioning=Conditioning(bandwidth=1e-3), **QUICK)
    with pytest.warns(
        UserWarning, match=r"conditioning\.bandwidth=0\.001 is too narrow for a multilevel fit, .*\. Use solver"
    ):
        model.fit(X, given=numbers[:, :1])
    assert model.given_bandwidth_[0] > 1e-3
    _, features = learned(numbers[:, :1], 200, 1e-3)
    assert model.given_bandwidth_[0] == pytest.approx(1e-3 * np.sqrt(widened_factors(features, 1.0)[1]))


# Given on the way to the map


def product(**options):
    X, groups, numbers = rows()
    given = {"who": groups, "age": numbers[:, 0]}
    return X, given, KernelInformationEmbedding(conditioning="product", **options, **QUICK).fit(X, given=given)


def test_a_row_under_the_product_is_placed_by_the_product_of_its_kernels():
    """For a Gaussian of one bandwidth: Σ k(x, x_j) g(g, g_j) z_j / Σ k(x, x_j) g(g, g_j), to the letter."""
    X, given, model = product(bandwidth=2.0)
    G = given_kernel(model.given_.encode(model, given, 90).features).to_dense()
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 2.0)
    W = K * G
    expected = (W / W.sum(axis=1, keepdims=True)) @ model.embedding_
    features = model.given_.encode(model, given, 90).features
    query = np.column_stack([model.frame_.points(X), model.product_scale_ * features])
    found = smooth_part(model.product_backward_)(query)
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("options", [{}, {"bandwidth": 2.0}], ids=str)
def test_training_rows_under_the_product_are_found_at_their_places(options):
    X, given, model = product(**options)
    scale = np.abs(model.embedding_).max()
    np.testing.assert_allclose(model.transform(X, given=given), model.embedding_, rtol=0, atol=1e-9 * scale)
    np.testing.assert_allclose(model.transform(X), model.embedding_, rtol=0, atol=1e-9 * scale)
    partly = {"who": [None, *given["who"][1:]], "age": given["age"]}
    model = KernelInformationEmbedding(conditioning="product", **options, **QUICK).fit(X, given=partly)
    np.testing.assert_allclose(model.transform(X, given=partly), model.embedding_, rtol=0, atol=1e-9 * scale)


def test_rows_that_only_given_tells_apart_keep_their_places_under_the_product():
    X, given, _ = product()
    X, who = np.vstack([X, X[:5]]), np.r_[given["who"], (given["who"][:5] + 1) % 3]
    model = KernelInformationEmbedding(conditioning="product", **QUICK).fit(X, given=who)
    scale = np.abs(model.embedding_).max()
    np.testing.assert_allclose(model.transform(X, given=who), model.embedding_, rtol=0, atol=1e-9 * scale)
    middle = 0.5 * (model.embedding_[:5] + model.embedding_[90:])
    np.testing.assert_allclose(model.transform(X[:5]), middle, rtol=0, atol=1e-9 * scale)


@pytest.mark.parametrize("options", [{}, {"bandwidth": 2.0}, {"bandwidth": 2.0, "kernel": "student"}], ids=str)
def test_given_counts_under_the_product_row_by_row(options):
    X, given, model = product(**options)
    other = {"who": (given["who"] + 1) % 3, "age": given["age"]}
    for method in (model.transform, model.transform_mode):
        Z = method(X, given=other)
        assert np.abs(Z - method(X, given=given)).max() > 1e-2
        alone = np.concatenate(
            [method(X[i : i + 1], given={k: v[i : i + 1] for k, v in other.items()}) for i in (3, 7)]
        )
        np.testing.assert_allclose(Z[[3, 7]], alone, rtol=1e-9, atol=1e-12)
    unknown = {"who": [None, *given["who"][1:]], "age": given["age"]}
    np.testing.assert_array_equal(model.transform(X, given=unknown)[0], model.transform(X)[0])
    np.testing.assert_array_equal(model.transform(X, given=unknown)[1:], model.transform(X, given=given)[1:])
