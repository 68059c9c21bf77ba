"""Keep a run of ``large_maps mnist`` for the pages: ``python -m benchmarks.map_records`` after it.

Reads ``benchmarks/results/large_maps_mnist.json`` and writes the part ``mnist`` of ``docs/files/large_maps.json``, from
which `benchmarks.page_numbers` takes the table of 70,000 digits.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.harness import KEPT, RESULTS, commit

__all__ = ["mnist_record"]

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
        name = "Sidelight" if method == "ours" else method
        methods[name] = {what: round(float(value), _DIGITS[what]) for what, value in found.items()}
    return methods


def main(run: Path = RESULTS / "large_maps_mnist.json", kept: Path = KEPT / "large_maps.json") -> None:
    """Write the record."""
    found = json.loads(run.read_text(encoding="utf-8"))
    file = json.loads(kept.read_text(encoding="utf-8"))
    file["mnist"] = {
        "command": "python -m benchmarks.large_maps mnist",
        "commit": commit(),
        "machine": found["machine"],
        "methods": mnist_record(found),
    }
    kept.write_text(json.dumps(file, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
