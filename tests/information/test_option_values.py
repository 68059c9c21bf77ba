"""Parameters that take a name or a number, or a value that holds it with its options."""

from __future__ import annotations

import dataclasses
import inspect
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import sidelight
from sidelight import (
    Annealing,
    Conditioning,
    JointInformationEmbedding,
    KernelInformationEmbedding,
    KernelOptions,
    Missing,
    UnsupervisedKernelRegression,
)
from sidelight.datasets import s_curve

X = s_curve(80, random_state=0).X
GROUPS = np.arange(80) % 3
QUICK = {"max_iter": 60, "tol": 1e-2, "perplexity": 8.0}
VALUES = {
    "annealing": Annealing(0.1, start=1.0),
    "kernel": KernelOptions("student", "dense"),
    "conditioning": Conditioning("product", {"batch": "category"}, [0.5], 1.0),
    "missing": Missing("project", rounds=2),
}
each = pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
ESTIMATORS = (KernelInformationEmbedding, JointInformationEmbedding, UnsupervisedKernelRegression)


@pytest.mark.parametrize(
    ("kind", "plain"), [(Annealing, 0.3), (KernelOptions, "quartic"), (Conditioning, "residual"), (Missing, "impute")]
)
def test_of_makes_a_value_of_a_name_or_number_and_leaves_a_value_as_it_is(kind, plain):
    value = kind.of(plain)
    assert value == kind(plain)
    assert kind.of(value) is value


@each
def test_a_value_is_frozen_and_survives_a_pickle(value):
    assert pickle.loads(pickle.dumps(value)) == value
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(value, dataclasses.fields(value)[0].name, None)


@each
def test_the_repr_of_a_value_makes_it_again(value):
    assert eval(repr(value), vars(sidelight)) == value


def test_a_repr_shows_what_is_not_by_default():
    assert repr(Annealing(0.1)) == "Annealing(0.1)"
    assert repr(Annealing(0.1, start=1.0, decay=0.5)) == "Annealing(0.1, start=1.0)"
    assert repr(KernelOptions()) == "KernelOptions()"
    assert repr(Conditioning(bandwidth=np.array([1.0]))) == "Conditioning(bandwidth=array([1.]))"
    model = KernelInformationEmbedding(conditioning=Conditioning(weight=2.0), kernel=KernelOptions(storage="sparse"))
    expected = (
        "KernelInformationEmbedding(conditioning=Conditioning(weight=2.0), kernel=KernelOptions(storage='sparse'))"
    )
    assert "".join(repr(model).split()) == "".join(expected.split())


@pytest.mark.parametrize(
    ("parameters", "given"),
    [
        ({"regularization": (0.1, Annealing(0.1))}, None),
        ({"kernel": ("student", KernelOptions("student")), "bandwidth": (1.0, 1.0)}, None),
        ({"conditioning": ("product", Conditioning("product"))}, GROUPS),
    ],
    ids=["annealing", "kernel", "conditioning"],
)
def test_a_value_without_options_is_the_name_or_number(parameters, given):
    plain, value = (
        KernelInformationEmbedding(**{name: pair[side] for name, pair in parameters.items()}).fit(X, given=given)
        for side in (0, 1)
    )
    np.testing.assert_array_equal(plain.embedding_, value.embedding_)
    np.testing.assert_array_equal(plain.transform_mode(X[:5]), value.transform_mode(X[:5]))


def informed():
    options = {"regularization": VALUES["annealing"], "conditioning": VALUES["conditioning"], "bandwidth": 1.0}
    return KernelInformationEmbedding(kernel=VALUES["kernel"], **options, **QUICK)


