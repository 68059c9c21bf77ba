"""``sidelight impute``: gaps are filled, everything else is written as it was read, and what was done is said."""

from __future__ import annotations

import csv
import io
import shutil
import sqlite3
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sidelight

FILES = Path(__file__).parents[1] / "tables" / "files"
QUICK = ("--method", "gaussian")


def gapped_text(name, delimiter=",", encoding="utf-8", share=0.1, first=1):
    """A table of tests/tables as text with entries removed (not from its first columns), as rows of entries."""
    rng = np.random.default_rng(0)
    rows = list(csv.reader((FILES / f"{name}.csv").read_text(encoding=encoding).splitlines(), delimiter=delimiter))
    return [rows[0], *([e if j < first or rng.random() > share else "" for j, e in enumerate(row)] for row in rows[1:])]


def write_text(path, rows, delimiter=",", encoding="utf-8"):
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(rows)
    path.write_bytes(out.getvalue().encode(encoding))
    return path


def text_rows(path, delimiter=","):
    return list(csv.reader(path.read_text(encoding="utf-8").splitlines(), delimiter=delimiter))


@pytest.fixture
def gapped(here, frame):
    """Flowers with an identifier, a constant, and gaps."""
    rng = np.random.default_rng(0)
    out = frame.round(2).assign(petals=np.rint(frame["length"] * 2 + 9).astype(int), same="x")
    out.insert(0, "name", [f"flower {i:02d}" for i in range(60)])
    for name in ("length", "kind", "petals", "same"):
        out[name] = out[name].astype(object).where(rng.random(60) > 0.15, "")
    out.loc[3, "name"] = ""
    out.to_csv(here / "gapped.csv", index=False)
    return here / "gapped.csv"


def test_gaps_are_filled_and_everything_else_is_written_as_it_was_read(run, here, gapped):
    done = run("impute", gapped, "--out", "filled.csv", *QUICK)
    assert done.code == 0, done.err
    before, after = text_rows(gapped), text_rows(here / "filled.csv")
    assert after[0] == before[0]
    assert len(after) == len(before)
    for old, new in zip(before[1:], after[1:], strict=True):
        for name, was, now in zip(before[0], old, new, strict=True):
            if was or name == "name":
                assert now == was
            else:
                assert now != ""
    whole = [row[before[0].index("petals")] for row in after[1:]]
    assert all(entry.lstrip("-").isdigit() for entry in whole)
    lengths = [row[before[0].index("length")] for row in after[1:]]
    assert all(len(entry.partition(".")[2]) <= 2 for entry in lengths)


@pytest.mark.thorough
def test_it_says_what_it_filled_by_what_and_what_stays_missing(run, here, gapped):
    done = run("impute", gapped, "--out", "filled.csv")
    n = pd.read_csv(gapped)["length"].isna().sum()
    assert f"  length: {n} of 60" in done.out
    assert ", chosen by the error on entries held out from the fit" in done.out
    assert "gaussian 0." in done.out
    assert "with its only value x; if an empty entry means something else there, use --drop same" in done.out
    assert "name: 1 entry is still missing (an identifier cannot be told from the rest of a row)." in done.out
    assert "wrote filled.csv" in done.out
    assert done.err == ""
    answer = run("impute", gapped, "--out", "filled.csv", "--force", "--json").answer
    assert answer["filled"]["length"] == n
    assert set(answer["held_out_error"]) >= {"gaussian", "neighbours"}
    assert list(answer["stays_missing"]) == ["name"]


def test_decimal_commas_delimiters_percent_signs_and_dates_keep_their_notation(run, here):
    rows = gapped_text("german", ";", "latin-1")
    path = write_text(here / "german.csv", rows, ";", "latin-1")
    done = run("impute", path, "--out", "out.csv", *QUICK)
    assert done.code == 0, done.err
    found = text_rows(here / "out.csv", ";")
    assert found[0] == rows[0]
    patterns = {
        "Größe": r"\d+,\d", "Umsatz": r"(\d{1,3}\.)*\d+,\d\d", "Anteil": r"\d+,\d %", "Anzahl": r"\d+",
        "Kauf": r"\d\d\.\d\d\.\d{4}", "Stadt": r"Köln|München|Überlingen", "Stammkunde": "ja|nein",
    }  # fmt: skip
    for name, pattern in patterns.items():
        j = rows[0].index(name)
        column = pd.Series([row[j] for row in found[1:]])
        assert column.str.fullmatch(pattern).all(), name
        assert all(new[j] == old[j] for old, new in zip(rows[1:], found[1:], strict=True) if old[j])


