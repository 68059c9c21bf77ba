"""TableEncoder: numbers of equal weight, and the same table back."""

from __future__ import annotations

import datetime as dt
import pickle
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

sys.path.insert(0, str(Path(__file__).parent))
from expected_kinds import KINDS, table

from sidelight import ProbabilisticPCA, TableEncoder, load, save
from sidelight.tables._category_code import CategoryCode
from sidelight.tables._column_kinds import understand
from sidelight.tables._number_text import as_numbers

each = pytest.mark.parametrize("name", KINDS)
LIBRARIES = {"pandas": lambda frame: frame, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}
MOMENTS = [dt.datetime(2024, 1, 1, 10), dt.datetime(2024, 2, 1), None, dt.datetime(2020, 2, 29)]
every_library = pytest.mark.parametrize("convert", LIBRARIES.values(), ids=LIBRARIES)
SMALL = pd.DataFrame({
    "size": [1.5, 2.0, np.nan, 4.0, 8.0, 3.0, 2.5, 6.0],
    "colour": ["red", "blue", "red", None, "blue", "green", "green", "red"],
    "ok": [True, False, True, True, False, False, True, True],
    "day": pd.to_datetime(
        ["2024-01-01", "2024-01-05", None, "2024-02-01", "2024-03-01", "2024-03-03", "2024-04-01", "2024-05-01"]
    ),
})  # fmt: skip


def pandas_of(frame):
    return frame if isinstance(frame, pd.DataFrame) else frame.to_pandas()


def as_pandas_numbers(column, use):
    """A column as numbers, however it is written."""
    if pd.api.types.is_numeric_dtype(column):
        return column.to_numpy(dtype=float, na_value=np.nan)
    return as_numbers([None if pd.isna(value) else value for value in column], use.number_format)


@each
@every_library
def test_a_table_comes_back_with_its_columns_types_and_values(name, convert):
    original = convert(table(name))
    encoder = TableEncoder(tails="keep", min_frequency=1).fit(original)
    back = encoder.inverse_transform(encoder.transform(original))
    assert type(back) is type(original)
    before, after = pandas_of(original), pandas_of(back)
    assert list(after.columns) == list(before.columns)
    for use in encoder.columns_:
        if use.kind in ("identifier", "text", "empty"):
            assert after[use.name].isna().all()
        else:
            check_column(before[use.name], after[use.name], use)


def check_column(before, after, use):
    """Numbers to 1e-9 relative, everything else exactly; the type as it was."""
    if use.kind in ("number", "angle"):
        wanted, found = as_pandas_numbers(before, use), as_pandas_numbers(after, use)
        np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * np.nanmax(np.abs(wanted)))
    elif use.kind == "boolean" and before.nunique() > 2:  # several spellings: the most frequent comes back
        assert (
            (before.str.lower().str[0].isin(["y", "t"]) == after.isin(["Yes", "TRUE"]))
            .where(before.notna(), True)
            .all()
        )
    else:
        assert [None if pd.isna(one) else one for one in after] == [None if pd.isna(one) else one for one in before]
    if not use.n_missing or before.dtype != np.int64:
        assert after.dtype == before.dtype


@each
def test_every_column_has_total_variance_one(name):
    encoder = TableEncoder(scaling="standard", tails="keep").fit(table(name))
    A = encoder.transform(table(name))
    for block in encoder.blocks_:
        assert np.nanvar(A[:, block.columns], axis=0).sum() == pytest.approx(1.0, rel=1e-6), block.name


@each
def test_rows_one_by_one_are_encoded_as_together(name):
    frame = table(name).head(60)
    encoder = TableEncoder().fit(table(name))
    together = encoder.transform(frame)
    alone = np.vstack([encoder.transform(frame.iloc[i : i + 1]) for i in range(0, len(frame), 7)])
    np.testing.assert_allclose(alone, together[::7], rtol=1e-12, atol=1e-12)


