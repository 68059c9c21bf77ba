"""The runners of ``benchmarks`` and ``reproductions``: what they measure, write and print (no rival needed)."""

from __future__ import annotations

import ast
import json
import re
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import benchmarks
import benchmarks.__main__ as benchmark_runner
import benchmarks.harness as bench
import reproductions
import reproductions.__main__ as reproduction_runner
import reproductions.page as page_module
from benchmarks import families
from benchmarks.exact_gradient import evaluation, points
from benchmarks.family_row import Cell, Row, Task, mean_rows
from benchmarks.family_sets import Missing
from benchmarks.reference import gaussian_kernel, negative_information
from reproductions.claims import Claim, SourcePage, claims_of, rows_in_the_setting_of_the_source, with_numbers
from reproductions.harness import Outcome, write
from reproductions.page import PAGE, write_pages
from reproductions.skeleton import read_skeleton, segments
from reproductions.walk_cycle import nearest_frame

ROOT = Path(__file__).parents[2]


@pytest.fixture
def figure():
    plt = pytest.importorskip("matplotlib.pyplot")
    yield plt.figure(figsize=(1, 1))
    plt.close("all")


def test_contenders_of_a_race_take_turns_and_the_warm_up_is_not_counted():
    calls = []
    times = bench.race({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, repeats=2)
    assert calls == ["a", "b"] * 3
    assert len(times["a"].seconds) == len(times["b"].seconds) == 2


def test_ratio_of_a_race_is_that_of_the_fastest_repeats():
    report = bench.Report()
    report.faster("race", bench.Timing((2.0, 1.0)), bench.Timing((9.0, 5.0)), "slow", at_least=6)
    assert report.checks[0].ratio == 5.0
    assert report.checks[0].passed is False
    assert not report.passed


def test_peak_memory_sees_a_temporary_that_is_gone_at_the_end():
    peak = bench.peak_memory("import numpy as np", "np.ones(8_000_000).sum()")
    assert 60e6 < peak < 75e6


def test_peak_memory_does_not_count_what_the_parent_holds():
    held = np.ones(30_000_000)
    assert bench.peak_memory("", "x = 1") < 5e6
    assert held[0] == 1.0


def test_a_failing_fresh_process_says_why():
    with pytest.raises(RuntimeError, match="ValueError: too bad"):
        bench.fresh_process("raise ValueError('too bad')")


def test_growth_exponent_of_a_power_law_is_its_power():
    sizes = [100, 200, 400]
    assert bench.growth_exponent(sizes, [3e-9 * n**1.5 for n in sizes]) == pytest.approx(1.5)


def test_report_is_written_with_machine_and_verdicts(tmp_path):
    report = bench.Report()
    report.at_least("quality", 0.97, 0.9)
    report.at_most("memory", 1.4, 1.3, unit="matrices")
    report.note("growth", 1.9)
    written = json.loads(report.write(tmp_path / "deep" / "x.json", name="x").read_text())
    assert [check["passed"] for check in written["checks"]] == [True, False, None]
    assert written["passed"] is False
    assert written["machine"]["cores"] >= 1
    assert written["machine"]["versions"]["numpy"] == np.__version__


def test_a_kept_report_has_checks_to_six_digits_machine_and_commit_and_no_details(tmp_path):
    report = bench.Report(details={"arrays": [1.0] * 1000})
    report.note("error", 1 / 3, rival=2e5 / 7, rival_name="PCA")
    kept = json.loads(report.keep(tmp_path / "x.json", name="x").read_text())
    assert (kept["checks"][0]["ours"], kept["checks"][0]["rival"]) == (0.333333, 28571.4)
    assert kept["commit"] == bench.commit()
    assert (kept["command"], "date" in kept["machine"], "details" in kept) == ("python -m benchmarks x", True, False)


def test_table_shows_numbers_rival_ratio_and_verdict():
    report = bench.Report()
    report.faster("inverse", bench.Timing((0.004,)), bench.Timing((2.0,)), "UMAP", at_least=100)
    line = bench.table(report).splitlines()[-1]
    assert [part in line for part in ("4 ms", "2.00 s UMAP", "500x", "≥ 100x", "met")] == [True] * 5


def torch_if_needed(script):
    """Skip a script of gated models where torch is not installed."""
    if "gated" in script.read_text(encoding="utf-8"):
        pytest.importorskip("torch", reason="needs the extra torch")


@pytest.mark.parametrize("name", benchmarks.BENCHMARKS)
def test_every_benchmark_can_be_imported_without_its_rival(name, monkeypatch):
    torch_if_needed(ROOT / "benchmarks" / f"{name}.py")
    for rival in ("umap", "openTSNE", "harmonypy"):
        monkeypatch.setitem(sys.modules, rival, None)
    monkeypatch.delitem(sys.modules, f"benchmarks.{name}", raising=False)
    assert benchmarks.benchmark(name).TITLE


def test_reference_gradient_agrees_with_finite_differences():
    X, Z = points(12)
    K = gaussian_kernel(X, 6.0)
    _, gradient = negative_information(K, Z)
    step = np.zeros_like(Z)
    step[3, 1] = 1e-5
    slope = (negative_information(K, Z + step)[0] - negative_information(K, Z - step)[0]) / 2e-5
    assert slope == pytest.approx(gradient[3, 1], rel=1e-5)


def test_the_evaluation_that_is_timed_agrees_with_the_reference():
    X, Z = points(700)  # more than one tile
    value, gradient = negative_information(gaussian_kernel(X, 6.0), Z)
    found = evaluation(X, Z)()
    assert found.value == pytest.approx(value, abs=1e-5)
    assert np.abs(found.gradient - gradient).max() < 1e-4 * np.abs(gradient).max()


@pytest.mark.parametrize("runner", [benchmark_runner, reproduction_runner])
def test_runner_refuses_an_unknown_name_and_lists_the_known(runner, capsys):
    with pytest.raises(SystemExit):
        runner.main(["s_curves"])
    assert "there are:" in capsys.readouterr().err


def test_benchmark_runner_writes_and_reports_a_missed_bar(monkeypatch, tmp_path, capsys):
    class Fake:
        TITLE, RIVALS = "a fake", ()

        @staticmethod
        def run(*, quick):
            report = bench.Report()
            report.at_least("quality", 0.5 if quick else 1.0, 0.9)
            return report

    monkeypatch.setattr(benchmark_runner, "benchmark", lambda name: Fake)
    monkeypatch.setattr(benchmark_runner, "RESULTS", tmp_path)
    monkeypatch.setattr(benchmark_runner, "KEPT", tmp_path / "kept")
    assert benchmark_runner.main(["cold_start", "--quick"]) == 1
    assert benchmark_runner.main(["cold_start"]) == 0
    assert "NOT MET" in capsys.readouterr().out
    assert json.loads((tmp_path / "cold_start.json").read_text())["quick"] is False
    assert not (tmp_path / "kept").exists()
    (tmp_path / "kept").mkdir()
    assert benchmark_runner.main(["cold_start", "--keep"]) == 0
    assert json.loads((tmp_path / "kept" / "cold_start.json").read_text())["passed"]


@pytest.mark.parametrize("arguments", [["cold_start", "--keep", "--quick"], ["families", "--keep"]])
def test_what_is_kept_for_the_pages_is_a_whole_run_of_a_benchmark_without_a_file_of_its_own(arguments, capsys):
    with pytest.raises(SystemExit):
        benchmark_runner.main(arguments)
    assert re.search("whole runs|writes its file", capsys.readouterr().err)


def test_benchmark_runner_names_the_rival_that_is_not_installed(monkeypatch, capsys):
    class Fake:
        TITLE, RIVALS = "a fake", ("rival-learn", "numpy")

    monkeypatch.setattr(benchmark_runner, "benchmark", lambda name: Fake)
    with pytest.raises(SystemExit):
        benchmark_runner.main(["cold_start"])
    assert "pip install rival-learn (" in capsys.readouterr().err


def test_reproduction_writes_picture_numbers_and_page(figure, tmp_path):
    outcome = Outcome("h = 1", figure, "A | picture.", notes=["A note."])
    outcome.within("best λ", 0.002, 0.001, 0.01, "about 0.001")
    outcome.at_most("error", 2.0, 1.5, name="the fill's")
    path = write(tmp_path, "toy", "Toy", "S9", outcome, seconds=1.23)
    content = json.loads(path.read_text())
    assert (content["our_number"], content["source_number"], content["passed"]) == (0.002, "about 0.001", False)
    assert (tmp_path / "toy.png").stat().st_size > 0
    index, page = write_pages(tmp_path, tmp_path / "docs" / "results.md")
    assert "(results/others.md)" in index.read_text()
    assert page == tmp_path / "docs" / "results" / "others.md"
    text = page.read_text()
    assert "| best λ | 0.002 | about 0.001 | 0.001 to 0.01 | met |" in text
    assert "| error | 2 | not given | ≤ the fill's (1.5) | **not met** |" in text
    assert "(../../toy.png)" in text


COMPARISONS = [
    {"what": "error: small", "ours": 0.12345, "passed": None},
    {"what": "rows, all", "ours": 12345.6, "passed": False},
]


def test_numbers_of_a_claim_are_those_of_the_comparisons_it_names():
    claim = Claim("fig. 1", "Small.", "0.1", "{error: small}", "of {rows, all}", because="{rows, all} rows")
    filled = with_numbers(claim, COMPARISONS)
    assert (filled.published, filled.default, filled.because) == ("0.123", "of 12,346", "12,346 rows")


def test_a_claim_that_names_no_comparison_is_refused():
    with pytest.raises(ValueError, match="names 'error: large', which is no comparison"):
        with_numbers(Claim("fig. 1", "Small.", published="{error: large}"), COMPARISONS)


def test_a_claim_cannot_hold_where_its_number_missed_the_bar():
    with pytest.raises(ValueError, match=r"fig. 1 holds, but 'rows, all' missed its bar"):
        with_numbers(Claim("fig. 1", "Many.", published="{rows, all}"), COMPARISONS)
    failed = Claim("fig. 1", "Many.", published="{rows, all}", verdict="does not hold", because="few")
    assert with_numbers(failed, COMPARISONS).published == "12,346"


def test_a_verdict_is_a_known_one_and_gives_its_reason():
    with pytest.raises(ValueError, match="verdict='maybe' is unknown"):
        Claim("fig. 1", "Small.", verdict="maybe")
    with pytest.raises(ValueError, match=r"is empty for fig. 1 \(open\)"):
        Claim("fig. 1", "Small.", verdict="open")


def test_the_results_pages_say_first_what_does_not_hold(figure, tmp_path, monkeypatch):
    claims = (Claim("fig. 1", "Small."), Claim("fig. 2", "Large.", verdict="does not hold", because="it is small"))
    monkeypatch.setattr(page_module, "PAGES", (SourcePage("s9.md", "S9: a paper", {"toy": claims}),))
    outcome = Outcome("h = 1", figure, "A picture.")
    outcome.note("error", 2.0)
    write(tmp_path, "toy", "Toy: of all", "S9", outcome, seconds=1.23)
    texts = [path.read_text() for path in write_pages(tmp_path, tmp_path / "results.md")]
    assert "Of 2 claims 1 hold, 0 hold with luck, 1 do not hold, and 0 are open." in texts[0]
    for text, link in zip(texts, ("results/s9.md#toy-of-all", "#toy-of-all"), strict=True):
        first, table = (text.index(part) for part in ("*Does not hold:* it is small", f"[fig. 2]({link})"))
        assert first < table


def test_rows_in_the_setting_of_the_source_come_first_and_say_so(figure, tmp_path, monkeypatch):
    claims = (Claim("fig. 1", "Small.", published="{error, h = 1}", default="{error, ours}"),)
    monkeypatch.setattr(page_module, "PAGES", (SourcePage("s9.md", "S9: a paper", {"toy": claims}),))
    outcome = Outcome("h = 1", figure, "A picture.")
    for what in ("error, ours", "error, h = 1", "seconds, source's setting"):
        outcome.note(what, 2.0)
    write(tmp_path, "toy", "Toy", "S9", outcome, seconds=1.23)
    text = write_pages(tmp_path, tmp_path / "results.md")[1].read_text()
    rows = ("| source's setting: error, h = 1 |", "| seconds, source's setting |", "| error, ours |")
    places = [text.index(row) for row in rows]
    assert places == sorted(places)


@pytest.mark.parametrize("name", reproductions.REPRODUCTIONS)
def test_a_claim_of_a_source_has_a_row_in_its_setting_or_says_why_not(name):
    for claim in claims_of(name):
        if claim.verdict != "no claim":
            run = rows_in_the_setting_of_the_source([claim])
            assert run or re.match(r"not run .*\w", claim.published), f"{claim.figure}: {claim.published!r}"


@pytest.mark.parametrize("name", reproductions.REPRODUCTIONS)
def test_every_reproduction_names_its_experiment_and_has_committed_results(name):
    torch_if_needed(ROOT / "reproductions" / f"{name}.py")
    module = reproductions.reproduction(name)
    content = json.loads((ROOT / "reproductions" / "results" / f"{name}.json").read_text())
    assert (content["title"], content["source"]) == (module.TITLE, module.SOURCE)
    assert content["command"] == f"python -m reproductions {name}"


def sentences(module):
    """Long pieces of text in a module that end a sentence, without docstrings: settings, captions and notes."""
    tree = ast.parse((ROOT / "reproductions" / f"{module}.py").read_text())
    apart = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return [node.value.strip() for node in texts if id(node) not in apart and re.match(r".{60,}\.$", node.value)]


@pytest.mark.parametrize("name", reproductions.REPRODUCTIONS)
def test_texts_of_committed_results_are_those_of_the_code_that_made_them(name):
    content = json.loads((ROOT / "reproductions" / "results" / f"{name}.json").read_text())
    shown = " ".join([content["setting"], content["caption"], *content["notes"]])
    stale = [text for text in sentences(name) if text not in shown]
    assert not stale, f"run python -m reproductions {name} again"


def test_every_reproduction_has_claims():
    without = [name for name in reproductions.REPRODUCTIONS if not claims_of(name)]
    assert not without, "add them to the file of their source in reproductions/claims"


def test_the_docs_pages_are_those_the_results_make():
    made = page_module.pages(ROOT / "reproductions" / "results", PAGE)
    there = {path: path.read_text() for path in (PAGE, *PAGE.with_suffix("").glob("*.md"))}
    assert made == there, "run python -m reproductions --page"


def test_a_stick_figure_keeps_its_bones_lengths(tmp_path):
    (tmp_path / "a.asf").write_text(
        ":bonedata\n  begin\n name thigh\n direction 0 -1 0\n length 2\n axis 0 0 0 XYZ\n end\n"
        "  begin\n name shin\n direction 0 -1 0\n length 3\n axis 0 0 0 XYZ\n end\n"
        ":hierarchy\n begin\n root thigh\n thigh shin\n end\n"
    )
    lines = segments(read_skeleton(tmp_path / "a.asf"), ["thigh:rx", "shin:rx"], [90.0, 90.0])
    assert np.allclose(np.linalg.norm(lines[:, 1] - lines[:, 0], axis=1), [2, 3])
    assert np.allclose(lines[1, 1], [0, 3, -2])


def test_nearest_frame_fill_takes_the_nearest_known_entry():
    X = np.array([[1.0], [2.0], [3.0], [4.0]])
    assert nearest_frame(X, np.array([[False], [True], [True], [False]])).ravel().tolist() == [1, 1, 4, 4]


def test_the_table_of_families_keeps_cells_that_lose():
    def row(ours, lower=True):
        return Row("iris", "k-NN", "error", ours, {"plain": 0.04, "LDA": 0.06}, lower_is_better=lower)

    assert [row(ours).verdict for ours in (0.02, 0.045, 0.05)] == ["wins", "ties", "LOSES"]
    assert [row(ours, lower=False).best_rival for ours in (0.02, 0.07)] == ["LDA", "LDA"]
    assert row(0.05).record()["verdict"] == "LOSES"
    assert "verdict" not in Row("heads", "k-NN", "error", missing="not installed").record()


def test_families_that_are_not_there_are_left_out():
    pytest.importorskip("torch", reason="the family of gated models needs the extra torch")
    assert {"family_metrics", "family_relations"} <= set(families.families()) <= set(families.MODULES)
    assert all(not set(one.CHOSEN_ON) & set(one.SETS) for one in [families.families()["family_metrics"]])


@pytest.mark.parametrize("name", [name for name in families.MODULES if name != "family_gated"])
def test_every_family_has_three_sets_that_nothing_was_chosen_on(name):
    family = families.families([name])[name]
    tasks = family.tasks(quick=False)
    fresh = {task.data for task in tasks} - set(family.CHOSEN_ON)
    assert len([data for data in fresh if "chosen on" not in data]) >= 3
    assert len({task.name for task in tasks}) == len(tasks)


class _MadeFamily:
    """Two sets: one on which ours always wins, one on which it is a matter of luck; a third is not installed."""

    FAMILY, CHOSEN_ON = "made", ("iris",)

    def __init__(self):
        self.asked = []

    def tasks(self, *, quick):
        del quick
        return [Task(name, name, partial(self._cells, name)) for name in ("clear", "luck", "gone")]

    def _cells(self, name, seed):
        self.asked.append((name, seed))
        if name == "gone":
            raise Missing("it is not installed")
        ours = 0.9 if name == "clear" else 0.5 + 0.1 * (-1) ** seed
        return [Cell("k-NN", "accuracy", {"ours": ours, "plain": 0.5 + 0.001 * seed})]


def test_families_go_on_where_they_stopped_and_ask_more_draws_only_of_open_verdicts(tmp_path):
    made, options = _MadeFamily(), {"quick": False, "folder": tmp_path}
    found = families.measure({}, {"made": made}, families.Plan(most=10, first=3), **options)
    assert {name: [one for one, _ in made.asked].count(name) for name in ("clear", "luck")} == {"clear": 3, "luck": 10}
    rows = {row.data: row for row in families.rows_of(found["made"])}
    assert [rows[name].seeds for name in ("clear", "luck")] == [3, 10]
    assert rows["clear"].verdict == "wins"
    assert rows["gone"].missing == "it is not installed"
    assert rows["luck"].worst == pytest.approx(0.4)
    again = _MadeFamily()
    kept = families.stored(tmp_path)
    assert families.measure(kept, {"made": again}, families.Plan(most=10, first=3), **options) == found
    assert again.asked == [("gone", 0)]
    assert "made; k-NN; clear: accuracy [wins]" in (tmp_path / "families.json").read_text()


def test_a_rival_of_one_draw_is_compared_by_that_draw():
    cells = [
        Cell("map", "share", {"ours": 0.9, "slow": 0.8, "fast": 0.2}),
        Cell("map", "share", {"ours": 0.5, "fast": 0.2}),
    ]
    (row,) = mean_rows([("iris", [cell]) for cell in cells])
    assert row.best_rival == "slow"
    assert row.ours == pytest.approx(0.7)
    assert row.verdict == "wins"


def test_families_begin_no_draw_when_the_time_is_over(tmp_path):
    made = _MadeFamily()
    families.measure({}, {"made": made}, families.Plan(minutes=-1.0), quick=True, folder=tmp_path)
    assert made.asked == []
