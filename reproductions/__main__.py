"""Run reproductions: a figure and a JSON file each in ``reproductions/results``; ``--page`` writes the docs page."""

from __future__ import annotations

import argparse
import sys
import time

from reproductions import REPRODUCTIONS, reproduction
from reproductions.harness import RESULTS, table, write
from reproductions.page import PAGE, write_page


def main(arguments: list[str] | None = None) -> int:
    """Return 0 when every bar was met, 1 when one was not."""
    parser = argparse.ArgumentParser(prog="python -m reproductions", description=__doc__)
    known = ", ".join(REPRODUCTIONS)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of: {known} (default: all)")
    parser.add_argument("--page", action="store_true", help="write docs/results.md; alone: from the JSON files")
    chosen = parser.parse_args(arguments)
    if unknown := set(chosen.names) - set(REPRODUCTIONS):
        parser.error(f"unknown reproduction {', '.join(sorted(unknown))}; there are: {known}")
    passed = True
    for name in chosen.names or (() if chosen.page else REPRODUCTIONS):
        module = reproduction(name)
        print(f"\n{name}: {module.TITLE} ({module.SOURCE})", flush=True)
        began = time.perf_counter()
        outcome = module.run()
        path = write(RESULTS, name, module.TITLE, module.SOURCE, outcome, time.perf_counter() - began)
        print(table(outcome))
        print(f"  written to {path} and its picture", flush=True)
        passed &= outcome.passed
    if chosen.page:
        print(f"written to {write_page(RESULTS, PAGE)}")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