@each
def test_an_encoder_that_was_saved_gives_the_same_numbers_and_table(name, tmp_path):
    frame = table(name)
    encoder = TableEncoder(kinds={frame.columns[0]: "drop"} if frame.shape[1] > 3 else None).fit(frame)
    save(encoder, tmp_path / "encoder.sidelight")
    again = load(tmp_path / "encoder.sidelight")
    A = encoder.transform(frame)
    np.testing.assert_array_equal(again.transform(frame), A)
    pd.testing.assert_frame_equal(again.inverse_transform(A), encoder.inverse_transform(A))
    assert again.columns_ == encoder.columns_
    assert list(again.get_feature_names_out()) == list(encoder.get_feature_names_out())


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([1, 2, None, 4], dtype="Int64"),
        pd.Series([1, 2, 3, 9], dtype="int16"),
        pd.Series([1, 2, 3, 9], dtype="float32"),
        pd.Series([1.5, 2, None, 4], dtype="Float64"),
        pd.Series([True, None, False, True], dtype="boolean"),
        pd.Series([True, False, False, True]),
        pd.Series([True, None, False, True], dtype=object),
        pd.Series(["a", "b", "b", None], dtype="string"),
        pd.Series(["a", "b", "b", None], dtype=object),
        pd.Series(pd.Categorical(["a", "b", "b", None], categories=["c", "b", "a"])),
        pd.Series(pd.Categorical(["a", "b", "c", "b"], categories=["c", "b", "a"], ordered=True)),
        pd.Series(pd.Categorical([3, 1, 3, 1])),
        pd.Series(pd.to_datetime(MOMENTS)),
        pd.Series(pd.to_datetime(MOMENTS)).dt.tz_localize("Europe/Berlin"),
        pd.Series([dt.date(2024, 1, 1), dt.date(2024, 2, 1), None, dt.date(2020, 2, 29)]),
        pd.Series(pd.to_timedelta([1, 5, 9, None], "h")),
        pd.Series([dt.time(1, 30), dt.time(12), dt.time(23, 59, 59), None]),
        pd.Series(["2024-01-01", "2024-02-01", None, "2020-02-29"]),
        pd.Series(pd.period_range("2020-01", periods=4, freq="M")),
    ],
    ids=lambda values: f"{values.dtype}-{type(values[0]).__name__}",
)  # fmt: skip
def test_types_of_pandas_come_back(values):
    frame = pd.DataFrame({"column": values, "beside": [1.0, 2.5, 3.0, 7.0]}).set_axis(list("abcd"), axis=0)
    encoder = TableEncoder().set_output(transform="pandas").fit(frame)
    pd.testing.assert_frame_equal(encoder.inverse_transform(encoder.transform(frame)), frame)


@pytest.mark.parametrize(
    "values",
    [
        pl.Series([1, 2, None, 4], dtype=pl.UInt8),
        pl.Series([1.5, 2, None, 4], dtype=pl.Float32),
        pl.Series([True, None, False, True]),
        pl.Series(["a", "b", "b", None]),
        pl.Series(["a", "b", "b", None], dtype=pl.Categorical),
        pl.Series(["a", "b", "b", None], dtype=pl.Enum(["c", "b", "a"])),
        pl.Series([dt.date(2024, 1, 1), dt.date(2024, 2, 1), None, dt.date(2020, 2, 29)]),
        pl.Series(MOMENTS),
        pl.Series(MOMENTS, dtype=pl.Datetime("ms")),
        pl.Series(MOMENTS).dt.replace_time_zone("Europe/Berlin"),
        pl.Series([dt.timedelta(hours=1), dt.timedelta(days=1), None, dt.timedelta(days=9)]),
        pl.Series([dt.time(1, 30), dt.time(12), dt.time(23, 59, 59), None]),
    ],
    ids=lambda values: str(values.dtype),
)  # fmt: skip
def test_types_of_polars_come_back(values):
    frame = pl.DataFrame({"column": values, "beside": [1.0, 2.5, 3.0, 7.0]})
    encoder = TableEncoder().fit(frame)
    back = encoder.inverse_transform(encoder.transform(frame))
    assert back.schema == frame.schema
    assert back["column"].to_list() == frame["column"].to_list()


def test_missing_entries_stay_missing_in_all_columns_of_their_code():
    encoder = TableEncoder().fit(SMALL)
    A = encoder.transform(SMALL)
    for block in encoder.blocks_:
        gone = np.isnan(A[:, block.columns])
        np.testing.assert_array_equal(gone.all(axis=1), SMALL[block.name].isna())
        np.testing.assert_array_equal(gone.any(axis=1), SMALL[block.name].isna())