def test_a_model_with_values_is_cloned_pickled_and_saved(tmp_path):
    model = informed().fit(X, given={"batch": GROUPS})
    twin = clone(model)
    for name in ("kernel", "regularization", "conditioning"):
        assert getattr(twin, name) == getattr(model, name)
    np.testing.assert_array_equal(twin.fit(X, given={"batch": GROUPS}).embedding_, model.embedding_)
    sidelight.save(model, tmp_path / "model")
    for again in (sidelight.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert {**again.get_params(), "callback": None} == model.get_params()
        np.testing.assert_array_equal(again.transform(X), model.transform(X))
        np.testing.assert_array_equal(clone(again).fit(X, given={"batch": GROUPS}).embedding_, model.embedding_)


def test_a_model_whose_options_hold_an_array_is_saved(tmp_path):
    conditioning = Conditioning(types=["category"], bandwidth=np.array([0.5]))
    model = KernelInformationEmbedding(conditioning=conditioning, **QUICK).fit(X, given=GROUPS)
    sidelight.save(model, tmp_path / "model")
    again = sidelight.load(tmp_path / "model").conditioning
    assert again.types == ["category"]
    np.testing.assert_array_equal(again.bandwidth, [0.5])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (Annealing("slow"), r"regularization\.regularization is of type str, which is not float"),
        (Annealing(0.1, start="high"), r"regularization\.start is of type str"),
    ],
)
def test_a_file_whose_options_have_another_type_is_refused(options, sentence, tmp_path):
    model = KernelInformationEmbedding(**QUICK).fit(X).set_params(regularization=options)
    sidelight.save(model, tmp_path / "model")
    with pytest.raises(sidelight.persistence.ModelFileError, match=f"parameter {sentence}"):
        sidelight.load(tmp_path / "model")


def test_a_grid_search_goes_over_values():
    weights = (0.0, 1.0)
    search = GridSearchCV(
        KernelInformationEmbedding(**QUICK),
        {"conditioning": [Conditioning(weight=w) for w in weights], "regularization": [0.1, Annealing(0.1, start=1.0)]},
        cv=2,
    )
    search.fit(X)
    assert [found["conditioning"].weight for found in search.cv_results_["params"]] == [0.0, 0.0, 1.0, 1.0]
    assert search.best_estimator_.conditioning in [Conditioning(weight=w) for w in weights]


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_the_signature_and_the_parameters_are_the_new_ones(kind):
    old = {"regularization_start", "regularization_decay", "data_kernel", "given_types"}
    names = list(inspect.signature(kind).parameters)
    assert not old & set(names)
    assert names[names.index("max_iter") + 1] == "tol"
    assert sorted(names) == sorted(kind().get_params())
    assert list(inspect.signature(kind.__init__).parameters) == ["self", *names]


def test_the_flagship_has_19_parameters():
    assert len(inspect.signature(KernelInformationEmbedding).parameters) == 19


OLD = {
    "regularization_start": ({"regularization_start": 3.0}, {"regularization": Annealing(0.1, start=3.0)}),
    "regularization_decay": (
        {"regularization_decay": 0.8, "regularization": 0.5},
        {"regularization": Annealing(0.5, decay=0.8)},
    ),
    "both": (
        {"regularization_start": 4.0, "regularization_decay": 0.8, "regularization": 0.2},
        {"regularization": Annealing(0.2, start=4.0, decay=0.8)},
    ),
    "beside a value": (
        {"regularization_decay": 0.8, "regularization": Annealing(0.2, start=4.0)},
        {"regularization": Annealing(0.2, start=4.0, decay=0.8)},
    ),
    "data_kernel": ({"kernel": "student", "data_kernel": "sparse"}, {"kernel": KernelOptions("student", "sparse")}),
    "given_types": ({"given_types": {"hour": 24}}, {"conditioning": Conditioning(types={"hour": 24})}),
    "given_bandwidth": (
        {"given_bandwidth": 2.0, "given_weight": 0.5, "conditioning": "balanced"},
        {"conditioning": Conditioning("balanced", bandwidth=2.0, weight=0.5)},
    ),
    "defaults": (
        {
            "regularization_decay": 0.5,
            "regularization_start": None,
            "data_kernel": "auto",
            "given_weight": 1,
            "given_types": None,
        },
        {"regularization": 0.1, "kernel": "gaussian", "conditioning": "auto"},
    ),
}


