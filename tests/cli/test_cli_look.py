"""``sidelight look`` says what a file is, what its columns are, and what embed would do."""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from rich.console import Console
from typer.testing import CliRunner

from sidelight.cli._app import app
from sidelight.cli._columns import ColumnRoles
from sidelight.cli._look import look
from sidelight.cli._output import Output
from sidelight.cli._read import Reading


@pytest.fixture
def mixed(here):
    n = 40
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "rownames": np.arange(10, 10 + n),
            "wage": [f"{value:,.2f}" for value in rng.uniform(900, 5000, n)],
            "age": rng.integers(18, 90, n).astype(float),
            "trade": rng.choice(["miller", "smith"], n),
            "one": 1,
            "gap": np.nan,
        }
    )
    frame.loc[3, "age"] = np.nan
    frame.to_csv(here / "mixed.csv", index=False)
    return here / "mixed.csv"


def columns(answer):
    return {column["name"]: column for column in answer["columns"]}


def test_each_column_is_explained_with_examples_and_the_option_that_changes_it(mixed, run):
    done = run("look", mixed, "--json")
    assert done.code == 0, done.err
    found = columns(done.answer)
    assert {name: column["kind"] for name, column in found.items()} == {
        "rownames": "identifier", "wage": "number", "age": "number", "trade": "category", "one": "constant",
        "gap": "empty",
    }  # fmt: skip
    assert [name for name, column in found.items() if column["used"]] == ["wage", "age", "trade"]
    assert found["age"]["missing"] == 1
    assert sorted(found["trade"]["examples"]) == ["miller", "smith"]
    assert len(found["wage"]["examples"]) == 3
    assert "thousands comma" in found["wage"]["reason"]
    assert found["rownames"]["option"] == "--kind rownames=number"
    assert found["trade"]["option"] == "--drop trade"
    assert found["gap"]["option"] == ""


def test_the_answer_says_what_embed_would_do(mixed, run):
    answer = run("look", mixed, "--json").answer
    assert answer["kind"] == "CSV separated by commas, UTF-8"
    assert (answer["rows"], answer["n_columns"]) == (40, 6)
    assert answer["would"] == [
        "embed would embed 40 rows by 3 of 6 columns (2 numbers, 1 category).",
        "1 entry is missing (in age); --missing says what to do with it.",
        "--label rownames would name the rows.",
    ]


def test_people_read_the_same_in_two_tables(mixed, run):
    done = run("look", mixed)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0] == f"{mixed}: CSV separated by commas, UTF-8; 40 rows, 6 columns"
    assert "Embedded: 3 columns" in lines
    assert "Left out: 3 columns" in lines
    assert "embed would embed 40 rows by 3 of 6 columns (2 numbers, 1 category)." in lines


def test_kind_and_drop_show_what_they_would_change(mixed, run):
    found = columns(run("look", mixed, "--kind", "rownames=number", "--drop", "wage", "--json").answer)
    assert found["rownames"]["kind"] == "number"
    assert found["rownames"]["used"]
    assert not found["wage"]["used"]
    assert found["wage"]["option"] == "without --drop wage"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--kind", "wage"], "--kind wage: write it as COLUMN=KIND, for example --kind zip=category"),
        (["--kind", "wage=nummer"], "--kind wage=nummer: no such kind; choose from number, category"),
        (["--kind", "wage=nummer"], "did you mean number?"),
        (["--kind", "wge=number"], "--kind wge=number: mixed.csv has no such column; did you mean wage?"),
        (["--drop", "wge"], "--drop wge: mixed.csv has no such column"),
    ],
)
def test_wrong_options_get_one_line(arguments, sentence, mixed, run):
    done = run("look", mixed, *arguments)
    assert done.code == 1
    assert sentence in done.err
    assert done.err.count("\n") == 1


def test_names_with_spaces_are_quoted_for_the_shell(run, here):
    pd.DataFrame({"body mass": np.linspace(0, 1, 30), "x": range(0, 60, 2)}).to_csv("a.csv", index=False)
    assert columns(run("look", "a.csv", "--json").answer)["body mass"]["option"] == "--drop 'body mass'"


def test_a_table_that_embed_would_refuse_says_so(run, here):
    pd.DataFrame({"id": range(20), "one": 1}).to_csv("a.csv", index=False)
    assert run("look", "a.csv", "--json").answer["would"] == [
        "embed would refuse: no column can be embedded; use --kind COLUMN=KIND to say what one is."
    ]