def test_a_category_counts_as_much_as_a_number_by_formula():
    encoder = TableEncoder().fit(SMALL[["colour"]].dropna())
    p = np.array([2, 2, 3]) / 7
    weight = 1 / np.sqrt(1 - np.sum(p**2))
    A = encoder.transform(pd.DataFrame({"colour": ["blue"]}))
    np.testing.assert_allclose(A, [(np.array([1, 0, 0]) - p) * weight])
    assert list(encoder.get_feature_names_out()) == ["colour_blue", "colour_green", "colour_red"]


def test_robust_scaling_is_by_median_and_quartiles_and_by_deviation_where_these_agree():
    x = np.r_[np.arange(40.0), 1e6]
    code = TableEncoder(tails="keep").fit(pd.DataFrame({"x": x + 0.5}))
    low, median, high = np.quantile(x, (0.25, 0.5, 0.75))
    np.testing.assert_allclose(code.transform(pd.DataFrame({"x": [0.5]})), [[-median / ((high - low) / 1.349)]])
    mostly_zero = pd.DataFrame({"x": np.r_[np.zeros(30), 2.0, 5.0]})
    A = TableEncoder(tails="keep").fit_transform(mostly_zero)
    assert A.var() == pytest.approx(1.0)


def test_heavy_tails_are_bent_only_where_that_predicts_better():
    rng = np.random.default_rng(0)
    normal, uniform, money = rng.normal(size=400), rng.uniform(size=400), rng.lognormal(3, 2, 400)
    frame = pd.DataFrame({"normal": normal, "uniform": uniform, "money": money, "cauchy": rng.standard_cauchy(400)})
    auto, keep = TableEncoder().fit(frame), TableEncoder(tails="keep").fit(frame)
    same = np.isclose(auto.transform(frame), keep.transform(frame)).all(axis=0)
    assert same.tolist() == [True, True, False, False]
    assert np.abs(auto.transform(frame)).max() < 8
    back = auto.inverse_transform(auto.transform(frame))
    np.testing.assert_allclose(back, frame, rtol=1e-9)


def test_rare_categories_share_a_level_whose_inverse_is_the_most_frequent_of_them():
    frame = pd.DataFrame({"animal": ["cat"] * 9 + ["dog"] * 8 + ["emu"] * 2 + ["ape", "bat"], "x": np.arange(21) ** 2})
    encoder = TableEncoder(min_frequency=3).fit(frame)
    assert list(encoder.get_feature_names_out()) == ["animal_cat", "animal_dog", "animal_other", "x"]
    back = encoder.inverse_transform(encoder.transform(frame))["animal"]
    assert back.tolist() == ["cat"] * 9 + ["dog"] * 8 + ["emu"] * 4
    one_rare = TableEncoder().fit(frame[:-1])  # alone it needs no name for others
    assert "animal_ape" in one_rare.get_feature_names_out()


def test_probabilities_of_levels_are_given_on_request():
    encoder = TableEncoder().fit(SMALL.dropna())
    A = encoder.transform(SMALL.dropna())
    found = encoder.inverse_transform(A, probabilities=True)
    assert list(found) == [
        "size", "colour", "colour_blue", "colour_green", "colour_red", "ok", "ok_False", "ok_True", "day",
    ]  # fmt: skip
    np.testing.assert_allclose(found[["colour_blue", "colour_green", "colour_red"]].sum(axis=1), 1.0)
    np.testing.assert_allclose(found["ok_True"], SMALL.dropna()["ok"].astype(float), atol=1e-12)
    between = encoder.inverse_transform(A.mean(axis=0, keepdims=True), probabilities=True)
    shares = SMALL.dropna()["colour"].value_counts(normalize=True)
    assert between["colour_red"].item() == pytest.approx(shares["red"])


