"""Draw the pictures of the documentation: ``python docs/figures/make.py [NAME ...]`` (all, without names).

A picture is a function that returns a matplotlib Figure (or writes its own file and returns None); the modules beside
this one list theirs in ``FIGURES``. Numbers in titles are computed as the picture is drawn.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the benchmarks, whose sets and results are drawn

import cells
import clusters
import digits
import explorer
import explorer_asking
import explorer_hour
import explorer_notebook
import history
import informed
import landing
import lecture
import many
import mixtures
import relations
import reliability
import screenshot
import sheets
import spectral
import tutorial
import two_ways
import uncertainty
import wrapping
from canvas import write

PAGES = (
    landing,
    two_ways,
    informed,
    sheets,
    digits,
    clusters,
    wrapping,
    screenshot,
    explorer,
    explorer_asking,
    explorer_hour,
    explorer_notebook,
    spectral,
    mixtures,
    relations,
    reliability,
    many,
    lecture,
    tutorial,
    cells,
    uncertainty,
    history,
)
FIGURES = {name: draw for page in PAGES for name, draw in page.FIGURES.items()}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python docs/figures/make.py", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of: {', '.join(FIGURES)}")
    names = parser.parse_args().names or list(FIGURES)
    if unknown := set(names) - set(FIGURES):
        parser.error(f"no such picture: {', '.join(sorted(unknown))}")
    warnings.filterwarnings("ignore", category=FutureWarning, module="sklearn")
    for name in names:
        began = time.perf_counter()
        figure = FIGURES[name]()
        if figure is not None:
            path = write(figure, name)
            print(f"{path.name}: {path.stat().st_size // 1000} kB, {time.perf_counter() - began:.1f} s", flush=True)


if __name__ == "__main__":
    main()
