"""One method of ``sidelight embed --method``, as the tables ``_our_methods`` and ``_other_methods`` describe it."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

__all__ = ["Method", "PythonOnly"]


@dataclass(frozen=True)
class Method:
    """One way to embed; its class is imported only when it is asked for.

    Parameters
    ----------
    name : str
        What ``--method`` calls it.
    module, class_name : str
        Where its class is.
    summary : str
        What it is, in one line.
    fixed : mapping
        Parameters that the command line sets.
    family : str
        The group it is listed in.
    use, avoid : str
        When to use it, and what to use instead and when. Of our own methods both begin in the middle of a sentence,
        and the method's page in the docs begins with them.
    example : str
        The arguments of ``sidelight embed`` that show its natural input.
    dims : str
        The parameter that ``--dims`` sets; "" where there is none.
    default_dims : int
        Latent dimensions unless ``--dims`` says otherwise.
    extra : str
        The package that the class needs beside the library; "" for none.
    """

    name: str
    module: str
    class_name: str
    summary: str
    fixed: Mapping[str, Any] = field(default_factory=dict)
    family: str = ""
    use: str = ""
    avoid: str = ""
    example: str = "table.csv"
    dims: str = "n_components"
    default_dims: int = 2
    extra: str = ""

    @property
    def library(self) -> str:
        """Where the method comes from."""
        known = {"sidelight": "Sidelight", "sklearn": "scikit-learn"}
        top = self.module.partition(".")[0]
        return known.get(top, top)

    @property
    def is_ours(self) -> bool:
        """Whether the class is one of this library, with ``callback`` and capabilities."""
        return self.library == "Sidelight"

    @property
    def advice(self) -> tuple[str, ...]:
        """When to use the method and what to use instead, one sentence each; empty if unknown."""
        if self.is_ours:
            return f"Use this when {self.use}.", f"Use instead {self.avoid}."
        named = (("Use it", self.use), ("Rather not", self.avoid))
        return tuple(f"{name}: {text}" for name, text in named if text)

    @property
    def package(self) -> str:
        """The package that must be installed for it."""
        return self.extra or self.module.partition(".")[0]

    @property
    def installed(self) -> bool:
        """Whether its package is there."""
        return find_spec(self.package) is not None

    def load(self) -> type[Any]:
        """Import the class."""
        found: type[Any] = getattr(importlib.import_module(self.module), self.class_name)
        return found

    @property
    def command(self) -> str:
        """A command that uses it."""
        data, _, rest = self.example.partition(" ")
        return f"sidelight embed {data} --method {self.name} {rest}".strip()


@dataclass(frozen=True)
class PythonOnly:
    """A public class that is not a ``--method``: the reason, and what to use instead."""

    name: str
    reason: str
    instead: str