def test_dates_have_the_cycles_that_predict_something():
    days = pd.date_range("2015-01-01", "2019-12-31", freq="D")
    rng = np.random.default_rng(0)
    season = np.cos(2 * np.pi * days.day_of_year / 365.25)
    noise = rng.normal(size=len(days))
    encoder = TableEncoder().fit(pd.DataFrame({"day": days, "warmth": season + 0.3 * noise}))
    assert list(encoder.get_feature_names_out()) == ["day", "day_year_cos", "day_year_sin", "warmth"]
    plain = TableEncoder().fit(pd.DataFrame({"day": days, "noise": noise}))
    assert list(plain.get_feature_names_out()) == ["day", "noise"]


def test_similar_texts_are_near_each_other():
    frame = table("cars")[["Name"]]
    A = TableEncoder().fit_transform(frame)
    maker = frame["Name"].str.split().str[0].to_numpy()
    D = np.linalg.norm(A[:, None] - A[None], axis=2) + 1e9 * (frame.to_numpy() == frame.to_numpy().T)
    assert np.mean(maker[D.argmin(axis=1)] == maker) > 0.8


def test_an_unseen_category_is_missing_and_named_in_a_warning():
    encoder = TableEncoder().fit(SMALL)
    new = SMALL.assign(colour=["red", "mauve"] * 4)
    with pytest.warns(UserWarning, match=r"column 'colour' has entries that fit has not seen \('mauve'\)"):
        A = encoder.transform(new)
    columns = next(block.columns for block in encoder.blocks_ if block.name == "colour")
    np.testing.assert_array_equal(np.isnan(A[:, columns]).all(axis=1), new["colour"] == "mauve")


def test_unseen_categories_of_several_columns_are_named_in_one_warning():
    frame = pd.DataFrame({name: list("abab") * 3 for name in ("one", "two", "three", "four")})
    encoder = TableEncoder(kinds=dict.fromkeys(frame, "category")).fit(frame)
    new = pd.DataFrame({name: ["a", *"vwxy"] for name in frame})
    with pytest.warns(UserWarning, match="fit has not seen") as caught:
        encoder.transform(new)
    assert len(caught) == 1
    told = str(caught[0].message)
    assert (
        "X=4 columns have entries that fit has not seen, which are taken as missing: 'one' ('v', 'w', 'x' and " in told
    )
    assert "'three' ('v', 'w', 'x' and 1 more) and 1 more. Fit again" in told


def test_columns_are_matched_by_name():
    encoder = TableEncoder().fit(SMALL.assign(id=range(8)))
    A = encoder.transform(SMALL.assign(id=range(8)))
    np.testing.assert_array_equal(encoder.transform(SMALL[SMALL.columns[::-1]]), A)  # nor is the id needed
    np.testing.assert_array_equal(encoder.transform(pl.from_pandas(SMALL)), A)
    with pytest.warns(UserWarning, match="'extra' has columns that fit has not seen, which are ignored"):
        np.testing.assert_array_equal(encoder.transform(SMALL.assign(extra=1)), A)
    with pytest.raises(ValueError, match=r"X='colour', 'day' lacks columns that fit had\. Add them"):
        encoder.transform(SMALL.drop(columns=["colour", "day"]))


def test_another_type_that_can_be_read_the_same_way_is_read_so():
    encoder = TableEncoder().fit(SMALL)
    other = pd.DataFrame({
        "size": [None if pd.isna(x) else f"{x}" for x in SMALL["size"]],
        "colour": SMALL["colour"].astype("category"),
        "ok": ["yes" if x else "No" for x in SMALL["ok"]],
        "day": SMALL["day"].dt.strftime("%Y-%m-%d"),
    })  # fmt: skip
    np.testing.assert_array_equal(encoder.transform(other), encoder.transform(SMALL))
    with pytest.raises(ValueError, match="column 'day' holds numbers and not dates"):
        encoder.transform(SMALL.assign(day=1.0))
    with pytest.raises(ValueError, match="column 'size'='big' in row 7 cannot be read as a number"):
        encoder.transform(SMALL.assign(size=[*other["size"][:7], "big"]))


