"""Pipelines that begin with a TableEncoder: tables come back as tables, with intervals."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import sidelight
from sidelight import KernelInformationEmbedding, TableEncoder, plot
from sidelight.pipeline import InformedPipeline, make_pipeline

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::sidelight.base.warnings.ExtrapolationWarning"),
]
RNG = np.random.default_rng(0)
GIVEN = np.where(np.arange(90) % 2, "b", "a")
SIZE = RNG.normal(size=90)
TABLE = pd.DataFrame(
    {
        "length": 10 + SIZE + 0.3 * RNG.normal(size=90) + (GIVEN == "b"),
        "rooms": np.rint(30 + 9 * SIZE).astype(int),
        "kind": np.where(SIZE + 0.3 * RNG.normal(size=90) > 0, "large", "small"),
    },
    index=np.arange(90) + 500,
)


def fitted(table, *between):
    encoder = TableEncoder(kinds={"rooms": "number"})
    return make_pipeline(encoder, *between, KernelInformationEmbedding(max_iter=15)).fit(table, given=GIVEN)


@pytest.fixture(scope="module")
def model():
    return fitted(TABLE)


def test_rows_go_back_to_a_table_with_its_names_and_types(model):
    Z = model.transform(TABLE, given=GIVEN)
    back = model.inverse_transform(Z, given=GIVEN)
    pd.testing.assert_frame_equal(back, model[0].inverse_transform(model[-1].inverse_transform(Z, given=GIVEN)))
    assert back.dtypes.to_dict() == TABLE.dtypes.to_dict()
    for changed in (model.counterfactual(TABLE, given="b"), model.corrected(TABLE, given=GIVEN, to="b")):
        assert changed.dtypes.to_dict() == TABLE.dtypes.to_dict()
        assert changed.index.tolist() == TABLE.index.tolist()
    chosen = model.inverse_transform(Z, given=GIVEN, columns=["kind", "length"])
    pd.testing.assert_frame_equal(chosen, back[["kind", "length"]])


def test_a_polars_table_comes_back_as_one():
    table = pl.DataFrame(TABLE.to_dict("list"))
    model = fitted(table)
    back = model.counterfactual(table, given="b")
    assert isinstance(back, pl.DataFrame)
    assert back.schema == table.schema
    assert model.inverse_transform(model.embedding_, columns=["kind"]).columns == ["kind"]


@pytest.mark.parametrize("between", [(), (StandardScaler(),)], ids=["encoder", "encoder and scaler"])
def test_numbers_have_intervals_and_categories_probabilities(between):
    model = fitted(TABLE, *between)
    Z = model.transform(TABLE, given=GIVEN)
    back = model.inverse_transform(Z, given=GIVEN)
    found = model.inverse_transform_interval(Z, given=GIVEN, level=0.9)
    around = model.counterfactual_interval(TABLE, given=GIVEN, given_now=GIVEN)
    for one in (found, around):
        for name in ("length", "rooms"):
            inside = (one.lower[name].to_numpy() <= TABLE[name]) & (TABLE[name] <= one.upper[name].to_numpy())
            assert inside.mean() > 0.8
            assert (one.lower[name] < one.upper[name]).mean() > 0.9
        assert one.lower["kind"].isna().all()
        P = one.probabilities["kind"]
        np.testing.assert_allclose(P.sum(axis=1), 1.0)
        assert (P.idxmax(axis=1).to_numpy() == TABLE["kind"]).mean() > 0.8
    assert ((found.lower["length"] <= back["length"]) & (back["length"] <= found.upper["length"])).all()
    wide = model.inverse_transform_interval(Z, given=GIVEN, level=0.99)
    assert (wide.upper["length"] > found.upper["length"]).all()
    some = model.inverse_transform_interval(Z, given=GIVEN, columns=["rooms"])
    pd.testing.assert_frame_equal(some.upper, found.upper[["rooms"]])


def test_intervals_have_the_index_of_their_rows_and_print_in_one_line(model):
    found = model.counterfactual_interval(TABLE[:3], given="b")
    assert found.lower.index.tolist() == found.probabilities["kind"].index.tolist() == [500, 501, 502]
    assert repr(found) == "Intervals(level=0.9, lower and upper: (3, 3), probabilities: 1 column)"
    places = pd.DataFrame(model.embedding_[:2], index=["p", "q"])
    assert model.inverse_transform_interval(places, given="b").upper.index.tolist() == ["p", "q"]


def test_rows_are_smoothed_through_all_steps(model):
    smooth = model.denoise(TABLE, given=GIVEN)
    Z = model.transform(TABLE, given=GIVEN)
    pd.testing.assert_frame_equal(smooth.reset_index(drop=True), model.inverse_transform(Z, given=GIVEN))
    assert smooth.index.tolist() == TABLE.index.tolist()


def test_one_row_as_a_series_is_refused_with_the_way_out(model):
    with pytest.raises(
        ValueError, match=r"is one row or column, and not a table\. Give table\.loc\[\[label\]\] for one"
    ):
        model.transform(TABLE.iloc[0], given="a")


@pytest.mark.parametrize(
    "model", [make_pipeline(KernelInformationEmbedding(max_iter=5)), KernelInformationEmbedding(max_iter=5)]
)
def test_given_in_another_order_by_its_index_is_warned_of(model, recwarn):
    rows, given = TABLE[["length", "rooms"]], pd.Series(GIVEN, index=TABLE.index)
    model.fit(rows, given=given)
    model.fit(rows, given=given.reset_index(drop=True))
    assert not [one for one in recwarn if "another order" in str(one.message)]
    with pytest.warns(UserWarning, match=r"has the labels of X in another order.*Give given\.loc\[X\.index\]"):
        model.fit(rows, given=given[::-1])


def test_dates_without_the_encoder_are_named():
    with pytest.raises(ValueError, match=r"X=dates in column 'day' are not numbers\. Put sidelight\.TableEncoder"):
        KernelInformationEmbedding().fit(TABLE[["length"]].assign(day=pd.Timestamp("2020-01-01")))


def test_a_column_without_entries_is_named():
    with pytest.raises(ValueError, match="X=column 'empty' has no observed entry"):
        KernelInformationEmbedding(missing="expected").fit(TABLE[["length"]].assign(empty=np.nan))


def test_what_the_last_step_says_of_rows_can_be_asked_of_the_pipeline(model):
    rows = model[0].transform(TABLE)
    np.testing.assert_array_equal(model.typicality(TABLE, given=GIVEN), model.typicality(TABLE))
    with pytest.raises(ValueError, match="given=c is not among the categories"):
        model.typicality(TABLE, given="c")
    np.testing.assert_array_equal(model.embedding_, model[-1].embedding_)
    np.testing.assert_array_equal(model.typicality(TABLE), model[-1].typicality(rows))
    np.testing.assert_array_equal(model.is_novel(TABLE, false_alarm=0.1), model[-1].is_novel(rows, false_alarm=0.1))
    Z = model.embedding_[:5]
    np.testing.assert_array_equal(model.latent_log_density(Z), model[-1].latent_log_density(Z))
    assert not hasattr(make_pipeline(TableEncoder(), KernelInformationEmbedding()), "embedding_")


@pytest.mark.parametrize("kind", [InformedPipeline, Pipeline])
def test_a_fitted_pipeline_can_be_drawn(model, kind):
    pytest.importorskip("matplotlib").use("Agg")
    ax = plot.scatter(kind(model.steps), colour=SIZE)
    np.testing.assert_array_equal(ax.collections[0].get_offsets(), model[-1].embedding_)


def test_columns_that_are_not_named_stay_as_they_are_now():
    given = pd.DataFrame({"group": GIVEN, "age": SIZE + RNG.normal(size=90)})
    model = make_pipeline(StandardScaler(), KernelInformationEmbedding(max_iter=15))
    X = TABLE[["length", "rooms"]].to_numpy()
    model.fit(X, given=given)
    found = model.counterfactual(X, given={"group": "b"}, given_now=given)
    np.testing.assert_array_equal(found, model.counterfactual(X, given=given.assign(group="b"), given_now=given))
    assert not np.allclose(found, model.counterfactual(X, given={"group": "a"}, given_now=given))
    sentence = r"given=1 column does not match the 2 columns of fit \('group', 'age'\)\. .* from given_now"
    with pytest.raises(ValueError, match=sentence):
        model.counterfactual(X, given={"group": "b"})


@pytest.mark.parametrize("form", [lambda table: table, lambda table: pl.DataFrame(table.to_dict("list"))])
def test_text_in_the_rows_is_named_with_the_encoder(form):
    sentence = (
        r"KernelInformationEmbedding: X=text in column 'kind' is not a number\. Put sidelight\.TableEncoder\(\) before"
    )
    with pytest.raises(ValueError, match=sentence):
        KernelInformationEmbedding().fit(form(TABLE))
    with pytest.raises(ValueError, match=r"X=text is not a number\. Put sidelight\.TableEncoder"):
        KernelInformationEmbedding().fit(TABLE.to_numpy())


def test_the_listing_of_the_library_has_public_names_only():
    shown = [name for name in dir(sidelight) if not name.startswith("__")]
    assert not {"Any", "find_spec", "importlib", "_ROOMS", "_MODULES"} & set(shown)
    assert {"KernelInformationEmbedding", "evaluate", "save"} <= set(shown)
