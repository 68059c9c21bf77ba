"""Imputer: the same table without its gaps."""

from __future__ import annotations

import datetime as dt
import pickle
import sys
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

sys.path.insert(0, str(Path(__file__).parent))
from expected_kinds import KINDS, table
from gapped_tables import correlated, holes, mixed

from sidelight import Imputer, KernelInformationEmbedding, load, save
from sidelight.tables._column_kinds import understand

LIBRARIES = {"pandas": lambda frame: frame, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}
every_library = pytest.mark.parametrize("convert", LIBRARIES.values(), ids=LIBRARIES)
every_method = pytest.mark.parametrize("method", ["gaussian", "mixture", "neighbours"])
MOMENTS = [dt.datetime(2024, 1, 1, 10), dt.datetime(2024, 2, 1), None, dt.datetime(2020, 2, 29)]


def pandas_of(frame):
    return frame if isinstance(frame, pd.DataFrame) else frame.to_pandas()


@pytest.mark.thorough
@every_library
@pytest.mark.parametrize("name", ["cars", "german", "wages", "accounts", "survey", "modechoice"])
def test_a_table_comes_back_whole_with_its_columns_types_and_observed_entries(name, convert):
    before = holes(table(name))
    original = convert(before)
    with pytest.warns(UserWarning, match="stay missing") if stays(before) else nullcontext():
        filled = Imputer("gaussian").fit(original).transform(original)
    assert type(filled) is type(original)
    assert list(pandas_of(filled).columns) == list(before.columns)
    if convert is LIBRARIES["pandas"]:
        assert (filled.dtypes == before.dtypes).all()
        observed = before.notna() & ~before.isin([" ", "", "?"])
        pd.testing.assert_frame_equal(filled.where(observed), before.where(observed))
    else:
        assert filled.schema == original.schema
    left = pandas_of(filled).isna().any()
    assert {column for column in left.index if left[column]} == stays(before)


def stays(frame):
    """Columns of a table whose gaps cannot be filled."""
    left = [use.name for use in understand(frame) if use.kind in ("identifier", "text", "empty")]
    return {name for name in left if frame[name].isna().any()}


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([1, 2, None, 4, 9], dtype="Int64"),
        pd.Series([1, 2, None, 4, 9], dtype="float32"),
        pd.Series([1.5, 2, None, 4, 9], dtype="Float64"),
        pd.Series([True, None, False, True, False], dtype="boolean"),
        pd.Series([True, None, False, True, False], dtype=object),
        pd.Series(["a", "b", "b", None, "a"], dtype="string"),
        pd.Series(["a", "b", "b", None, "a"], dtype=object),
        pd.Series(pd.Categorical(["a", "b", "b", None, "a"], categories=["c", "b", "a"])),
        pd.Series(pd.Categorical(["a", "b", "b", None, "c"], categories=["c", "b", "a"], ordered=True)),
        pd.Series(pd.to_datetime([*MOMENTS, MOMENTS[0]])),
        pd.Series(pd.to_datetime([*MOMENTS, MOMENTS[0]])).dt.tz_localize("Europe/Berlin"),
        pd.Series([dt.date(2024, 1, 1), dt.date(2024, 2, 1), None, dt.date(2020, 2, 29), dt.date(2020, 2, 1)]),
        pd.Series(pd.to_timedelta([1, 5, 9, None, 3], "h")),
        pd.Series([dt.time(1, 30), dt.time(12), dt.time(23, 59, 59), None, dt.time(2)]),
        pd.Series(["1,5", "2,25", None, "4,0", "9,75"]),
        pd.Series(["$1,500", "$2", "n/a", "$4", "$9"]),
        pd.Series(["2024-01-01", "2024-02-01", None, "2020-02-29", "2021-02-28"]),
        pd.Series([3.0, 3.0, None, 3.0, 3.0]),
    ],
    ids=lambda values: f"{values.dtype}-{values[0]}",
)  # fmt: skip
def test_types_and_notation_of_pandas_stay(values):
    frame = pd.DataFrame({"column": values, "beside": [1.0, 2.5, 3.0, 7.0, 4.0]}).set_axis(list("abcde"), axis=0)
    filled = Imputer().fit_transform(frame)
    seen = frame["column"].notna() & (frame["column"].astype(str) != "n/a")
    assert filled["column"].notna().all()
    assert not filled["column"].astype(str).isin(["n/a"]).any()
    pd.testing.assert_frame_equal(filled[seen], frame[seen])
    assert (filled.dtypes == frame.dtypes).all()
    if values.dtype == "category":
        assert list(filled["column"].cat.categories) == ["c", "b", "a"]
    if values[0] == "1,5":
        assert filled["column"].str.fullmatch(r"-?\d+,\d+").all()
    if values[0] == "$1,500":
        assert filled["column"].str.fullmatch(r"\$[\d,]+").all()


