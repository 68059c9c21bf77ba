"""Run benchmarks, print their tables, write their numbers to ``benchmarks/results/NAME.json``.

``--keep`` also writes the checks to ``docs/files/NAME.json``, from which ``benchmarks.page_numbers`` writes the pages.
"""

from __future__ import annotations

import argparse
import sys

from benchmarks import BENCHMARKS, benchmark
from benchmarks.harness import KEPT, RESULTS, not_installed, table

KEPT_BY_THEMSELVES = {"families", "cells", "large_maps"}


def main(arguments: list[str] | None = None) -> int:
    """Return 0 when every bar was met, 1 when one was not."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of: {', '.join(BENCHMARKS)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="smaller sizes, fewer repeats and seeds")
    parser.add_argument("--keep", action="store_true", help="also write the checks to docs/files, for the pages")
    chosen = parser.parse_args(arguments)
    if chosen.keep and chosen.quick:
        parser.error("--keep is for whole runs, not with --quick")
    if chosen.keep and (own := KEPT_BY_THEMSELVES & set(chosen.names or BENCHMARKS)):
        parser.error(f"{', '.join(sorted(own))}: python -m benchmarks.NAME writes its file in docs/files itself")
    if unknown := set(chosen.names) - set(BENCHMARKS):
        parser.error(f"unknown benchmark {', '.join(sorted(unknown))}; there are: {', '.join(BENCHMARKS)}")
    modules = {name: benchmark(name) for name in chosen.names or BENCHMARKS}
    if absent := not_installed({rival for module in modules.values() for rival in module.RIVALS}):
        parser.error(f'rivals are missing: pip install {" ".join(sorted(absent))} (or pip install -e ".[test]")')
    passed = True
    for name, module in modules.items():
        print(f"\n{name}: {module.TITLE}", flush=True)
        report = module.run(quick=chosen.quick)
        print(table(report))
        print(f"  written to {report.write(RESULTS / f'{name}.json', name=name, quick=chosen.quick)}", flush=True)
        if chosen.keep:
            print(f"  kept in {report.keep(KEPT / f'{name}.json', name=name)}", flush=True)
        passed &= report.passed
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
