"""Speed, memory and quality, each beside its rival in the same run: ``python -m benchmarks [NAME ...] [--quick]``."""

from __future__ import annotations

import importlib
from typing import Protocol, cast

from benchmarks.harness import Report

__all__ = ["BENCHMARKS", "Benchmark", "benchmark"]

BENCHMARKS = (
    "exact_gradient",
    "normaliser",
    "solvers",
    "low_rank",
    "neighbours",
    "distance_graphs",
    "costs",
    "cold_start",
    "two_way_inverse",
    "there_and_back",
    "way_back",
    "interpolation",
    "maps",
    "transform",
    "defaults",
    "untuned",
    "informed",
    "informed_cost",
    "cells",
    "cell_numbers",
    "cell_limits",
    "cell_shares",
    "missing_genes",
    "counterfactual_cells",
    "hybrid",
    "semidefinite",
    "table_imputation",
    "actions",
    "metrics",
    "families",
    "explain",
    "reliability",
    "reliability_examples",
    "reliability_views",
    "resampled_maps",
    "dimensions",
    "latent_dimensions",
    "imputation",
    "imputation_wide",
    "tables",
    "imputation_intervals",
    "intervals",
    "kept_rows",
    "novelty",
    "missing_maps",
    "overlap",
    "many_rows",
    "streaming",
    "living",
    "cluster",
    "large_maps",
    "refit",
    "explore",
    "relational",
    "gated",
)


class Benchmark(Protocol):
    """A module of this package: what it measures, against which packages, and how."""

    TITLE: str
    RIVALS: tuple[str, ...]

    def run(self, *, quick: bool) -> Report:
        """Measure; ``quick`` takes smaller sizes and fewer repeats."""
        ...


def benchmark(name: str) -> Benchmark:
    """The benchmark of that name, imported only now."""
    return cast(Benchmark, importlib.import_module(f"benchmarks.{name}"))