@pytest.mark.parametrize("convert", [lambda frame: frame, lambda frame: frame.to_arrow()], ids=["polars", "pyarrow"])
def test_types_of_polars_and_pyarrow_stay(convert):
    frame = pl.DataFrame({
        "whole": pl.Series([1, 2, None, 4, 9], dtype=pl.UInt8),
        "number": pl.Series([1.5, 2, None, float("nan"), 3], dtype=pl.Float32),
        "truth": pl.Series([True, None, False, True, False]),
        "word": pl.Series(["a", "b", "b", None, "a"]),
        "category": pl.Series(["a", "b", "b", None, "a"], dtype=pl.Categorical),
        "enumeration": pl.Series(["a", "b", "b", None, "a"], dtype=pl.Enum(["c", "b", "a"])),
        "day": [dt.date(2024, 1, 1), dt.date(2024, 2, 1), None, dt.date(2020, 2, 29), dt.date(2020, 2, 1)],
        "moment": pl.Series([*MOMENTS, MOMENTS[0]]).dt.replace_time_zone("Europe/Berlin"),
        "span": [dt.timedelta(hours=1), dt.timedelta(days=1), None, dt.timedelta(days=9), dt.timedelta(days=3)],
        "clock": [dt.time(1, 30), dt.time(12), dt.time(23, 59, 59), None, dt.time(2)],
        "same": ["x", "x", None, "x", "x"],
    })  # fmt: skip
    given = convert(frame)
    filled = Imputer().fit_transform(given)
    assert filled.schema == given.schema
    columns = frame.fill_nan(None)
    after = filled if isinstance(filled, pl.DataFrame) else pl.from_arrow(filled)
    for name in frame.columns:
        assert after[name].null_count() == 0
        pairs = zip(columns[name].to_list(), after[name].to_list(), strict=True)
        assert all(one == other for one, other in pairs if one is not None)


@pytest.mark.thorough
def test_arrays_stay_arrays_and_keep_their_type():
    _, G = correlated(80)
    for given in (G, G.astype(np.float32), np.asfortranarray(G), G[:, ::-1]):
        before = given.copy()
        filled = Imputer("gaussian").fit_transform(given)
        assert isinstance(filled, np.ndarray)
        assert filled.dtype == given.dtype
        np.testing.assert_array_equal(filled[~np.isnan(given)], given[~np.isnan(given)])
        assert np.isfinite(filled).all()
        np.testing.assert_array_equal(given, before)
    np.testing.assert_array_equal(Imputer("gaussian").fit_transform(G.tolist()), Imputer("gaussian").fit_transform(G))
    words = np.array([["a", 1.0], ["b", 2.0], ["a", np.nan], [None, 2.1], ["b", 2.0], ["a", 1.1]], dtype=object)
    filled = Imputer("gaussian").fit_transform(words)
    assert filled.dtype == object
    assert filled[3, 0] == "b"
    assert 0.9 < filled[2, 1] < 2.2


@every_method
def test_what_the_rest_of_a_row_tells_is_used(method):
    X, G = correlated()
    gone = np.isnan(G)
    model = Imputer(method).fit(G)
    error = np.sqrt(np.mean((model.transform(G) - X)[gone] ** 2))
    assert error < 0.75 * X.std()  # of the best predictor given four others: 0.5
    assert model.method_ == method
    assert set(model.held_out_) == {method}
    assert model.held_out_[method] * X.std() == pytest.approx(error, rel=0.25)


