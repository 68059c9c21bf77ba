"""Run benchmarks, print their tables, keep their numbers in ``benchmarks/results/NAME.json``."""

from __future__ import annotations

import argparse
import sys

from benchmarks import BENCHMARKS, benchmark
from benchmarks.harness import RESULTS, not_installed, table


def main(arguments: list[str] | None = None) -> int:
    """Return 0 when every bar was met, 1 when one was not."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of: {', '.join(BENCHMARKS)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="smaller sizes, fewer repeats and seeds")
    chosen = parser.parse_args(arguments)
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
        passed &= report.passed
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