def test_marks_of_missing_numbers_are_filled_and_codes_with_zeros_stay(run, here):
    shutil.copy(FILES / "accounts.csv", here / "accounts.csv")
    assert run("impute", "accounts.csv", "--out", "out.csv", *QUICK).code == 0
    before, after = (pd.read_csv(here / name, dtype=str) for name in ("accounts.csv", "out.csv"))
    assert before["staff"].eq("?").any()
    assert after["staff"].str.fullmatch(r"\d+").all()
    pd.testing.assert_series_equal(after["zip"], before["zip"])
    assert before["zip"].str.startswith("0").any()


def test_draws_are_tables_below_each_other(run, here, gapped):
    done = run("impute", gapped, "--out", "draws.csv", "--draws", 3, "--seed", 5, *QUICK)
    assert done.code == 0, done.err
    assert "The file has 3 tables, one below the other; the column draw numbers them." in done.out
    found = pd.read_csv(here / "draws.csv", dtype=str)
    assert found["draw"].tolist() == ["1"] * 60 + ["2"] * 60 + ["3"] * 60
    parts = [part.drop(columns="draw").reset_index(drop=True) for _, part in found.groupby("draw")]
    original = pd.read_csv(gapped, dtype=str)
    gone = original["length"].isna()
    assert (parts[0]["length"] == parts[1]["length"])[~gone].all()
    assert (parts[0]["length"] != parts[1]["length"])[gone].any()
    assert run("impute", gapped, "--out", "again.csv", "--draws", 3, "--seed", 5, *QUICK).code == 0
    assert (here / "again.csv").read_bytes() == (here / "draws.csv").read_bytes()
    assert run("impute", gapped, "--out", "other.csv", "--draws", 3, "--seed", 6, *QUICK).code == 0
    assert (here / "other.csv").read_bytes() != (here / "draws.csv").read_bytes()


def test_intervals_stand_behind_their_columns_where_entries_were_missing(run, here, gapped):
    done = run("impute", gapped, "--out", "out.csv", "--interval", 0.9, *QUICK)
    assert done.code == 0, done.err
    found, original = pd.read_csv(here / "out.csv"), pd.read_csv(gapped)
    columns = list(found)
    assert columns[columns.index("length") + 1 : columns.index("length") + 3] == ["length_low", "length_high"]
    assert columns[columns.index("kind") + 1] == "kind_probability"
    assert not any(name.startswith("width_") for name in columns)
    gone = original["length"].isna()
    assert found["length_low"].notna().equals(gone)
    assert (found["length_low"] <= found["length"])[gone].all()
    assert (found["length"] <= found["length_high"])[gone].all()
    assert found["kind_probability"].notna().equals(original["kind"].isna())
    assert found["kind_probability"].dropna().between(0.2, 1).all()


def test_an_imputer_that_was_saved_fills_new_rows(run, here, gapped):
    done = run("impute", gapped, "--out", "filled.csv", "--save", "imputer.sidelight", *QUICK)
    assert done.code == 0, done.err
    assert "wrote filled.csv and imputer.sidelight" in done.out
    assert isinstance(sidelight.load(here / "imputer.sidelight"), sidelight.Imputer)
    again = run("impute", gapped, "--out", "again.csv", "--model", "imputer.sidelight")
    assert again.code == 0, again.err
    assert (here / "again.csv").read_bytes() == (here / "filled.csv").read_bytes()
    new = pd.read_csv(gapped, dtype=str).head(5)[::-1]
    new = new[[*reversed(new.columns)]].drop(columns="name").assign(remark="new")
    new.to_csv(here / "new.csv", index=False)
    done = run("impute", "new.csv", "--out", "new-filled.csv", "--model", "imputer.sidelight")
    assert done.code == 0, done.err
    assert "remark: not known to the imputer, left as it is." in done.out
    found = pd.read_csv(here / "new-filled.csv", dtype=str)
    assert list(found) == list(new)
    assert found.notna().all(axis=None)
    wanted = pd.read_csv(here / "filled.csv", dtype=str).head(5)[::-1].reset_index(drop=True)
    pd.testing.assert_series_equal(found["length"], wanted["length"])
    new.drop(columns="width").to_csv(here / "narrow.csv", index=False)
    refused = run("impute", "narrow.csv", "--out", "x.csv", "--model", "imputer.sidelight")
    assert "narrow.csv lacks the column width, which the imputer was fitted on" in refused.err