@pytest.mark.thorough
def test_auto_chooses_by_held_out_entries():
    _, G = correlated(150)
    model = Imputer().fit(G)
    assert model.method_ in model.held_out_
    assert len(model.held_out_) >= 3
    t = np.linspace(-2, 2, 300)
    bent = np.column_stack([t, t**2, np.cos(2 * t), t**3 - 2 * t, np.abs(t)])  # all tell of each other, none by a line
    gone = np.random.default_rng(0).random(bent.shape) < 0.1
    model = Imputer().fit(np.where(gone, np.nan, bent))
    assert model.method_ != "gaussian"
    assert model.held_out_[model.method_] < model.held_out_["gaussian"]


def test_categories_truths_dates_and_ranks_are_told_from_the_rest():
    truth = mixed()
    gapped = holes(truth, 0.2, columns=["mass", "kind", "grown", "day", "size"])
    filled = Imputer("gaussian").fit_transform(gapped)
    gone = gapped.isna()
    assert (filled["kind"] == truth["kind"])[gone["kind"]].mean() > 0.7
    assert (filled["grown"] == truth["grown"])[gone["grown"]].mean() > 0.8
    assert (filled["size"].cat.codes - truth["size"].cat.codes).abs()[gone["size"]].max() <= 1
    away = (filled["day"] - truth["day"]).abs()[gone["day"]]
    assert away.median() < pd.Timedelta(15, "D")
    assert (filled["day"] == filled["day"].dt.normalize()).all()


@pytest.mark.thorough
def test_filled_numbers_are_such_as_the_column_could_have():
    rng = np.random.default_rng(0)
    t = rng.normal(size=300)
    truth = pd.DataFrame({
        "signal": t, "count": np.maximum(np.rint(2 * t), 0), "share": 1 / (1 + np.exp(-4 * t)),
        "debt": np.minimum(t, 0), "change": t + 0.01,
    })  # fmt: skip
    gapped = holes(truth, 0.4)
    model = Imputer("gaussian").fit(gapped)
    for filled in (model.transform(gapped), *model.draws(gapped, 3)):
        assert (filled["count"] == np.rint(filled["count"])).all()
        assert (filled["count"] >= 0).all()
        assert filled["share"].between(0, 1).all()
        assert (filled["debt"] <= 0).all()
        assert (filled["change"] < 0).any()
    array = Imputer("gaussian").fit_transform(gapped.to_numpy())
    assert (array[:, 1] != np.rint(array[:, 1])).any()  # an array does not say that its numbers are counts


def test_a_table_without_gaps_is_returned_as_it_is():
    frame = mixed(40)
    model = Imputer("gaussian").fit(frame)
    pd.testing.assert_frame_equal(model.transform(frame), frame)
    pd.testing.assert_frame_equal(model.draws(frame, 2)[1], frame)
    assert model.interval(frame).probabilities == {}
    new = frame.head(3).astype({"count": float}).assign(count=np.nan)
    assert model.transform(new)["count"].notna().all()


def test_what_cannot_be_filled_stays_missing_and_is_named_once():
    frame = mixed(30)
    frame["id"] = [f"k{i}" for i in range(29)] + [None]
    frame["remark"] = [f"a long remark on what was seen on this day, number {i}" for i in range(29)] + [None]
    frame["nothing"] = np.nan
    frame.loc[4, "mass"] = np.nan
    with pytest.warns(UserWarning, match="'id' \\(identifier\\), 'remark' \\(text\\), 'nothing' \\(empty\\) cannot be"):
        model = Imputer("gaussian").fit(frame)
    filled = model.transform(frame)  # says nothing more
    assert set(filled.columns[filled.isna().any()]) == {"id", "remark", "nothing"}
    assert list(filled) == list(frame)
    with pytest.warns(UserWarning, match="'x1' \\(empty\\)"):
        array = Imputer().fit_transform(np.array([[1.0, np.nan], [2.0, np.nan], [np.nan, np.nan]]))
    assert array.shape == (3, 2)
    assert np.isnan(array[:, 1]).all()
    assert np.isfinite(array[:, 0]).all()


