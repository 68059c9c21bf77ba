"""Packed files, Parquet, Arrow, JSON, spreadsheets and standard input become the same table, or one sentence."""

import bz2
import gzip
import io
import json
import lzma
import sys
import zipfile
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pytest
import zstandard

from sidelight.cli._output import CommandError
from sidelight.cli._read import Reading, read_frame, read_table

CSV = b"name,size\nrose,1.5\nlily,2.5\n"
FRAME = pd.DataFrame({"name": ["rose", "lily"], "size": [1.5, 2.5]})


def zipped(*names, content):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, content)
    return buffer.getvalue()


def arrow(frame, stream=False):
    sink = io.BytesIO()
    table = pa.Table.from_pandas(frame)
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def parquet(frame):
    return frame.to_parquet()


PACKED = {
    "gz": gzip.compress(CSV),
    "bz2": bz2.compress(CSV),
    "xz": lzma.compress(CSV),
    "zst": zstandard.compress(CSV),
    "zip": zipped("table.csv", "__MACOSX/._table.csv", content=CSV),
}


def same(found):
    pd.testing.assert_frame_equal(found.reset_index(drop=True), FRAME, check_dtype=False)


@pytest.mark.parametrize("packing", PACKED)
@pytest.mark.parametrize("name", ["a.csv.{}", "a.{}", "packed"])
def test_packed_tables_are_unpacked_whatever_their_name(packing, name, here):
    path = here / name.format(packing)
    path.write_bytes(PACKED[packing])
    same(read_frame(path))


@pytest.mark.parametrize("packing", ["gz", "bz2", "xz", "zst", "zip"])
def test_a_packed_file_that_was_cut_says_so(packing, here):
    (here / f"a.csv.{packing}").write_bytes(PACKED[packing][:-12])
    with pytest.raises(CommandError, match=r"copy or download it again|cannot be unpacked"):
        read_frame(here / f"a.csv.{packing}")


def test_a_name_that_promises_a_compression_is_checked(here):
    (here / "a.csv.gz").write_bytes(CSV)
    with pytest.raises(CommandError, match=r"a\.csv\.gz: cannot be unpacked as gz"):
        read_frame(here / "a.csv.gz")


def test_archives_of_several_files_are_listed(here):
    (here / "a.zip").write_bytes(zipped("a.csv", "b.csv", content=CSV))
    with pytest.raises(CommandError, match=r"needs one file in the archive and has a\.csv, b\.csv; unpack it"):
        read_frame(here / "a.zip")
    (here / "a.tar.gz").write_bytes(gzip.compress(b"\0" * 1024))
    with pytest.raises(CommandError, match="is an archive of files; unpack it and give one of them"):
        read_frame(here / "a.tar.gz")


def test_a_zip_file_of_an_unknown_compression_says_so(here):
    strange = bytearray(zipped("a.csv", content=CSV))
    for place in (8, strange.index(b"PK\x01\x02") + 10):  # the method, in the local header and in the directory
        strange[place] = 99
    (here / "a.zip").write_bytes(strange)
    with pytest.raises(CommandError, match="is packed in a way that is not known here"):
        read_frame(here / "a.zip")


def test_a_zip_file_with_a_password_says_so(here):
    locked = bytearray(zipped("a.csv", content=CSV))
    locked[6] |= 1  # the flag of encryption in the local header, and in the central directory
    locked[locked.index(b"PK\x01\x02") + 8] |= 1
    (here / "a.zip").write_bytes(locked)
    with pytest.raises(CommandError, match="is protected by a password; unpack it first"):
        read_frame(here / "a.zip")


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.parquet", parquet(FRAME), "Parquet"),
        ("a.feather", arrow(FRAME), "Arrow file (Feather)"),
        ("a.arrow", arrow(FRAME, stream=True), "Arrow stream"),
        ("a.jsonl", b'{"name": "rose", "size": 1.5}\n\n{"name": "lily", "size": 2.5}\n', "JSON lines"),
        ("a.json", b'[{"name": "rose", "size": 1.5}, {"name": "lily", "size": 2.5}]', "JSON records"),
        ("a.json", b'{"name": ["rose", "lily"], "size": [1.5, 2.5]}', "JSON records"),
        ("a.json", b'{"n": 2, "data": [{"name": "rose", "size": 1.5}, {"name": "lily", "size": 2.5}]}', "JSON records"),
        ("a.csv", parquet(FRAME), "Parquet"),
        ("no_ending", CSV, "CSV separated by commas, UTF-8"),
    ],
)  # fmt: skip
def test_tables_of_every_format_are_the_same(name, content, kind, here):
    (here / name).write_bytes(content)
    found = read_table(here / name)
    same(found.frame)
    assert found.kind == kind


