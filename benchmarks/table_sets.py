"""The tables of the benchmark ``tables``, each with the column that is left out of the embedding and asked for.

Which of them serve for choosing (weights, scales, constants of TableEncoder) and which for reporting was fixed before
anything was measured.

Rows are put in a random order. In the order of a file rows of one label follow each other; a method that takes the
first of many equal rows as neighbours (UMAP on ``titanic``, 14 different rows) then finds the label in the order:
accuracy 0.92, where no map can have more than 0.79. Columns that number the rows are recognised by that order, so they
are left out before, for every method.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sidelight.tables._column_kinds import understand

__all__ = ["CHOOSING", "REPORTING", "MixedTable", "load_table"]

_TESTS = Path(__file__).parents[1] / "tests" / "tables" / "files"
_OWN = Path(__file__).parent / "table_files"
_FEWEST = 10  # rows of a label that is asked for: the ten nearest rows vote


@dataclass(frozen=True)
class Source:
    """Where a table is, its label, and columns that name the label in other words."""

    name: str
    label: str
    told: tuple[str, ...] = ()
    reading: tuple[tuple[str, Any], ...] = ()

    @property
    def path(self) -> Path:
        """The file of the table."""
        return next(folder / f"{self.name}.csv" for folder in (_TESTS, _OWN) if (folder / f"{self.name}.csv").exists())


@dataclass(frozen=True)
class MixedTable:
    """A table (n rows) without its label, and the labels (n,), None where a row is not asked for."""

    name: str
    label: str
    frame: pd.DataFrame
    labels: np.ndarray[Any, Any]

    @property
    def chance(self) -> float:
        """Share of the most frequent label."""
        counts = pd.Series(self.labels).value_counts()
        return float(counts.max() / counts.sum())


CHOOSING = (
    Source("cars", "Origin"),
    Source("seattle-weather", "weather"),
    Source("anes96", "vote", reading=(("sep", "\t"), ("quotechar", "'"))),
    Source("wine", "target"),
    Source("modechoice", "choice", reading=(("sep", ";"),)),
    Source("barley", "site"),
    Source("titanic", "survived"),
    Source("zoo", "type"),
    Source("gbsg2", "tgrade"),
    Source("imports-85", "body-style"),
)
REPORTING = (
    Source("penguins", "species"),
    Source("heart_disease", "diameter narrowing"),
    Source("mpg", "class"),
    Source("msleep", "vore"),
    Source("tips", "time"),
    Source("gapminder", "continent", told=("country", "iso_alpha", "iso_num")),
    Source("midwest", "state"),
    Source("ACTG175", "gender"),
    Source("rossi", "arrest"),
    Source("canadian_senators", "Political Affiliation at Appointment"),
)


def load_table(source: Source) -> MixedTable:
    """Read a table without its label and without identifiers, rows in a fixed random order."""
    frame = pd.read_csv(source.path, **dict(source.reading))
    keys = [use.name for use in understand(frame) if use.kind == "identifier" and use.name != source.label]
    frame = frame.iloc[np.random.default_rng(0).permutation(len(frame))].reset_index(drop=True)
    asked = frame[source.label]
    counts = asked.map(asked.value_counts())
    labels = asked.astype(object).where(counts >= _FEWEST, None).to_numpy()
    return MixedTable(source.name, source.label, frame.drop(columns=[source.label, *source.told, *keys]), labels)