def test_columns_can_be_understood_otherwise_or_left_as_they_are():
    frame = holes(mixed(60).assign(code=np.arange(60) % 3 + 1), 0.2, columns=["mass", "code"])
    filled = Imputer("gaussian", kinds={"code": "category"}).fit_transform(frame)
    assert set(filled["code"]) == {1.0, 2.0, 3.0}
    with pytest.warns(UserWarning, match="'mass' \\(number\\) cannot be filled"):
        left = Imputer("gaussian", kinds={"mass": "drop"}).fit_transform(frame)
    pd.testing.assert_series_equal(left["mass"], frame["mass"])
    with pytest.raises(ValueError, match=r"^Imputer: kinds='cod' is not a column of the table"):
        Imputer(kinds={"cod": "category"}).fit(frame)


def test_a_row_without_entries_gets_the_unconditional_mean():
    _, G = correlated(300)
    model = Imputer("gaussian").fit(G)
    found = model.transform(np.full((1, 5), np.nan))
    np.testing.assert_allclose(found[0], np.nanmean(G, axis=0), atol=0.15)


def test_one_row_and_columns_of_one_value():
    frame = pd.DataFrame({"x": [1.5], "y": ["a"]})
    model = Imputer().fit(frame)
    assert model.method_ == "none"
    assert model.held_out_ == {}
    gaps = pd.DataFrame({"x": [np.nan, 2.0], "y": ["b", None]})
    pd.testing.assert_frame_equal(model.transform(gaps), pd.DataFrame({"x": [1.5, 2.0], "y": ["b", "a"]}))
    for n in (2, 3, 5):
        X = np.arange(2.0 * n).reshape(n, 2) ** 2
        X[0, 0] = np.nan
        assert np.isfinite(Imputer().fit_transform(X)).all()
        assert np.isfinite(Imputer().fit(X).draws(X, 2)).all()


def test_columns_are_matched_by_name_and_returned_in_the_order_of_the_fit():
    frame = mixed(60)
    model = Imputer("gaussian").fit(frame)
    new = holes(frame.head(20), 0.3, columns=["mass", "kind"])
    wanted = model.transform(new)
    pd.testing.assert_frame_equal(model.transform(new[new.columns[::-1]]), wanted)
    with pytest.warns(UserWarning, match=r"Imputer: X='extra' has columns that fit has not seen, which are ignored"):
        pd.testing.assert_frame_equal(model.transform(new.assign(extra=1)), wanted)
    with pytest.raises(ValueError, match=r"^Imputer: X='kind' lacks columns that fit had\. Add them"):
        model.transform(new.drop(columns="kind"))
    with pytest.raises(ValueError, match="X has 3 features, but Imputer is expecting 6 features"):
        model.transform(new.to_numpy()[:, :3])


def test_an_unseen_category_stays_and_is_named():
    frame = mixed(60)
    model = Imputer("gaussian").fit(frame)
    new = frame.head(4).assign(kind=["huge", "small", None, "large"])
    with pytest.warns(
        UserWarning, match=r"^Imputer: X=column 'kind' has entries .* \('huge'\), which are left as they"
    ):
        filled = model.transform(new)
    assert filled["kind"][0] == "huge"
    assert filled["kind"][2] in {"small", "middling", "large"}


def test_infinities_and_absurd_numbers_are_refused_by_name():
    _, G = correlated(40)
    model = Imputer("gaussian").fit(G)
    with pytest.raises(ValueError, match="Input X contains infinity"):
        model.transform(np.where(np.isnan(G), np.inf, G))
    with pytest.raises(ValueError, match=r"^Imputer: X=inf in row 1 of column 'x' is infinity"):
        Imputer().fit(pd.DataFrame({"x": [1, np.inf]}))
    with pytest.raises(ValueError, match="overflow"):
        model.transform(G * 1e200)
    for parameters in ({"method": "mean"},):
        with pytest.raises(ValueError, match=r"^Imputer: method=mean is not an option"):
            Imputer(**parameters).fit(G)
    with pytest.raises(ValueError, match=r"^Imputer: n=0 is not an integer in range"):
        model.draws(G, 0)
    with pytest.raises(ValueError, match=r"^Imputer: level=1\.5 is not a number in range"):
        model.interval(G, 1.5)


