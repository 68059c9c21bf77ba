"""Tables and queries of SQLite and DuckDB files; nothing is ever written."""

import sqlite3
from contextlib import closing

import pandas as pd
import pytest

from sidelight.cli._output import CommandError
from sidelight.cli._read import Reading, read_frame, read_table


def fill(kind, path, statements):
    library = sqlite3 if kind == "sqlite" else pytest.importorskip("duckdb")
    with closing(library.connect(str(path))) as connection:
        for statement in statements:
            connection.execute(statement)
        if kind == "sqlite":
            connection.commit()
    return path


FLOWERS = ["CREATE TABLE flowers (name TEXT, size REAL)", "INSERT INTO flowers VALUES ('rose', 1.5), ('lily', NULL)"]
TREES = ['CREATE TABLE "old trees" (height INTEGER)', 'INSERT INTO "old trees" VALUES (3), (4)']


@pytest.fixture(params=["sqlite", "duckdb"])
def kind(request):
    return request.param


@pytest.fixture
def one(kind, here):
    return fill(kind, here / f"one.{kind}", FLOWERS)


@pytest.fixture
def two(kind, here):
    return fill(kind, here / f"two.{kind}", [*FLOWERS, *TREES])


def test_the_only_table_is_taken(one, kind):
    found = read_table(one)
    assert found.frame["name"].tolist() == ["rose", "lily"]
    assert found.frame["size"].isna().tolist() == [False, True]
    assert found.kind == f"table flowers of a {'SQLite' if kind == 'sqlite' else 'DuckDB'} database"


def test_several_tables_are_listed_with_a_query_that_works(two):
    with pytest.raises(CommandError, match=r"has 2 tables \(flowers, old trees\); choose with --query 'SELECT \* FROM"):
        read_frame(two)
    assert read_frame(two, Reading(query='SELECT * FROM "old trees"'))["height"].tolist() == [3, 4]


def test_a_query_joins_and_counts(two):
    found = read_frame(two, Reading(query="SELECT count(*) AS n, max(size) AS s, max(size) AS s FROM flowers"))
    assert found.columns[0] == "n"
    assert len(set(found.columns)) == 3
    assert found["n"].tolist() == [2]


@pytest.mark.parametrize(
    "query",
    ["DELETE FROM flowers", "INSERT INTO flowers VALUES ('x', 1)", "DROP TABLE flowers", "CREATE TABLE b (x INTEGER)",
     "ATTACH 'other.db' AS other"],
)  # fmt: skip
def test_a_query_cannot_write(one, query, here):
    before = one.read_bytes()
    with pytest.raises(CommandError, match="--query: only reading is possible; write one SELECT"):
        read_frame(one, Reading(query=query))
    assert one.read_bytes() == before
    assert not (here / "other.db").exists()


def test_two_statements_are_refused(one):
    with pytest.raises(CommandError, match=r"--query: .*one"):
        read_frame(one, Reading(query="SELECT 1; SELECT 2"))


def test_a_duckdb_query_cannot_reach_other_files(here):
    path = fill("duckdb", here / "one.duckdb", FLOWERS)
    with pytest.raises(CommandError, match="--query: "):
        read_frame(path, Reading(query=f"SELECT * FROM read_text('{path}')"))


def test_a_table_that_is_not_there_is_answered_with_a_similar_one(two):
    with pytest.raises(CommandError, match=r"--query: there is no table flower; .*did you mean flowers\?"):
        read_frame(two, Reading(query="SELECT * FROM flower"))


def test_a_mistake_in_a_query_is_passed_on_in_one_line(two):
    with pytest.raises(CommandError, match=r"--query: .*SELEC") as caught:
        read_frame(two, Reading(query="SELEC * FROM flowers"))
    assert "\n" not in str(caught.value)


def test_empty_databases_and_results_say_so(kind, here):
    empty = fill(kind, here / f"empty.{kind}", ["CREATE TABLE a (x INTEGER)", "DROP TABLE a"])
    with pytest.raises(CommandError, match="the database has no tables"):
        read_frame(empty)
    with pytest.raises(CommandError, match="the table has no rows"):
        read_frame(empty, Reading(query="SELECT 1 AS a WHERE 1 = 0"))


def test_a_file_that_is_no_database_says_so(kind, here):
    if kind == "duckdb":
        pytest.importorskip("duckdb")
    (here / f"a.{kind}").write_bytes(b"SQLite format 3\0 and nothing more" if kind == "sqlite" else b"x" * 100)
    with pytest.raises(CommandError, match=r"a\.\w+: not a readable"):
        read_frame(here / f"a.{kind}")


def test_the_content_says_which_database_it_is(here):
    path = fill("duckdb", here / "a.db", FLOWERS)
    assert read_table(path).kind == "table flowers of a DuckDB database"


def test_a_query_of_another_file_is_refused(table):
    with pytest.raises(CommandError, match=r"--query: .*flowers\.csv is not a SQLite or DuckDB file"):
        read_frame(table, Reading(query="SELECT 1"))


def test_binary_columns_of_a_database_are_left_out(here):
    path = fill("sqlite", here / "a.db", ["CREATE TABLE a (x INTEGER, b BLOB)", "INSERT INTO a VALUES (1, x'00')"])
    assert read_table(path).remarks == ("b holds binary data and is left out.",)
    pd.testing.assert_frame_equal(read_frame(path), pd.DataFrame({"x": [1]}))
