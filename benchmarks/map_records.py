"""Keep runs of some sections of ``large_maps`` for the pages: ``python -m benchmarks.map_records mnist growth small``.

Reads ``benchmarks/results/large_maps_SECTION.json`` and writes that part of ``docs/files/large_maps.json``, from which
`benchmarks.page_numbers` takes the tables of 70,000 digits, of a million rows and of few rows.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.harness import KEPT, RESULTS, commit

__all__ = ["growth_record", "keep", "mnist_record", "small_record"]

_DIGITS = {"seconds": 1, "second_time": 1, "accuracy": 4, "trustworthiness": 4, "mebibytes": 0}


def mnist_record(run: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Method -> seconds, second_time (where it was measured), accuracy, trustworthiness and mebibytes of a run."""
    details = run["details"]
    measured = details["mnist"]
    (quality,) = (found for what, found in details.items() if what.startswith("MNIST") and what.endswith(": quality"))
    (hits,) = (found for what, found in quality.items() if what.endswith("accuracy"))
    methods = {}
    for method, seconds in measured["seconds"].items():
        found = {"seconds": seconds, "accuracy": hits[method], "trustworthiness": quality["trustworthiness"][method]}
        found["mebibytes"] = measured["MiB"][method]
        if (warm := measured.get(f"{method}, warm")) is not None:
            found["second_time"] = warm
        methods[_name(method)] = {what: round(float(value), _DIGITS[what]) for what, value in found.items()}
    return methods


def growth_record(run: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Number of rows -> seconds, gigabytes (data included) and trustworthiness of a run."""
    found = {check["what"]: check["ours"] for check in run["checks"]}
    rows = {}
    for n in run["details"]["growth"]["sizes"]:
        what = f"mixture {n:,} x 50"
        rows[str(n)] = {
            "seconds": round(found[f"{what}: seconds"], 1),
            "gigabytes": round(found[f"{what}: memory, data included"], 2),
            "trustworthiness": round(found[f"{what}: trustworthiness"], 4),
        }
    return rows


def small_record(run: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Number of rows -> ``fresh METHOD``, ``second METHOD`` (seconds), ``accuracy METHOD``, ``trustworthiness METHOD``.

    Examples
    --------
    >>> race = {"what": "MNIST 2,000 x 784: second fit", "ours": 1.567, "rival": 3.2, "rival_name": "UMAP"}
    >>> small_record({"checks": [race], "details": {}})
    {'2000': {'second Sidelight': 1.57, 'second UMAP': 3.2}}
    """
    rows: dict[str, dict[str, float]] = {}
    for check in run["checks"]:
        what, _, measured = check["what"].partition(": ")
        kind = {"fresh process": "fresh", "second fit": "second"}.get(measured)
        if kind is not None:
            found = rows.setdefault(what.split()[1].replace(",", ""), {})
            found[f"{kind} Sidelight"] = round(check["ours"], 2)
            found[f"{kind} {check['rival_name']}"] = round(check["rival"], 2)
    for what, quality in run["details"].items():
        if what.endswith(": quality"):
            found = rows[what.split()[1].replace(",", "")]
            named = {"accuracy": quality["10-NN accuracy"], "trustworthiness": quality["trustworthiness"]}
            for name, values in named.items():
                found |= {f"{name} {_name(method)}": round(value, 4) for method, value in values.items()}
    return rows


def _name(method: str) -> str:
    return "Sidelight" if method == "ours" else method


_RECORDS: dict[str, tuple[str, Callable[[dict[str, Any]], Any]]] = {
    "mnist": ("methods", mnist_record),
    "growth": ("rows", growth_record),
    "small": ("rows", small_record),
}


def keep(section: str, results: Path = RESULTS, kept: Path = KEPT / "large_maps.json") -> None:
    """Put a run of a section into the file."""
    run = json.loads((results / f"large_maps_{section}.json").read_text(encoding="utf-8"))
    file = json.loads(kept.read_text(encoding="utf-8"))
    name, record = _RECORDS[section]
    command = f"python -m benchmarks.large_maps {section}"
    file[section] = {"command": command, "commit": commit(), "machine": run["machine"], name: record(run)}
    kept.write_text(json.dumps(file, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for chosen in sys.argv[1:]:
        keep(chosen)