@every_method
def test_rows_one_by_one_are_filled_as_together(method):
    _, G = correlated(120)
    model = Imputer(method).fit(G)
    together = model.transform(G)[:12]
    alone = np.vstack([model.transform(G[i : i + 1]) for i in range(12)])
    np.testing.assert_allclose(alone, together, rtol=1e-9)


@pytest.mark.thorough
def test_an_imputer_that_was_saved_gives_the_same_bytes(tmp_path):
    frame = holes(mixed(90), 0.2)
    for method in ("gaussian", "mixture", "neighbours"):
        model = Imputer(method, random_state=2).fit(frame)
        save(model, tmp_path / "model.sidelight")
        again = load(tmp_path / "model.sidelight")
        pd.testing.assert_frame_equal(again.transform(frame), model.transform(frame), check_exact=True)
        pd.testing.assert_frame_equal(again.draws(frame, 2)[1], model.draws(frame, 2)[1], check_exact=True)
        pd.testing.assert_frame_equal(again.interval(frame).lower, model.interval(frame).lower, check_exact=True)
        assert again.columns_ == model.columns_
        assert again.held_out_ == model.held_out_
        first = (tmp_path / "model.sidelight").read_bytes()
        save(Imputer(method, random_state=2).fit(frame), tmp_path / "second.sidelight")
        assert (tmp_path / "second.sidelight").read_bytes() == first


def test_it_works_before_an_embedding_and_its_clone_and_pickle_agree(tmp_path):
    _, G = correlated(60)
    pipeline = make_pipeline(Imputer("gaussian"), KernelInformationEmbedding(tol=1e-2))
    Z = pipeline.fit_transform(G)
    assert Z.shape == (60, 2)
    save(pipeline, tmp_path / "both.sidelight")
    np.testing.assert_array_equal(load(tmp_path / "both.sidelight").transform(G), pipeline.transform(G))
    again = clone(pipeline[0]).fit(G)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(again)).transform(G), pipeline[0].transform(G))


def test_output_can_be_set_to_another_library():
    frame = holes(mixed(40)[["mass", "count"]], 0.2)
    model = Imputer("gaussian").set_output(transform="pandas").fit(frame)
    pd.testing.assert_frame_equal(model.transform(frame), model.set_output(transform="default").transform(frame))
    assert list(model.get_feature_names_out()) == ["mass", "count"]
    polars = Imputer("gaussian").set_output(transform="polars").fit_transform(frame)
    assert isinstance(polars, pl.DataFrame)
    assert polars.columns == ["mass", "count"]
    _, G = correlated(40)
    named = Imputer("gaussian").set_output(transform="pandas").fit_transform(G)
    assert list(named) == ["x0", "x1", "x2", "x3", "x4"]


def test_progress_is_shown_when_asked_for(capsys):
    _, G = correlated(60)
    Imputer("gaussian", verbose=1).fit(G).transform(G)
    shown = capsys.readouterr().err
    assert "tried gaussian: held-out error" in shown
    assert "rows filled" in shown
    Imputer("gaussian").fit(G).transform(G)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("name", ["longley", "crimea", "burtin", "la-riots"])
def test_small_real_tables_are_filled(name):
    frame = table(name)
    gapped = holes(frame, 0.1, columns=[use for use in KINDS[name] if KINDS[name][use] == "number"])
    model = Imputer().fit(gapped)
    filled = model.transform(gapped)
    names = [use.name for use in model.columns_ if use.used]
    assert filled[names].notna().all(axis=None)


# all of scikit-learn's checks; that names of columns keep their order is not one of them: they are matched by name
@parametrize_with_checks([Imputer("gaussian")])
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)
