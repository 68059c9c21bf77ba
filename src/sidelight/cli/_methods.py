"""The methods that ``sidelight embed --method`` knows: ours, scikit-learn's, and others that are installed."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from sidelight.base.alias import current_names
from sidelight.base.capabilities import Capabilities, declared

from ._output import CommandError

__all__ = ["DEFAULT", "JOINT", "METHODS", "RELATIONAL", "Method", "check_takes", "make", "parse_settings"]

DEFAULT = "kie"
JOINT = "joint"
RELATIONAL = "relational"

_TAKES: dict[str, Callable[[Capabilities], bool]] = {
    "given": lambda offers: offers.takes_given,
    "same": lambda offers: offers.takes_pairs,
    "relations": lambda offers: offers.takes_relations,
    "y": lambda offers: offers.takes_second_view,
}
"""What the command line tells a model beside the rows, as an argument of ``fit``."""


@dataclass(frozen=True)
class Method:
    """One way to embed; a class is imported only when it is asked for."""

    name: str
    module: str
    class_name: str
    summary: str
    fixed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def library(self) -> str:
        """Where the method comes from."""
        known = {"sidelight": "Sidelight", "sklearn": "scikit-learn"}
        top = self.module.partition(".")[0]
        return known.get(top, top)

    @property
    def installed(self) -> bool:
        """Whether its library is there."""
        return find_spec(self.module.partition(".")[0]) is not None

    def load(self) -> type[Any]:
        """Import the class."""
        found: type[Any] = getattr(importlib.import_module(self.module), self.class_name)
        return found


_ALL = (
    Method("kie", "sidelight", "KernelInformationEmbedding", "Kernel information embedding: smooth, two-way"),
    Method(
        "joint", "sidelight", "JointInformationEmbedding", "What two views share (--view-y), and one from the other"
    ),
    Method("hybrid", "sidelight", "HybridEmbedding", "Distances and neighbours at once, in closed form"),
    Method("semidefinite", "sidelight", "SemidefiniteEmbedding", "Rows pulled apart as far as neighbours allow"),
    Method("ppca", "sidelight", "ProbabilisticPCA", "Principal components as a density"),
    Method("coordinated", "sidelight", "CoordinatedMixture", "Many small planes glued to one map; any number of rows"),
    Method("coordinated-cca", "sidelight", "CoordinatedCCA", "What two views share (--view-y), from planes in each"),
    Method(
        "relational",
        "sidelight",
        "MultipleRelationalEmbedding",
        "Several relations (--relation), an axis for each",
    ),
    Method("pca", "sklearn.decomposition", "PCA", "Principal components: the widest linear shadow"),
    Method("whitening", "sklearn.decomposition", "PCA", "Principal components at unit variance", {"whiten": True}),
    Method("factor-analysis", "sklearn.decomposition", "FactorAnalysis", "Linear factors, noise per column"),
    Method("ica", "sklearn.decomposition", "FastICA", "Independent components", {"whiten": "unit-variance"}),
    Method(
        "kernel-pca",
        "sklearn.decomposition",
        "KernelPCA",
        "Principal components after a kernel",
        {"kernel": "rbf"},
    ),
    Method("dictionary-learning", "sklearn.decomposition", "DictionaryLearning", "Sparse codes over a dictionary"),
    Method("isomap", "sklearn.manifold", "Isomap", "Distances along the sheet"),
    Method("lle", "sklearn.manifold", "LocallyLinearEmbedding", "Locally linear embedding"),
    Method("spectral", "sklearn.manifold", "SpectralEmbedding", "Laplacian eigenmaps"),
    Method("mds", "sklearn.manifold", "MDS", "Multidimensional scaling", {"n_init": 1, "init": "classical_mds"}),
    Method("tsne", "sklearn.manifold", "TSNE", "t-SNE: neighbours at the price of distances"),
    Method("umap", "umap", "UMAP", "UMAP: a fuzzy graph of neighbours", {"n_jobs": 1}),
    Method("opentsne", "openTSNE.sklearn", "TSNE", "t-SNE, fast"),
)
METHODS: dict[str, Method] = {method.name: method for method in _ALL}


def parse_settings(pairs: Sequence[str]) -> dict[str, Any]:
    """Read ``name=value`` pairs; a value is a Python literal where it looks like one, and text otherwise.

    Examples
    --------
    >>> parse_settings(["perplexity=50", "init=random", "shape=(2, 3)"])
    {'perplexity': 50, 'init': 'random', 'shape': (2, 3)}
    """
    settings = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name.strip().isidentifier():
            raise CommandError(f"--set {pair}: write it as name=value, for example --set perplexity=50")
        try:
            settings[name.strip()] = ast.literal_eval(text.strip())
        except (ValueError, SyntaxError):
            settings[name.strip()] = text.strip()
    return settings


def make(
    name: str,
    *,
    dims: int,
    seed: int,
    settings: Mapping[str, Any],
    given_types: Mapping[str, Any] | None = None,
    callback: Any = None,
) -> Any:
    """Return the unfitted estimator of a method; one that is not ours is made two-way."""
    method = METHODS.get(name)
    if method is None:
        raise CommandError(f"--method {name}: no such method; choose from {', '.join(METHODS)}")
    if not method.installed:
        raise CommandError(f"--method {name}: needs the package {method.library}, which is not installed")
    kind = method.load()
    known = set(inspect.signature(kind).parameters)
    former = current_names(kind)
    settings = {former.get(key, key): value for key, value in settings.items()}
    _check_settings(name, settings, known)
    automatic = {"n_components": dims, "random_state": seed, "callback": callback, "given_types": given_types or None}
    automatic |= method.fixed
    chosen = {key: value for key, value in automatic.items() if key in known}
    estimator = kind(**(chosen | dict(settings)))
    if method.library == "Sidelight":
        return estimator
    from sidelight import TwoWayEmbedding

    return TwoWayEmbedding(estimator)


def check_takes(name: str, argument: str, option: str) -> None:
    """Complain when a method cannot use what it is told beside the rows."""
    ours = {method.name: declared(method.load()) for method in METHODS.values() if method.library == "Sidelight"}
    able = [own for own, offers in ours.items() if _TAKES[argument](offers)]
    if name not in able:
        raise CommandError(f"{option}: the method {name} cannot use it; use --method {' or '.join(able)}")


def _check_settings(name: str, settings: Mapping[str, Any], known: set[str]) -> None:
    own = {"n_components": "--dims", "random_state": "--seed", "callback": "no option", "given_types": "--given-type"}
    for key in settings:
        if key in own:
            raise CommandError(f"--set {key}: use {own[key]} for this")
        if key not in known:
            offered = ", ".join(sorted(known - set(own) - {"kwargs", "args"}))
            raise CommandError(f"--set {key}: {name} has no such setting; it has {offered}")