@pytest.mark.parametrize(("old", "new"), OLD.values(), ids=OLD.keys())
def test_an_old_keyword_is_translated_with_the_line_to_write(old, new):
    with pytest.warns(FutureWarning) as said:
        model = KernelInformationEmbedding(**old)
    assert model.get_params() == KernelInformationEmbedding(**new).get_params()
    assert type(model.regularization) is type(KernelInformationEmbedding(**new).regularization)
    lines = [str(one.message) for one in said]
    assert len(lines) == len(new)
    for name, value in new.items():
        assert any(f"of {name} now. Write {name}={value!r}; the old keyword will go." in line for line in lines)
    assert all(one.filename == __file__ for one in said)


def test_the_sentence_about_old_keywords():
    with pytest.warns(FutureWarning) as one:
        UnsupervisedKernelRegression(regularization_decay=0.8)
    with pytest.warns(FutureWarning) as two:
        JointInformationEmbedding(regularization_decay=0.8, regularization_start=2.0)
    assert [str(said.message) for said in (*one, *two)] == [
        "UnsupervisedKernelRegression: regularization_decay=0.8 is an option of regularization now. "
        "Write regularization=Annealing(0.003, decay=0.8); the old keyword will go.",
        "JointInformationEmbedding: regularization_decay=0.8, regularization_start=2.0 are options of regularization "
        "now. Write regularization=Annealing(0.1, start=2.0, decay=0.8); the old keyword will go.",
    ]


def test_an_old_keyword_gives_the_same_map_to_the_bit():
    with pytest.warns(FutureWarning):
        old = KernelInformationEmbedding(tol=1e-3, regularization_decay=0.8, given_weight=0.5).fit(X, given=GROUPS)
    new = KernelInformationEmbedding(
        tol=1e-3, regularization=Annealing(0.1, decay=0.8), conditioning=Conditioning(weight=0.5)
    ).fit(X, given=GROUPS)
    np.testing.assert_array_equal(old.embedding_, new.embedding_)


def test_new_parameters_and_clones_of_old_ones_say_nothing():
    with pytest.warns(FutureWarning):
        model = KernelInformationEmbedding(data_kernel="dense")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert clone(model).kernel == KernelOptions(storage="dense")


def test_a_subclass_with_parameters_of_its_own_may_pass_an_old_keyword_on():
    class Quick(KernelInformationEmbedding):
        def __init__(self, n_components=2, tol=1e-2):
            super().__init__(n_components, regularization_decay=0.8)
            self.tol = tol

    with pytest.warns(FutureWarning, match=r"^Quick: regularization_decay=0\.8 is an option of regularization now"):
        model = Quick(tol=0.1)
    assert (model.regularization, model.tol) == (Annealing(0.1, decay=0.8), 0.1)


def test_an_unknown_keyword_is_refused_as_python_does():
    with pytest.raises(TypeError, match="unexpected keyword argument 'wings'"):
        KernelInformationEmbedding(wings=2)


@pytest.mark.parametrize(
    ("parameters", "given", "sentence"),
    [
        ({"kernel": KernelOptions("student")}, None, r"kernel\.profile=student is for a kernel with one bandwidth"),
        ({"kernel": "student"}, None, r"kernel=student is for a kernel with one bandwidth"),
        ({"kernel": KernelOptions(storage="sparse")}, None, r"kernel\.storage=sparse is for a kernel with one"),
        (
            {"conditioning": Conditioning("balanced"), "bandwidth": 2.0},
            GROUPS,
            r"conditioning\.method=balanced needs a perplexity",
        ),
        (
            {"conditioning": Conditioning("product"), "solver": "multilevel"},
            GROUPS,
            r"conditioning\.method=product has no place in a multilevel fit",
        ),
        (
            {"conditioning": Conditioning(weight=2.0), "solver": "multilevel"},
            GROUPS,
            r"conditioning\.weight=2\.0 has no place in a multilevel fit",
        ),
    ],
)
def test_an_option_that_another_parameter_excludes_is_named(parameters, given, sentence):
    with pytest.raises(ValueError, match=rf"^KernelInformationEmbedding: {sentence}"):
        KernelInformationEmbedding(**parameters).fit(X, given=given)
