"""What the ``cells`` benchmark measures is kept at once, is not measured again, and makes the tables of the pages."""

import json

import numpy as np

from benchmarks import cell_records, cells
from benchmarks.cell_page import means_table, removals_table
from benchmarks.cell_records import Records
from benchmarks.cell_sets import Cells
from benchmarks.harness import Report


def _tiny():
    rng = np.random.default_rng(0)
    return Cells("tiny", rng.normal(size=(12, 3)), np.repeat(["a", "b"], 6), np.tile(["s", "t"], 6))


def test_a_number_that_is_in_the_file_is_not_measured_again(tmp_path, monkeypatch):
    asked = []

    def embedded(name, of, seed):
        asked.append((name, seed))
        return {name: of.X}

    monkeypatch.setattr(cells, "embedded", embedded)
    monkeypatch.setattr(cells, "scib_totals", lambda X, batch, label, by: {name: {"Total": 0.5} for name in by})
    file = tmp_path / "cells.json"
    cells.measure_totals(_tiny(), 1, cells.Deadline(60.0), Records.of(file), scvi=0)
    first = len(asked)
    assert first == 8  # three of ours, five rivals
    assert json.loads(file.read_text())["totals"]["tiny"]["harmony"]["0"]["Total"] == 0.5
    cells.measure_totals(_tiny(), 2, cells.Deadline(60.0), Records.of(file), scvi=0)
    assert {seed for _, seed in asked[first:]} == {1}
    assert len(asked) == first + 7  # all but principal components


def test_tables_have_means_and_ranges_over_orders():
    totals = {"x": {"ours, 2-D": {"0": {"Total": 0.5}, "1": {"Total": 0.7}}, "PCA": {"0": {"Total": 0.25}}}}
    text = means_table(totals, ("x", "not measured"))
    assert "| `x` | 2 | 0.600 (0.500 to 0.700) | 0.250 |" in text
    assert text.endswith("| mean |  | 0.600 | 0.250 |")
    entry = {"orders": 1, "harmony": [(0.8, 1.1)], "ours, 2-D": [(0.6, 0.9)]}
    assert "| `x` | 1 | 1 | 0.750, 0.900 to 0.900 | 1.100 to 1.100 |" in removals_table(
        {"x": {"t": entry}}, ("x",), ("ours, 2-D",)
    )


def test_removals_in_ten_dimensions_are_added_to_those_of_the_plane(tmp_path, monkeypatch):
    asked = []

    def embedded(name, of, seed):
        asked.append(name)
        return {name: of.X}

    monkeypatch.setattr(cells, "embedded", embedded)
    monkeypatch.setattr(cells, "harmony", lambda of, seed: of.X)
    rng = np.random.default_rng(0)
    batch, label = np.repeat(["a", "b"], 50), np.tile(["s", "t"], 50)
    many, records = Cells("many", rng.normal(size=(100, 3)), batch, label), Records.of(tmp_path / "cells.json")
    plane = cells.measure_removals(many, 1, cells.Deadline(60.0), records)
    assert asked == ["ours, 2-D"] * 2
    both = cells.measure_removals(many, 1, cells.Deadline(60.0), records, ten=True)
    assert asked[2:] == ["ours, 10-D"] * 2
    assert [entry["ours, 2-D"] for entry in both] == [entry["ours, 2-D"] for entry in plane]
    assert all({"ours, 2-D", "ours, 10-D"} < set(entry["error"]) for entry in both)


def test_totals_of_ours_alone_are_noted_and_not_held_against_a_rival():
    report = Report()
    cells.hold_totals(report, {"x": {"ours, 2-D": [0.5, 0.7]}, "y": {"ours, 2-D": [0.25]}})
    assert [(check.what, round(check.ours, 6), check.passed) for check in report.checks] == [
        ("x: total, ours, 2-D", 0.6, None),
        ("y: total, ours, 2-D", 0.25, None),
    ]
    held = Report()
    cells.hold_totals(held, {"x": {"ours, 2-D": [0.5], "scvi": [0.52]}, "y": {"ours, 2-D": [0.25]}})
    assert [(c.what, c.passed) for c in held.checks if c.what.startswith("x")] == [("x: total, ours, 2-D", True)]
    assert [c.passed for c in held.checks if c.what.startswith("mean")] == [False]


def test_numbers_of_a_newer_file_replace_those_of_the_same_method_and_order_only(tmp_path):
    old, new = Records.of(tmp_path / "old.json"), Records.of(tmp_path / "new.json")
    for order in (0, 1):
        old.add_total("x", "ours, 2-D", order, {"Total": 0.1})
    old.add_total("x", "harmony", 0, {"Total": 0.2})
    old.add_removal("x", "t", {"orders": 1, "harmony": [(0.5, 1.0)]})
    new.add_total("x", "ours, 2-D", 1, {"Total": 0.9})
    new.add_removal("x", "s", {"orders": 1, "harmony": [(0.7, 1.0)]})
    cell_records.main(tmp_path / "new.json", tmp_path / "old.json")
    merged = Records.of(tmp_path / "old.json")
    assert [merged.total("x", "ours, 2-D", order)["Total"] for order in (0, 1)] == [0.1, 0.9]
    assert merged.total("x", "harmony", 0)["Total"] == 0.2
    assert set(merged.found["removals"]["x"]) == {"s", "t"}