@pytest.mark.parametrize("ending", ["tsv", "csv.gz", "parquet", "feather", "arrow", "jsonl"])
def test_every_format_is_written(run, here, gapped, ending):
    done = run("impute", gapped, "--out", f"out.{ending}", *QUICK)
    assert done.code == 0, done.err
    from sidelight.cli._read import read_frame

    found = read_frame(here / f"out.{ending}")
    assert list(found) == list(pd.read_csv(gapped))
    assert found.drop(columns="name").notna().all(axis=None)


def test_other_formats_are_read(run, here, gapped):
    frame = pd.read_csv(gapped)
    frame.to_parquet(here / "a.parquet")
    frame.to_json(here / "a.jsonl", orient="records", lines=True)
    with sqlite3.connect(here / "a.sqlite") as base:
        frame.to_sql("flowers", base, index=False)
    base.close()
    for name, more in (("a.parquet", ()), ("a.jsonl", ()), ("a.sqlite", ("--query", "select * from flowers"))):
        done = run("impute", name, "--out", "out.csv", "--force", *more, *QUICK)
        assert done.code == 0, done.err
        assert pd.read_csv(here / "out.csv").drop(columns="name").notna().all(axis=None)


def test_arrays_are_filled_and_written_as_arrays(run, here):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 1)) + 0.3 * rng.normal(size=(50, 4))
    G = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    np.save(here / "a.npy", G)
    assert run("impute", "a.npy", "--out", "out.npy", *QUICK).code == 0
    found = np.load(here / "out.npy")
    np.testing.assert_array_equal(found[~np.isnan(G)], G[~np.isnan(G)])
    np.testing.assert_array_equal(found, sidelight.Imputer("gaussian", random_state=0).fit_transform(G))
    assert run("impute", "a.npy", "--out", "draws.npy", "--draws", 2, *QUICK).code == 0
    assert np.load(here / "draws.npy").shape == (2, 50, 4)
    done = run("impute", "a.npy", "--out", "out.csv", "--interval", "0.8", *QUICK)
    assert done.code == 0, done.err
    assert {"x0", "x0_low", "x0_high"} <= set(pd.read_csv(here / "out.csv"))


