"""Named relations between the same rows: several notions of similarity at once (``side.relation`` holds one)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight.base.messages import error_message

from .relation import Relation

__all__ = ["Relations", "as_relations"]


@dataclass(frozen=True, eq=False)
class Relations:
    """Named relations between the same rows; ``relations[rows]`` slices all of them, ``relations["name"]`` is one.

    See Also
    --------
    Relation : One of them.
    Pairs : Pairs of rows alone.
    MultipleRelationalEmbedding : The method that takes them.

    Examples
    --------
    >>> from sidelight import Relation, Relations
    >>> Relations({"person": Relation.from_labels(["a", "a", "b"]), "age": Relation.from_values([30, None, 50])})
    Relations(3 rows; person: labels of 3, age: values of 2)
    """

    by_name: Mapping[str, Any]
    n_samples: int | None = None

    def __post_init__(self) -> None:
        for name, relation in self.by_name.items():
            if not isinstance(relation, Relation):
                seen, rule = f"{name!r}: {type(relation).__name__}", "is not a Relation"
                raise ValueError(error_message(self, "relations", seen, rule, "Make it with Relation.from_labels, ..."))
        known = [len(relation) for relation in self.by_name.values() if relation.n_samples is not None]
        reached = [len(relation) for relation in self.by_name.values()]
        n = max(known or reached or [0]) if self.n_samples is None else self.n_samples
        object.__setattr__(self, "by_name", {str(name): one.validate(n) for name, one in self.by_name.items()})
        object.__setattr__(self, "n_samples", n)

    @property
    def shape(self) -> tuple[int]:
        """``(n_samples,)``: one entry per row, so that scikit-learn splits it together with X."""
        return (len(self),)

    @property
    def names(self) -> list[str]:
        """The names, in order."""
        return list(self.by_name)

    def __getitem__(self, key: Any) -> Any:
        return self.by_name[key] if isinstance(key, str) else self.take(key)

    def __contains__(self, name: object) -> bool:
        return name in self.by_name

    def items(self) -> Iterator[tuple[str, Relation]]:
        """Names and relations, in order."""
        return iter(self.by_name.items())

    def __len__(self) -> int:
        return int(self.n_samples or 0)

    def __repr__(self) -> str:
        listed = ", ".join(f"{name}: {relation.kind} of {len(relation.index)}" for name, relation in self.items())
        return f"Relations({self.n_samples} rows; {listed})"

    def take(self, rows: Any) -> Relations:
        """Every relation restricted to some rows."""
        kept = np.atleast_1d(np.arange(len(self))[rows])
        return Relations({name: relation.take(kept) for name, relation in self.items()}, len(kept))

    def validate(self, n: int) -> Relations:
        """Return itself if it was made for ``n`` rows."""
        return Relations(self.by_name, n) if self.n_samples != n else self


def as_relations(relations: Any, n: int | None) -> Relations:
    """Convert a dict to ``Relations``, and check that they are for ``n`` rows (None: no check)."""
    if isinstance(relations, Relations):
        return relations if n is None else relations.validate(n)
    if not isinstance(relations, Mapping):
        seen, rule = type(relations).__name__, "is not a set of named relations"
        raise ValueError(error_message("Relations", "relations", seen, rule, "Give {name: Relation}"))
    return Relations(relations, n)
