"""Numbers of the pages are those of the files that runs left, and every command that pages name exists."""

import json
import re
import tomllib
from functools import partial
from pathlib import Path

import pytest

from benchmarks import BENCHMARKS, page_numbers
from benchmarks.families import MODULES
from benchmarks.harness import Report
from benchmarks.large_maps import SECTIONS
from benchmarks.page_numbers import FILES, LINES, as_said, page_of, pages, value_of
from benchmarks.page_tables import markdown_table, rows_of_checks, tables_on, with_tables
from reproductions import REPRODUCTIONS

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "methods").glob("*.md")))
COMMAND = re.compile(r"python\s+-m\s+(benchmarks|reproductions)(?:\.(\w+))?((?:\s+[\w./-]+)*)")
WITHOUT_MEASUREMENTS = {"published.md", "getting_started.md"}  # numbers of equations, and of an argument


@pytest.mark.parametrize("page", sorted(str(page.relative_to(ROOT)) for page in pages()))
def test_numbers_of_a_page_are_those_of_the_files(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert pages()[ROOT / page] == text, "run python -m benchmarks.page_numbers"


def test_the_table_of_cells_is_that_of_the_file():
    page = ROOT / "docs" / "anndata.md"
    assert pages()[page] == page.read_text(encoding="utf-8"), "run python -m benchmarks.page_numbers"


def test_another_number_is_replaced_and_lines_stay_broken_where_they_were():
    line = "a million rows in {large_maps/growth.1000000.seconds|.0f} s"
    kept = json.loads((FILES / "large_maps.json").read_text(encoding="utf-8"))["growth"]["rows"]["1000000"]["seconds"]
    assert page_of("fast: a million\nrows in 1,999.5 s.", [line]) == f"fast: a million\nrows in {kept:.0f} s."


@pytest.mark.parametrize("text", ["two million rows", "a million rows in 1 s; a million rows in 2 s"])
def test_words_that_are_gone_or_there_twice_are_said(text):
    with pytest.raises(ValueError, match=r"has [02] places with the words"):
        page_of(text, ["a million rows in {large_maps/growth.1000000.seconds|.0f} s"])


def test_a_number_that_no_file_has_is_an_error():
    with pytest.raises(KeyError):
        value_of("large_maps", "mnist.PCA.seconds")
    with pytest.raises(ValueError, match="unpack"):
        value_of("usps_distance", "the error on Sundays")


@pytest.fixture
def kept(monkeypatch, tmp_path):
    """Files of a benchmark, `made`, and of the table of families."""
    report = Report()
    report.note("error", 0.25, rival=0.5, rival_name="PCA", ratio=2.0)
    report.note("seconds", 1.0, rival=2.0, rival_name="A", ratio=2.0)
    report.note("seconds", 1.0, rival=9.0, rival_name="B", ratio=9.0)
    report.keep(tmp_path / "made.json", name="made")
    rows = [
        {"task": "k-NN", "data": "iris", "measure": "error", "ours": 0.125, "rivals": {"LDA": 0.5}},
        {"task": "k-NN", "data": "wine", "measure": "error", "ours": 0.375, "rivals": {"LDA": 0.0}},
    ]
    families = {"families": [{"module": "family_made", "rows": rows}]}
    (tmp_path / "families.json").write_text(json.dumps(families))
    monkeypatch.setattr(page_numbers, "FILES", tmp_path)
    monkeypatch.setattr(page_numbers, "_SOURCES", {"made": partial(page_numbers._benchmark, "made")})


@pytest.mark.parametrize(
    ("source", "name", "value"),
    [
        ("made", "error", 0.25),
        ("made", "error @ PCA", 0.5),
        ("made", "error @ ratio", 2.0),
        ("made", "seconds @ B", 9.0),
        ("made", "seconds @ ratio to B", 9.0),
        ("made", "seconds @ B − error", 8.75),
        ("made", "seconds ÷ error", 4.0),
        ("family_made", "k-NN; iris; error", 0.125),
        ("family_made", "k-NN; iris; error @ LDA", 0.5),
        ("family_made", "k-NN; *; error", 0.25),
        ("family_made", "k-NN; *; error @ LDA", 0.25),
    ],
)
def test_numbers_of_a_kept_benchmark_and_of_the_table_of_families(kept, source, name, value):
    assert value_of(source, name) == value


@pytest.mark.parametrize("name", ["k-NN; glass; error", "k-NN; *; loss"])
def test_rows_that_the_table_of_families_does_not_have_are_said(kept, name):
    with pytest.raises(ValueError, match=f"family_made has 0 rows of '{re.escape(name)}'"):
        value_of("family_made", name)


def test_a_rival_of_a_reproduction_is_in_its_bar():
    what = "queries of C (2000): learned"
    assert value_of("usps_distance", f"{what} @ smoothed tangent distance") == 0.244
    assert value_of("canvas", "camera: PSNR of the field, against linear filter and the source's rest @ bar") == 23.1618
    with pytest.raises(ValueError, match="unpack"):
        value_of("usps_distance", f"{what} @ bar")  # it has two


@pytest.mark.parametrize("name", ["seconds @ ratio", "error @ LDA", "loss"])
def test_a_name_that_says_none_or_two_numbers_is_an_error(kept, name):
    with pytest.raises(ValueError, match="unpack"):
        value_of("made", name)


CHECKS = [
    {"what": "iris: error", "ours": 0.5, "rival_name": "A", "rival": 0.254},
    {"what": "iris: error", "ours": 0.5, "rival_name": "B", "rival": 0.251},
    {"what": "iris: hit", "ours": 0.9, "rival_name": "", "rival": None},
    {"what": "wine: error", "ours": 0.1, "rival_name": "B", "rival": 0.2},
]


@pytest.mark.parametrize(
    ("measure", "rows"),
    [
        ("error", {"iris": {"Sidelight": 0.5, "A": 0.254, "B": 0.251}, "wine": {"Sidelight": 0.1, "B": 0.2}}),
        ("hit", {"iris": {"Sidelight": 0.9}}),
        ("wine: *", {"error": {"Sidelight": 0.1, "B": 0.2}}),
    ],
)
def test_rows_of_a_table_are_the_checks_of_a_measure(measure, rows):
    assert rows_of_checks(CHECKS, measure) == rows


def test_a_table_of_a_measure_that_no_check_has_is_an_error():
    with pytest.raises(ValueError, match="no check is called 'loss'"):
        rows_of_checks(CHECKS, "loss")


def test_the_best_as_it_is_said_is_bold_and_a_missing_number_is_an_empty_cell():
    table = markdown_table(rows_of_checks(CHECKS, "error"), "{:.2f}".format, "least").splitlines()
    assert table[0] == "| | Sidelight | A | B |"
    assert table[2:] == ["| iris | 0.50 | **0.25** | **0.25** |", "| wine | **0.10** |  | 0.20 |"]
    assert "**" not in markdown_table(rows_of_checks(CHECKS, "error"), str, "none")


def test_rivals_that_differ_from_row_to_row_share_a_column():
    rows = {"iris": {"Sidelight": 0.1, "A": 0.2}, "wine": {"Sidelight": 0.3, "B": 0.2}}
    table = markdown_table(rows, "{:.1f}".format, "least").splitlines()
    assert table[0] == "| | Sidelight | rival |"
    assert table[2:] == ["| iris | **0.1** | 0.2 (A) |", "| wine | 0.3 | **0.2** (B) |"]


def test_a_table_of_a_page_is_made_anew_and_the_rest_stays():
    page = "before\n<!-- table of made: hit, %.0f, most -->\nold\n<!-- end of table -->\nafter"
    made = with_tables(page, {"made": CHECKS}.__getitem__, as_said)
    table = "| | Sidelight |\n|---|---|\n| iris | **90** |"
    assert made == page.replace("old", f"\n{table}\n")
    assert tables_on(made) == ["made"]


@pytest.mark.parametrize(("form", "said"), [(".2f", "0.26"), ("%.1f", "25.5"), ("m.0f", "255"), ("s.3f", ".255")])
def test_formats(form, said):
    assert as_said(0.255, form) == said


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_command_that_a_page_names_exists(page):
    for package, module, rest in COMMAND.findall(page.read_text(encoding="utf-8")):
        names = [word for word in rest.split() if re.fullmatch(r"[a-z]\w*", word)]
        if package == "reproductions":
            assert set(names) <= set(REPRODUCTIONS), f"{page.name}: python -m reproductions {rest}"
        elif not module:
            assert set(names) <= set(BENCHMARKS), f"{page.name}: python -m benchmarks {rest}"
        else:
            source = (ROOT / "benchmarks" / f"{module}.py").read_text(encoding="utf-8")
            assert '__name__ == "__main__"' in source, f"{page.name}: benchmarks.{module} is no command"
            if module == "large_maps":
                assert set(names) <= set(SECTIONS), f"{page.name}: benchmarks.large_maps {rest}"
            if module == "families":
                assert {f"family_{name}" for name in names} <= set(MODULES), f"{page.name}: benchmarks.families {rest}"
            for option in re.findall(r"--[a-z-]+", rest):
                assert f'"{option}"' in source, f"{page.name}: benchmarks.{module} has no {option}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_with_tables_of_numbers_names_a_command(page):
    text = page.read_text(encoding="utf-8")
    measured = [line for line in text.splitlines() if line.startswith("|") and re.search(r"\d\.\d", line)]
    assert len(measured) < 2 or page.name in WITHOUT_MEASUREMENTS or COMMAND.search(text)


def test_every_source_of_numbers_is_used():
    used = {source for lines in LINES.values() for line in lines for source in re.findall(r"\{([^/{}]+)/", line)}
    used |= {source for page in PAGES for source in tables_on(page.read_text(encoding="utf-8"))}
    assert set(page_numbers._SOURCES) - {"published"} <= used


def test_numbers_of_others_say_where_they_stand(monkeypatch, tmp_path):
    monkeypatch.setattr(page_numbers, "FILES", tmp_path)
    kept = '["a rival, error"]\nvalue = 0.25\nsource = "Smith (2020), table 2"\n'
    (tmp_path / "published.toml").write_text(kept, encoding="utf-8")
    assert value_of("published", "a rival, error") == 0.25
    with pytest.raises(KeyError):
        value_of("published", "another")


def test_every_published_number_has_its_source():
    published = tomllib.loads((page_numbers.FILES / "published.toml").read_text(encoding="utf-8"))
    assert all(isinstance(one["value"], (int, float)) and one["source"] for one in published.values())
