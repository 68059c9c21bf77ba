"""Truncated decomposition of sparse counts beside scikit-learn's TruncatedSVD: seconds and memory (decision 0027).

    python -m benchmarks.sparse_rows 20000 5000 0.05

Each runs in a process of its own, on one matrix of made-up counts (30 kinds of rows, negative binomial), so that the
peak of memory is its own. ``ours`` centres the columns, and so does PCA of scikit-learn with a sparse matrix (arpack:
the exact solution); TruncatedSVD does not. ``ProbabilisticPCA`` has 50 components and finds them exactly, too; the
mixtures have ten charts (decision 0028). Theirs is the log density, not the variance. ``informed map`` is the whole of
``KernelInformationEmbedding().fit(X, given=batch)``, with three batches in which the rates of columns differ; its
number is the share of the 15 nearest rows on the map that are of the row's kind (5,000 rows).
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np
from scipy import sparse

METHODS = (
    "nothing", "ours", "TruncatedSVD", "PCA", "ProbabilisticPCA", "PPCAMixture", "BernoulliMixture", "informed map",
)  # fmt: skip
_BATCHES = 3


def counts(n: int, d: int, density: float, factors: Any = None) -> tuple[Any, Any]:
    """Counts of 30 kinds of rows, of about the density asked for, made a block of rows at a time, and their kinds.

    ``factors`` (batches, d): of the rates in batches, to which rows belong in turns.
    """
    rng = np.random.default_rng(0)
    rates = rng.gamma(0.3, size=(30, d)).astype(np.float32)
    rates /= rates.mean(axis=1, keepdims=True)
    blocks, kinds = [], []
    for start in range(0, n, 1000):
        kind = rng.integers(30, size=min(1000, n - start))
        depth = rng.gamma(4.0, density / 2.2, size=(len(kind), 1)).astype(np.float32)
        mean = rates[kind] * depth
        if factors is not None:
            mean *= factors[np.arange(start, start + len(kind)) % len(factors)]
        blocks.append(sparse.csr_matrix(rng.poisson(mean).astype(np.float32)))
        kinds.append(kind)
    return sparse.vstack(blocks, format="csr"), np.concatenate(kinds)


def kept_kinds(Z: Any, kinds: Any) -> float:
    """Share of the 15 nearest rows of a map (n, q) that are of the row's kind, over 5,000 rows at most."""
    from sklearn.neighbors import NearestNeighbors

    asked = np.linspace(0, len(Z) - 1, min(len(Z), 5000)).astype(int)
    near = NearestNeighbors(n_neighbors=16).fit(Z).kneighbors(Z[asked], return_distance=False)[:, 1:]
    return float((kinds[near] == kinds[asked][:, None]).mean())


def run(method: str, n: int, d: int, density: float) -> None:
    """Print seconds of processor time, peak of memory in MB, and the squared norm that 50 directions explain."""
    from sklearn.decomposition import PCA, TruncatedSVD

    from sidelight.maps.truncated import truncated_basis

    factors = None
    if method == "informed map":
        factors = np.exp(0.3 * np.random.default_rng(1).normal(size=(_BATCHES, d))).astype(np.float32)
    X, kinds = counts(n, d, density, factors)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    began, explained = time.process_time(), 0.0
    if method == "ours":
        found = truncated_basis(X, 50, n_jobs=1)
        seconds = time.process_time() - began
        explained = float(np.square(found.scores(X)).sum() / n)
    elif method in ("ProbabilisticPCA", "PPCAMixture", "BernoulliMixture"):
        import sidelight

        options = {"n_components": 50} if method == "ProbabilisticPCA" else {"n_charts": 10}
        options |= {"n_components": 2} if method == "PPCAMixture" else {}
        estimator = getattr(sidelight, method)(n_jobs=1, **options).fit(X)
        seconds = time.process_time() - began
        explained = float(estimator.score(X))
        if method == "ProbabilisticPCA":
            explained = float(estimator.explained_variance_.sum())
    elif method == "informed map":
        import sidelight

        embedding = sidelight.KernelInformationEmbedding(n_jobs=1).fit(X, given=np.arange(n) % _BATCHES).embedding_
        seconds = time.process_time() - began
        explained = kept_kinds(np.asarray(embedding), kinds)
    elif method != "nothing":
        model = {"TruncatedSVD": TruncatedSVD, "PCA": PCA}[method]
        options = {"svd_solver": "arpack"} if method == "PCA" else {}
        fitted = model(50, random_state=0, **options).fit(X)
        seconds = time.process_time() - began
        explained = float(fitted.explained_variance_.sum())
    else:
        seconds = 0.0
    what = "kinds kept" if method == "informed map" else "explained variance"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{method}: {seconds:.1f} s, peak {peak:.0f} MB (matrix {before:.0f} MB), {what} {explained:.4f}, ")
    print(f"  {X.shape} with {X.nnz / np.prod(X.shape):.1%}", flush=True)


def main() -> None:
    """Run every method in a process of its own."""
    if len(sys.argv) == 5:
        run(sys.argv[4], int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
        return
    for method in METHODS:
        subprocess.run([sys.executable, "-m", "benchmarks.sparse_rows", *sys.argv[1:4], method], check=True)


if __name__ == "__main__":
    main()
