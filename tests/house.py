"""The shape of the package in numbers, for docs/decisions/0019-the-house.md: ``python tests/house.py [SRC]``.

SRC is the folder of the package (default: this repository's src/sidelight), so that an older checkout can be measured
with the same rules.
"""

from __future__ import annotations

import ast
import io
import json
import re
import statistics
import subprocess
import sys
import tokenize
from pathlib import Path

HERE = Path(__file__).resolve().parents[1] / "src" / "sidelight"
FAMILIES = (
    "information", "two_way", "relational", "mixtures", "coordinated", "spectral", "unfolding", "metrics", "gated",
)  # fmt: skip
FIT = """
import json, sys, threading
import numpy as np
sys.path.insert(0, sys.argv[1])
import sidelight
from sidelight import KernelInformationEmbedding
home = sidelight.__path__[0]
X = np.random.default_rng(0).normal(size=(150, 5))
g = np.arange(150) % 3
model = KernelInformationEmbedding(max_iter=3, n_jobs=1)
import warnings; warnings.simplefilter("ignore")
model.fit(X, given=g)  # imports
seen, deepest, depth = set(), 0, 0
def look(frame, event, arg):
    global deepest, depth
    if not frame.f_code.co_filename.startswith(home):
        return
    if event == "call":
        depth += 1
        deepest = max(deepest, depth)
        seen.add((frame.f_code.co_filename, frame.f_code.co_qualname))
    elif event == "return":
        depth -= 1
sys.setprofile(look)
model.fit(X, given=g)
sys.setprofile(None)
ours = lambda kind: [c.__name__ for c in kind.__mro__ if c.__module__.startswith("sidelight")]
print(json.dumps({
    "modules of KernelInformationEmbedding.fit": len({f for f, _ in seen}),
    "functions of it": len(seen),
    "depth of it": deepest,
    "its own classes in the MRO": len(ours(KernelInformationEmbedding)),
    "its constructor parameters": len(KernelInformationEmbedding().get_params()),
}))
"""


def main() -> None:
    home = Path(sys.argv[1] if len(sys.argv) > 1 else HERE).resolve()
    files = {path: path.read_text(encoding="utf-8") for path in sorted(home.rglob("*.py"))}
    trees = {path: ast.parse(text) for path, text in files.items()}
    functions = [node for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    lines = [len(text.splitlines()) for text in files.values()]
    lengths = [node.end_lineno - node.lineno + 1 for node in functions]
    upper = [path for path in files if path.relative_to(home).parts[0] in ("cli", "report", "plot")]
    family = [path for path in files if path.relative_to(home).parts[0] in FAMILIES]
    total = sum(lines)
    numbers = {
        "files at the root of the package": len(list(home.glob("*.py"))),
        "files": len(files),
        "lines": total,
        "functions that are handed an estimator as Any": sum(takes_any(node, ("model",)) for node in functions),
        "methods with self: Any": sum(takes_any(node, ("self",)) for node in functions),
        "explicit Any": sum(map(explicit_any, trees.values())),
        "of these in the families": sum(explicit_any(trees[path]) for path in family),
        "functions that set attributes on an argument": sum(map(sets_on_argument, functions)),
        "getattr and hasattr": sum(len(re.findall(r"\b(?:get|has)attr\(", text)) for text in files.values()),
        "of these in cli, report and plot": sum(len(re.findall(r"\b(?:get|has)attr\(", files[p])) for p in upper),
        "raise NotImplementedError": sum(text.count("raise NotImplementedError") for text in files.values()),
        "median and longest file": f"{statistics.median(lines):.0f}, {max(lines)}",
        "median and longest function": f"{statistics.median(lengths):.0f}, {max(lengths)}",
        "share of docstrings in the lines": f"{100 * sum(map(docstring_lines, trees.values())) / total:.1f} %",
        "share of comments in the lines": f"{100 * sum(map(comments, files.values())) / total:.1f} %",
    }
    out = subprocess.run([sys.executable, "-c", FIT, str(home.parent)], capture_output=True, text=True, check=True)
    numbers |= json.loads(out.stdout.splitlines()[-1])
    width = max(map(len, numbers))
    for name, value in numbers.items():
        print(f"{name:<{width}}  {value}")


def takes_any(node: ast.FunctionDef, names: tuple[str, ...]) -> bool:
    """Whether an argument of one of the names is declared as Any."""
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return any(a.arg in names and a.annotation is not None and ast.unparse(a.annotation) == "Any" for a in arguments)


def explicit_any(tree: ast.Module) -> int:
    """How often a file writes ``Any``, imports not counted."""
    return sum(isinstance(node, ast.Name) and node.id == "Any" for node in ast.walk(tree))


def sets_on_argument(node: ast.FunctionDef) -> bool:
    """Whether the function assigns to an attribute of one of its arguments other than self."""
    arguments = {a.arg for a in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]} - {"self", "cls"}
    targets = [
        target
        for statement in ast.walk(node)
        if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign)
        for target in (statement.targets if isinstance(statement, ast.Assign) else [statement.target])
    ]
    parts = [part for target in targets for part in ast.walk(target)]
    return any(
        isinstance(part, ast.Attribute)
        and isinstance(part.ctx, ast.Store)
        and isinstance(part.value, ast.Name)
        and part.value.id in arguments
        for part in parts
    )


def docstring_lines(tree: ast.Module) -> int:
    """Lines of the docstrings of a file."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    first = [node.body[0] for node in ast.walk(tree) if isinstance(node, kinds) and node.body]
    return sum(
        node.end_lineno - node.lineno + 1
        for node in first
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    )


def comments(text: str) -> int:
    """Lines with a comment."""
    return sum(token.type == tokenize.COMMENT for token in tokenize.generate_tokens(io.StringIO(text).readline))


if __name__ == "__main__":
    main()
