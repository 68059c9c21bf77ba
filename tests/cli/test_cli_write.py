"""Results in every format, and an --out that cannot be is refused before the work."""

import gzip
import json
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sidelight.cli._embed as embedding
from sidelight.cli._output import CommandError
from sidelight.cli._read import read_frame
from sidelight.cli._write import check_format, check_free, write_frame

FRAME = pd.DataFrame(
    {
        "row": [0, 1],
        "z1": [0.1, 1 / 3],
        "name": ["größe", None],
        "day": pd.to_datetime(["2026-01-01", "2026-01-02"]),
        "mixed": ["a", 1],
    }
)


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "tsv.gz", "parquet", "feather", "arrow", "jsonl"])
def test_a_table_that_was_written_is_read_again_with_every_digit(ending, here):
    path = here / "folder" / f"a.{ending}"
    write_frame(FRAME, path, np.eye(2))
    found = read_frame(path)
    assert list(found.columns) == list(FRAME.columns)
    assert found["row"].tolist() == [0, 1]
    assert found["z1"].tolist() == FRAME["z1"].tolist()
    assert found["name"].isna().tolist() == [False, True]
    assert found["name"][0] == "größe"
    assert [str(day)[:10] for day in found["day"]] == ["2026-01-01", "2026-01-02"]
    assert [str(entry) for entry in found["mixed"]] == ["a", "1"]
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_packed_tables_have_the_same_bytes_at_every_run(here, monkeypatch):
    written = []
    for second in (1e9, 2e9):
        monkeypatch.setattr("time.time", lambda second=second: second)
        write_frame(FRAME, here / "a.csv.gz", np.eye(2))
        written.append((here / "a.csv.gz").read_bytes())
    assert written[0] == written[1]
    assert gzip.decompress(written[0]).startswith(b"row,z1")


def test_missing_entries_are_null_in_json_lines(here):
    write_frame(pd.DataFrame({"a": [1.5, np.nan], "b": [np.int64(3), None]}), here / "a.jsonl", np.eye(2))
    assert [json.loads(line) for line in (here / "a.jsonl").read_text().splitlines()] == [
        {"a": 1.5, "b": 3},
        {"a": None, "b": None},
    ]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("a.xlsx", r"--out .*a\.xlsx: spreadsheets are not written; end the name with \.csv, which they open"),
        ("a.ods", "spreadsheets are not written"),
        ("a.parqet", r"end the name with one of .*; did you mean \.parquet\?"),
        ("a.gz", "end the name with one of"),
        ("a.doc.gz", "end the name with one of"),
        ("a", "end the name with one of"),
    ],
)
def test_formats_that_are_not_written_get_a_way_out(name, sentence, here):
    with pytest.raises(CommandError, match=sentence):
        check_format(here / name)


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_embed_writes_the_format_that_was_asked_for(ending, table, run, here):
    done = run("embed", table, "--out", "out", "--method", "pca", "--no-report", "--format", ending, "--json")
    assert done.code == 0, done.err
    assert done.answer["embedding"] == f"out/embedding.{ending}"
    assert sorted(os.listdir("out")) == [f"embedding.{ending}", "model.sidelight"]
    assert read_frame(here / "out" / f"embedding.{ending}").columns.tolist()[:4] == ["row", "z1", "z2", "kind"]


@pytest.mark.parametrize("ending", ["feather", "jsonl", "csv.gz"])
def test_places_written_by_transform_go_back_by_invert(ending, fitted, table, run, here):
    assert run("transform", fitted / "model.sidelight", table, "--out", f"z.{ending}").code == 0
    done = run("invert", fitted / "model.sidelight", f"z.{ending}", "--out", f"rows.{ending}")
    assert done.code == 0, done.err
    assert len(read_frame(here / f"rows.{ending}")) == 60


def test_an_out_below_a_file_fails_before_the_data_is_read(table, run, here, monkeypatch):
    monkeypatch.setattr(embedding, "read", lambda *_: pytest.fail("the data was read"))
    (here / "taken").write_text("a file")
    done = run("embed", table, "--out", "taken/out")
    assert done.code == 1
    assert "taken/out/embedding.csv: cannot be written, because" in done.err
    assert f"{here / 'taken'} is a file; choose another --out" in done.err


def test_a_folder_that_cannot_be_written_to_fails_before_the_data_is_read(table, run, here, monkeypatch):
    def refuse(**_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(embedding, "read", lambda *_: pytest.fail("the data was read"))
    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    done = run("embed", table, "--out", "deep/er")
    assert done.code == 1
    assert f"the folder {here} cannot be written to (Permission denied); choose another --out" in done.err
    assert not (here / "deep").exists()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is Linux's")
def test_a_place_where_nothing_can_be_made_is_refused_though_nobody_forbids_it(here):
    with pytest.raises(CommandError, match="the folder /proc cannot be written to"):
        check_free([Path("/proc/sidelight/a.csv")], force=False)


def test_looking_at_a_place_leaves_nothing_there(here):
    check_free([here / "new" / "a.csv"], force=False)
    assert os.listdir(here) == []
