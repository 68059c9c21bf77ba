"""Dask as this room uses it: it has no types."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["dask"]

dask: Any = importlib.import_module("dask")
for _part in ("array", "base"):
    importlib.import_module(f"dask.{_part}")
