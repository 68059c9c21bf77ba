"""Data flows downwards only: a module may import from its own room and from rooms before it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import sidelight

HOME = Path(sidelight.__file__).parent
ROOT = "<sidelight itself>"
FAMILIES = (
    "information", "two_way", "relational", "mixtures", "coordinated", "spectral", "unfolding", "metrics",
    "tables",
)  # fmt: skip
FLOORS = ("base", "side", "neighbours", "rows", "kernels", "solvers", "objectives", "maps")
USES = {*FLOORS, *FAMILIES, "gated", ROOT}
BELOW: dict[str, set[str]] = {
    "base": set(),
    "side": {"base"},
    "neighbours": {"base", "side"},
    "rows": {"base"},
    "kernels": {"base", "side", "neighbours"},
    "solvers": {"base"},  # they take callables and know nothing of what those mean
    "objectives": {"base", "side", "neighbours", "rows", "kernels"},
    "maps": {*FLOORS},
    **{family: {*FLOORS} for family in FAMILIES},
    "gated": {*FLOORS},
    "datasets": USES,
    "evaluate": USES,
    "persistence": USES,
    "distributed": USES,
    "explain": USES,
    "anndata": {*USES, "explain"},
    "pipeline": {"base"},
    "plot": {*USES, "datasets", "evaluate", "persistence"},
    "report": {*USES, "datasets", "evaluate", "explain", "persistence", "plot"},
    "explorer": {*USES, "evaluate", "explain", "persistence", "plot", "report"},
    "cli": {
        *USES,
        "anndata",
        "datasets",
        "distributed",
        "evaluate",
        "explain",
        "explorer",
        "persistence",
        "plot",
        "report",
    },
}


def room_of(parts: tuple[str, ...]) -> str:
    """The room of a module, given by its path inside the package."""
    return parts[0] if parts else ROOT


def imported(tree: ast.Module, package: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Every module of ours that a file imports (also inside functions), as a path inside the package."""
    found: list[tuple[str, ...]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [tuple(alias.name.split(".")) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ("sidelight", *package)[: 2 + len(package) - node.level] if node.level else ()
            base = (*base, *(node.module.split(".") if node.module else ()))
            found += [(*base, alias.name) for alias in node.names]
    ours = [name[1:] for name in found if name[0] == "sidelight"]
    return [name if is_module(name) else name[:-1] for name in ours]


def is_module(parts: tuple[str, ...]) -> bool:
    path = HOME.joinpath(*parts)
    return path.is_dir() or path.with_suffix(".py").is_file()


def steps_upwards(source: str, parts: tuple[str, ...]) -> list[str]:
    """What a file (by its path inside the package) imports that it may not."""
    room = room_of(parts)
    allowed = {room, *BELOW[room]}
    return [
        ".".join(name) or "sidelight"
        for name in imported(ast.parse(source), parts[:-1])
        if room_of(name) not in allowed
    ]


FILES = sorted(path.relative_to(HOME) for path in HOME.rglob("*.py") if path != HOME / "__init__.py")


def test_every_room_is_known():
    assert {room_of(path.with_suffix("").parts) for path in FILES} <= set(BELOW), "a room that DESIGN does not know"


@pytest.mark.parametrize("room", sorted({path.parts[0] for path in FILES}))
def test_a_module_imports_from_its_own_room_and_from_those_before_it(room):
    steps = {
        str(path): steps_upwards((HOME / path).read_text(), path.with_suffix("").parts)
        for path in FILES
        if path.parts[0] == room
    }
    assert {path: names for path, names in steps.items() if names} == {}


@pytest.mark.parametrize(
    ("parts", "source"),
    [
        (("kernels", "field"), "from sidelight.objectives.entropy import EntropySum"),
        (("kernels", "field"), "from ..maps import weights"),
        (("objectives", "entropy"), "from sidelight.solvers import lbfgs"),
        (("solvers", "lbfgs"), "import sidelight.objectives.entropy"),
        (("solvers", "lbfgs"), "from ..kernels.profiles import profile"),
        (("neighbours", "search"), "from sidelight.kernels.profiles import profile"),
        (("maps", "weights"), "def f():\n    from sidelight import information"),
        (("maps", "frames"), "from ..report import write"),
        (("information", "embed_rows"), "from sidelight import cli"),
        (("relational", "multiple_relational_embedding"), "from sidelight.information import embed_rows"),
        (("coordinated", "_chart_search"), "from sidelight.mixtures.ppca_mixture import PPCAMixture"),
        (("gated", "_training"), "from sidelight.mixtures.ppca_mixture import PPCAMixture"),
        (("report", "_write"), "from sidelight.cli import main"),
        (("plot", "_axes"), "import sidelight.report"),
        (("base", "messages"), "from ..kernels import profiles"),
        (("kernels", "field"), "from sidelight import KernelInformationEmbedding"),
        (("maps", "two_way"), "import sidelight"),
    ],
)
def test_a_step_upwards_is_noticed(parts, source):
    assert steps_upwards(source, parts)


@pytest.mark.parametrize(
    ("parts", "source"),
    [
        (("neighbours", "graph"), "from .search import nearest"),
        (("objectives", "entropy"), "from sidelight.base.tiles import spans\nfrom .evaluation import Evaluation"),
        (("solvers", "anneal"), "from sidelight.base.messages import error_message\nimport numpy.linalg"),
        (("maps", "parzen"), "from ..base.tiles import spans"),
        (("information", "_starts"), "from sidelight.base.cost import Cost\nfrom ..maps.weights import FixedWeights"),
        (("cli", "_app"), "from sidelight import KernelInformationEmbedding\nfrom sidelight.report import write"),
    ],
)
def test_a_step_downwards_or_sideways_is_allowed(parts, source):
    assert steps_upwards(source, parts) == []
