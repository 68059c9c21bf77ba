"""Run reproductions: a figure and a JSON file each in ``reproductions/results``; ``--page`` writes the docs pages."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import asdict

from reproductions import REPRODUCTIONS, reproduction
from reproductions.claims import Claim, claims_of, with_numbers
from reproductions.harness import RESULTS, Outcome, table, write
from reproductions.page import PAGE, write_pages


def main(arguments: list[str] | None = None) -> int:
    """Return 0 when every bar was met, 1 when one was not."""
    parser = argparse.ArgumentParser(prog="python -m reproductions", description=__doc__)
    known = ", ".join(REPRODUCTIONS)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of: {known} (default: all)")
    parser.add_argument(
        "--page", action="store_true", help="write docs/results.md and its pages; alone: from the JSON files"
    )
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
        for claim in claims_of(name):
            print(f"  {_verdict(claim, outcome)}")
        print(f"  written to {path} and its picture", flush=True)
        passed &= outcome.passed
    if chosen.page:
        print("written:", *write_pages(RESULTS, PAGE))
    return 0 if passed else 1


def _verdict(claim: Claim, outcome: Outcome) -> str:
    """A claim with its verdict and the new numbers, or what keeps it from having them: a run is not lost by that."""
    try:
        filled = with_numbers(claim, [asdict(comparison) for comparison in outcome.comparisons])
    except ValueError as error:
        return str(error)
    return f"{filled.figure}: {filled.claim} Source: {filled.source}; ours {filled.published}: {filled.verdict}."


if __name__ == "__main__":
    sys.exit(main())