@pytest.mark.thorough
def test_standard_input_is_read(here, gapped):
    import subprocess

    command = [sys.executable, "-m", "sidelight.cli", "impute", "-", "--out", "out.csv", *QUICK]
    done = subprocess.run(command, input=gapped.read_bytes(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert text_rows(here / "out.csv")[0] == text_rows(gapped)[0]


def test_a_table_without_gaps_is_written_as_it_is(run, here, table):
    done = run("impute", table, "--out", "same.csv", *QUICK)
    assert "There is no missing entry that can be filled." in done.out
    assert (here / "same.csv").read_bytes() == table.read_bytes()


def test_kinds_and_columns_left_as_they_are(run, here, gapped):
    done = run("impute", gapped, "--out", "out.csv", "--kind", "petals=category", "--drop", "length", *QUICK)
    assert done.code == 0, done.err
    found, original = pd.read_csv(here / "out.csv"), pd.read_csv(gapped)
    pd.testing.assert_series_equal(found["length"], original["length"])
    assert set(found["petals"]) == set(original["petals"].dropna())
    assert "length: " in done.out
    assert "still missing (left out as you asked)" in done.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--out", "out.xlsx"), "spreadsheets are not written"),
        (("--out", "gapped.csv"), "gapped.csv: exists already; use --force"),
        (("--out", "gapped.csv/out.csv"), "gapped.csv is a file; choose another --out"),
        (("--out", "out.npy"), "an array holds numbers, and name is none; end the name with .csv"),
        (("--out", "o.csv", "--draws", "2", "--interval", "0.9"), "leave --draws or --interval out"),
        (("--out", "o.csv", "--method", "gaussia"), "no such model of entries; choose from auto, gaussian"),
        (("--out", "o.csv", "--interval", "90"), "give a share between 0 and 1, for example 0.9"),
        (("--out", "o.csv", "--kind", "lengthx=number"), "has no such column; did you mean length?"),
        (("--out", "o.csv", "--drop", "kin"), "--drop kin: gapped.csv has no such column; did you mean kind?"),
        (("--out", "o.csv", "--model", "m", "--kind", "kind=text"), "--kind: the model of --model says it"),
        (("--out", "o.csv", "--model", "there-is-none"), "there-is-none"),
        (("--out", "o.csv", "--save", "gapped.csv"), "gapped.csv: exists already"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_is_refused_before_the_fit(run, here, gapped, options, said, monkeypatch):
    def no_fit(*_):
        raise AssertionError("it was fitted")

    monkeypatch.setattr("sidelight.cli._impute._fitted", no_fit)
    done = run("impute", gapped, *options)
    assert done.code == 1
    assert said in done.err
    assert done.err.count("\n") == 1


def test_files_of_other_models_are_told_apart(run, here, gapped, fitted):
    done = run("impute", gapped, "--out", "o.csv", "--model", fitted / "model.sidelight")
    assert "holds a Pipeline and no Imputer; make one with sidelight impute --save FILE" in done.err
    assert run("impute", gapped, "--out", "o.csv", "--save", "i.sidelight", *QUICK).code == 0
    done = run("transform", "i.sidelight", gapped, "--out", "z.csv")
    assert "i.sidelight: is an imputer and has no map; use it with sidelight impute DATA --model" in done.err


def test_a_column_that_cannot_be_read_is_named(run, here):
    (here / "a.csv").write_text("x,draw\n1,2\n,3\n2,5\n")
    assert (
        "--draws: a.csv has a column draw already; rename it"
        in run("impute", "a.csv", "--out", "o.csv", "--draws", 2).err
    )
    (here / "b.csv").write_text("x,x_low\n1,2\n,3\n2,5\n")
    assert (
        "--interval: b.csv has a column x_low already"
        in run("impute", "b.csv", "--out", "o.csv", "--interval", 0.9).err
    )


def test_without_gaps_no_models_are_compared(run, here):
    pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)), columns=list("abc")).to_csv(here / "t.csv", index=False)
    told = run("impute", "t.csv", "--out", "f.csv", "--json").answer
    assert (told["filled"], told["method"]) == ({}, "gaussian")
    assert list(told["held_out_error"]) == ["gaussian"]
    kept = run("impute", "t.csv", "--out", "g.csv", "--save", "i.sidelight", "--json").answer
    assert len(kept["held_out_error"]) > 1  # new rows may have gaps


def test_the_error_of_each_column_is_said(run, here):
    rng = np.random.default_rng(0)
    known = rng.normal(size=200)
    frame = pd.DataFrame(
        {"known": known, "follows": 3 * known + 0.1 * rng.normal(size=200), "noise": rng.normal(size=200)}
    )
    gone = rng.random((200, 2)) < 0.2
    frame[["follows", "noise"]] = frame[["follows", "noise"]].mask(gone)
    frame.to_csv("rows.csv", index=False)
    done = run(
        "impute", "rows.csv", "--method", "gaussian", "--out", "filled.csv", "--save", "fill.sidelight", "--json"
    )
    errors = done.answer["column_errors"]
    assert list(errors) == ["follows", "noise"]
    assert errors["follows"] < 0.15 < 0.7 < errors["noise"]
    both = done.answer["held_out_error"]["gaussian"]
    assert errors["follows"] < both < errors["noise"]
    again = run("impute", "rows.csv", "--model", "fill.sidelight", "--out", "again.csv")
    assert f"follows: {gone[:, 0].sum()} of 200, error {errors['follows']:.2f}" in again.out


def test_words_among_numbers_that_are_filled_are_named_and_bounds_stay_as_they_are(run, here):
    rng = np.random.default_rng(0)
    a = rng.normal(5, 1, 60).round(1)
    written = a.astype(str).astype(object)
    written[3], written[7] = "<4.0", "haemolysed"
    pd.DataFrame({"a": written, "b": 2 * a}).to_csv("lab.csv", index=False)
    done = run("impute", "lab.csv", "--method", "gaussian", "--out", "filled.csv")
    assert done.code == 0, done.err
    assert "a: 'haemolysed' read as missing, and filled." in done.out
    filled = pd.read_csv("filled.csv", dtype=str)["a"].tolist()
    assert filled[3] == "<4.0"
    assert float(filled[7]) == pytest.approx(a[7], abs=0.11)