def test_what_cannot_be_encoded_is_refused_by_name():
    with pytest.raises(ValueError, match="has no column that can be encoded"):
        TableEncoder().fit(pd.DataFrame({"id": range(9), "same": 1}))
    with pytest.raises(TypeError, match="column 'lists' holds entries of type list"):
        TableEncoder().fit(pd.DataFrame({"lists": [[1], [2]]}))
    with pytest.raises(ValueError, match=r"inf in row 1 of column 'x' is infinity"):
        TableEncoder().fit(pd.DataFrame({"x": [1, np.inf]}))
    with pytest.raises(ValueError, match="column 'x' is the name of more than one column"):
        TableEncoder().fit(pd.DataFrame(np.eye(3), columns=["x", "y", "x"]))
    with pytest.raises(TypeError, match="sparse"):
        TableEncoder().fit(csr_array(np.eye(3)))
    with pytest.raises(ValueError, match="has 3 values and is no truth value"):
        TableEncoder({"x": "boolean"}).fit(pd.DataFrame({"x": ["a", "b", "c"]}))
    with pytest.raises(ValueError, match="scaling=wide is not an option"):
        TableEncoder(scaling="wide").fit(SMALL)
    encoder = TableEncoder().fit(SMALL)
    with pytest.raises(ValueError, match="X=2 columns does not match the 6 columns of the code"):
        encoder.inverse_transform(np.zeros((3, 2)))


def test_arrays_and_lists_of_rows_are_tables_without_names():
    X = np.random.default_rng(0).normal(size=(30, 3))
    encoder = TableEncoder(scaling="standard", tails="keep").fit(X)
    np.testing.assert_allclose(encoder.transform(X), (X - X.mean(axis=0)) / X.std(axis=0))
    np.testing.assert_allclose(encoder.inverse_transform(encoder.transform(X)), X)
    assert encoder.fit(X.astype(np.float32)).transform(X.astype(np.float32)).dtype == np.float32
    assert {use.kind for use in TableEncoder().fit(np.arange(30).reshape(10, 3)).columns_} == {"number"}
    mixed = [["a", 1.5], ["b", 2.5], ["a", 9.0]]
    rows = np.array(mixed, dtype=object)
    assert TableEncoder().fit(rows).inverse_transform(TableEncoder().fit_transform(rows)).tolist() == mixed


def test_names_that_are_numbers_come_back():
    frame = pd.DataFrame({0: [1.0, 2, 4], 1: ["a", "b", "a"]})
    encoder = TableEncoder().fit(frame)
    pd.testing.assert_frame_equal(encoder.inverse_transform(encoder.transform(frame)), frame)


def test_it_works_in_a_pipeline_and_its_clone_and_pickle_agree():
    frame = table("wine")
    pipeline = make_pipeline(TableEncoder(), ProbabilisticPCA(3))
    Z = pipeline.fit_transform(frame)
    back = pipeline.inverse_transform(Z)
    assert list(back) == list(frame)
    assert (back["target"] == frame["target"]).mean() > 0.9
    again = clone(pipeline).fit(frame)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(again)).transform(frame), pipeline.transform(frame))


def test_the_seed_moves_only_the_code_of_text():
    frame = table("passengers")
    first, second = (TableEncoder(random_state=seed).fit(frame) for seed in (0, 1))
    A, B = first.transform(frame), second.transform(frame)
    text = [name.rpartition("_text")[1] != "" for name in first.get_feature_names_out()]
    np.testing.assert_array_equal(A[:, ~np.array(text)], B[:, ~np.array(text)])
    assert (A[:, text] != B[:, text]).any()
    fewer = TableEncoder(n_text=3).fit(table("cars"))
    assert sum("_text" in name for name in fewer.get_feature_names_out()) == 3


def test_codes_between_levels_decode_to_the_nearer():
    code = CategoryCode(["a", "b"], np.array([0.5, 0.5]), 2**0.5, [])
    A = 0.7 * code.encode(np.array([0])) + 0.3 * code.encode(np.array([1]))
    np.testing.assert_allclose(code.probabilities(A), [[0.7, 0.3]])
    assert code.decode(A).tolist() == ["a"]


def test_understanding_changes_nothing():
    frame = table("accounts")
    before = frame.copy(deep=True)
    understand(frame)
    pd.testing.assert_frame_equal(frame, before)


# all of scikit-learn's checks; that names of columns keep their order is not one of them: they are matched by name
@parametrize_with_checks([TableEncoder()])
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)