def test_wide_tables_are_shortened_for_people_and_whole_in_json(run, here):
    pd.DataFrame(np.random.default_rng(0).normal(size=(20, 100))).add_prefix("c").to_csv("a.csv", index=False)
    assert "... and 40 more; --json lists all" in run("look", "a.csv").out
    assert len(run("look", "a.csv", "--json").answer["columns"]) == 100


def test_arrays_and_pictures_are_described(run, here):
    np.savez("a.npz", data=np.array([[1.0, np.nan], [3.0, 4.0]]), kind=np.array(["a", "b"]))
    answer = run("look", "a.npz", "--json").answer
    assert answer["kind"] == "NumPy file"
    assert answer["would"] == [
        "embed would embed 2 rows of 2 numbers, as they are.",
        "1 entry is missing; --missing says what to do with it.",
    ]
    assert answer["colours"] == ["kind"]
    (here / "album").mkdir()
    Image.new("L", (3, 2)).save("album/a.png")
    done = run("look", "album")
    assert done.code == 0, done.err
    assert "album: folder of pictures; 1 row, 6 columns" in done.out


def test_standard_input_can_be_looked_at(mixed):
    done = CliRunner().invoke(app, ["look", "-"], input=mixed.read_bytes())
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("standard input: CSV separated by commas, UTF-8; 40 rows, 6 columns")


def test_a_table_can_be_piped_into_embed(table, here):
    options = ["--out", "out", "--method", "pca", "--no-report"]
    done = CliRunner().invoke(app, ["embed", "-", *options], input=table.read_bytes())
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("standard input: 60 rows")
    assert len(pd.read_csv("out/embedding.csv")) == 60


def test_control_characters_of_a_file_do_not_reach_the_terminal(run, here):
    pd.DataFrame({"a\x1b[31m": ["\x1b[31mred", "blue"] * 10, "x": np.linspace(0, 1, 20)}).to_csv("a.csv", index=False)
    done = run("look", "a.csv")
    assert done.code == 0, done.err
    assert "red" in done.out
    assert "\x1b" not in done.out


@pytest.fixture
def long_names(here):
    """A table whose columns, examples and options do not fit into 80 letters."""
    name = "the share of pupils whose parents have been to a university"
    words = ["a rather long answer", "an answer that is longer still", "no answer"]
    pd.DataFrame({name: np.arange(40) % 3 * 1.5, "free words": [words[k % 3] for k in range(40)]}).to_csv("long.csv")
    return name


def test_in_a_file_or_a_pipe_no_line_is_cut_or_wrapped(long_names, run):
    lines = run("look", "long.csv").out.splitlines()
    found = next(line for line in lines if line.startswith(long_names))
    assert found.rstrip().endswith(f"--kind '{long_names}=category'")
    assert "a rather long answer" in next(line for line in lines if line.startswith("free words"))


def test_on_a_narrow_terminal_options_stay_whole(long_names, here):
    talk = Output()
    talk.human = Console(file=io.StringIO(), force_terminal=True, no_color=True, width=60, soft_wrap=True)
    look(talk, here / "long.csv", Reading(ColumnRoles()), {})
    written = talk.human.file.getvalue()
    assert f"--kind '{long_names}=category'" in written
    assert "…" not in written
    assert talk.human.width == 60


def test_the_index_of_some_rows_that_pandas_wrote_is_left_out(run, here):
    rng = np.random.default_rng(0)
    index = rng.permutation(18_000)[:40]
    pd.DataFrame(rng.normal(size=(40, 3)), columns=list("abc"), index=index).to_csv("rows.csv")
    done = run("look", "rows.csv")
    assert "it has no name and numbers the rows" in done.out
    assert "--label 'Unnamed: 0' would name the rows." in done.out
    done = run("embed", "rows.csv", "--out", "out", "--no-report", "--set", "max_iter=5")
    assert "3 columns are embedded: 3 numbers (a, b, c)." in done.out
    assert pd.read_csv("out/embedding.csv")["Unnamed: 0"].tolist() == index.tolist()


def test_a_name_that_is_there_twice_is_said(run, here):
    Path("twice.csv").write_text("a,b,a\n" + "".join(f"{k},{k % 7},{k % 5}\n" for k in range(20)))
    assert "a is the name of several columns: the second is called a.1." in run("look", "twice.csv").out


def test_columns_beside_pictures_are_named(run, here):
    for k in range(6):
        place = Path("pictures") / "ab"[k % 2]
        place.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.full((4, 4), 30 * k, dtype=np.uint8)).save(place / f"{k}.png")
    told = " ".join(run("look", "pictures", "--recursive").out.split())
    assert "folder (2 values) is not embedded: it colours the map; --given folder factors it out." in told