@pytest.mark.parametrize(
    "content", [CSV, gzip.compress(CSV), parquet(FRAME), arrow(FRAME), arrow(FRAME, stream=True),
                b'{"name": "rose", "size": 1.5}\n{"name": "lily", "size": 2.5}\n'],
    ids=["csv", "gz", "parquet", "arrow file", "arrow stream", "json lines"],
)  # fmt: skip
def test_standard_input_is_read_and_its_format_guessed(content, here, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    same(read_frame(Path("-")))


def test_empty_standard_input_and_strange_content_say_so(here, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(CommandError, match="standard input is empty; pipe a table into it"):
        read_frame(Path("-"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\x01\0\x02\0\0\0")))
    with pytest.raises(CommandError, match="standard input: unknown kind of file"):
        read_frame(Path("-"))


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.jsonl", b'{"a": 1}\n{"a": 2\n', "line 2 is no JSON object"),
        ("a.jsonl", b'1\n2\n', "it needs one object for each row"),
        ("a.json", b'{"a": 1}', "it needs a list of objects, one for each row"),
        ("a.json", b"\xff\xff", "not a readable JSON file"),
        ("a.json", b"[]", "it needs one object for each row"),
        ("a.feather", b"nothing of the kind", "not a readable FEATHER file"),
        ("a.feather", b"FEA1 and more", "Feather of version 1, which is no longer read; write it again as version 2"),
        ("a.arrow", arrow(FRAME)[:200], "not a readable ARROW file"),
        ("a.parquet", parquet(FRAME)[:200], "not a readable PARQUET file"),
        ("a.xlsx", b"nothing of the kind", "not a readable XLSX file"),
        ("a.ods", zipped("b.txt", content=b"x"), "not a readable ODS file"),
    ],
)  # fmt: skip
def test_unreadable_tables_get_one_sentence(name, content, sentence, here):
    (here / name).write_bytes(content)
    with pytest.raises(CommandError, match=sentence):
        read_frame(here / name)


def test_json_keeps_codes_as_text_and_flattens_objects(here):
    rows = [{"code": "007", "at": {"x": 1, "y": 0.1}}, {"code": "8", "at": {"x": 2}, "more": True}]
    (here / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = read_frame(here / "a.jsonl")
    assert list(found.columns) == ["code", "at.x", "at.y", "more"]
    assert found["code"].tolist() == ["007", "8"]
    assert np.isnan(found["at.y"][1])


def test_lists_of_numbers_become_columns_and_other_lists_text(here):
    rows = [{"v": [1, 2.5], "tags": ["a", "b"]}, {"v": None, "tags": ["c"]}, {"v": [3, 4], "tags": []}]
    (here / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    pd.DataFrame(rows).to_parquet(here / "a.parquet")
    for name in ("a.jsonl", "a.parquet"):
        found = read_table(here / name)
        assert list(found.frame.columns) == ["v_1", "v_2", "tags"]
        assert found.frame["v_2"].tolist()[::2] == [2.5, 4]
        assert np.isnan(found.frame["v_1"][1])
        assert found.frame["tags"].tolist() == ['["a", "b"]', '["c"]', "[]"]
        assert found.remarks == (
            "v holds lists of 2 numbers; they become the columns v_1 to v_2.",
            "tags holds lists or objects, which are taken as text.",
        )


def test_decimals_are_numbers_and_binary_data_is_left_out(here):
    frame = pd.DataFrame({"price": [Decimal("1.5"), None], "photo": [b"\0", b"\1"], "x": [1, 2]})
    frame.to_parquet(here / "a.parquet")
    found = read_table(here / "a.parquet")
    assert found.frame["price"].tolist()[0] == 1.5
    assert found.frame["price"].dtype == float
    assert list(found.frame.columns) == ["price", "x"]
    assert found.remarks == ("photo holds binary data and is left out.",)


def test_names_of_rows_in_the_index_are_not_lost(here):
    FRAME.set_index("name").to_parquet(here / "a.parquet")
    assert read_frame(here / "a.parquet")["name"].tolist() == ["rose", "lily"]
    FRAME.iloc[::-1].to_parquet(here / "b.parquet")
    assert list(read_frame(here / "b.parquet").columns) == ["name", "size"]


def test_a_folder_of_parquet_files_is_one_table(here):
    (here / "many.parquet").mkdir()
    for part in range(2):
        FRAME.iloc[[part]].to_parquet(here / "many.parquet" / f"{part}.parquet")
    same(read_frame(here / "many.parquet"))


@pytest.fixture
def book(here):
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter(here / "book.xlsx", engine="openpyxl") as writer:
        FRAME.assign(code=["007", "8"], day=pd.to_datetime(["2026-01-01", "2026-01-02"])).to_excel(
            writer, sheet_name="flowers", index=False
        )
        pd.DataFrame({"Trees of 2026": [None, "kind", "oak", "elm"], "b": [None, "height", 3, 4]}).to_excel(
            writer, sheet_name="trees", index=False, header=["Trees of 2026", None]
        )
        pd.DataFrame().to_excel(writer, sheet_name="empty")
        pd.DataFrame([[1, 2.5], [3, 4]]).to_excel(writer, sheet_name="plain", index=False, header=False)
    return here / "book.xlsx"


def test_a_sheet_keeps_text_numbers_and_dates(book):
    found = read_table(book)
    same(found.frame[["name", "size"]])
    assert found.frame["code"].tolist() == ["007", "8"]
    assert pd.api.types.is_datetime64_any_dtype(found.frame["day"])
    assert found.kind == "sheet flowers of a spreadsheet (xlsx)"
    assert found.remarks == ("The sheet flowers is read; --sheet takes another: trees, plain.",)


def test_a_sheet_is_chosen_by_name_or_number(book):
    for sheet in ("trees", "2"):
        found = read_table(book, Reading(sheet=sheet))
        assert found.frame["kind"].tolist() == ["oak", "elm"]
        assert found.frame["height"].tolist() == [3, 4]
        assert found.remarks[1] == "1 row above the heading is left out."
    assert read_frame(book, Reading(sheet="plain")).columns.tolist() == ["x1", "x2"]


def test_sheets_that_are_not_there_or_empty_are_said(book, here, table):
    with pytest.raises(CommandError, match=r"--sheet tree: book\.xlsx has no such sheet; .*did you mean trees\?"):
        read_frame(book, Reading(sheet="tree"))
    with pytest.raises(CommandError, match="--sheet empty: the sheet is empty"):
        read_frame(book, Reading(sheet="empty"))
    with pytest.raises(CommandError, match=r"--sheet a: .*flowers\.csv is not a spreadsheet"):
        read_frame(table, Reading(sheet="a"))


def test_open_document_sheets_are_read(here):
    cells = "".join(
        "<table:table-row>"
        + "".join(
            f'<table:table-cell office:value-type="{"float" if isinstance(entry, float) else "string"}"'
            + (f' office:value="{entry}"' if isinstance(entry, float) else "")
            + f"><text:p>{entry}</text:p></table:table-cell>"
            for entry in row
        )
        + "</table:table-row>"
        for row in (("name", "size"), ("rose", 1.5), ("lily", 2.5))
    )
    spaces = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )
    content = (
        f"<office:document-content{spaces}><office:body><office:spreadsheet>"
        f'<table:table table:name="one">{cells}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    with zipfile.ZipFile(here / "a.ods", "w") as archive:
        archive.writestr("mimetype", kind)
        archive.writestr("content.xml", content)
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
    same(read_frame(here / "a.ods"))
