"""Data kernels with one bandwidth, of low rank or sparse, beside the dense kernel they stand for (the rival).

agreement  value and gradient of H(X, Z) against dense pairs of the *same* low-rank kernel: ≤ 1e-6 and 1e-5
maps       digits, and MNIST in 50 principal columns, at bandwidths relative to the mean squared distance of two rows
           (leave-one-out's is 0.004 to 0.007 there): what "auto" would take, forced at so few rows; the dense
           objective at both maps, what is left after one is moved onto the other (Procrustes: 0 is the same map),
           shared neighbours, and processor seconds. A dense fit of rows moved by a thousandth is there too, as some
           maps are no better determined than that
many       20,000 digits, for which "auto" is not dense: processor seconds and memory of a fit, in a process of its own;
           an evaluation beside the dense one, on the same map

Seconds are those of the processor, all threads together.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import procrustes
from sklearn.decomposition import PCA

from benchmarks.harness import Report, Timing, fresh_process, peak_memory
from sidelight import Annealing, KernelInformationEmbedding, KernelOptions, datasets
from sidelight.base.tiles import one_blas_thread
from sidelight.evaluate import trustworthiness
from sidelight.kernels.data_kernel import fixed_kernel
from sidelight.kernels.matrices import SymmetricTiles
from sidelight.kernels.profiles import GAUSSIAN
from sidelight.neighbours.search import nearest
from sidelight.objectives.entropy import Entropy, EntropySum, information
from sidelight.objectives.penalties import Stretch

TITLE = "data kernels of low rank and sparse ones beside the dense kernel, two threads"
RIVALS = ()
_NEIGHBOURS = 15
_BANDWIDTHS = ((0.02, "sparse"), (0.3, "low_rank"), (1.0, "low_rank"))
_LAMBDA = 0.1
_FIT = """
import time, numpy as np
from benchmarks.low_rank import model
X = np.load({path!r})
began = time.process_time()
found = model(X, {relative}).fit(X)
seconds = time.process_time() - began
"""


def rows(name: str, n: int) -> Any:
    """The first ``n`` digits: 64 pixels, or MNIST's in 50 principal columns of the 60,000."""
    if name == "digits":
        return datasets.load_digits().X[:n].astype(np.float64)
    X = datasets.load_mnist().X.astype(np.float64)
    return PCA(50, svd_solver="covariance_eigh").fit_transform(X)[:n]


def bandwidth(X: Any, relative: float) -> float:
    """So many times the mean squared distance of two rows."""
    return relative * 2.0 * float(X.var(axis=0).sum())


def model(
    X: Any, relative: float, form: str = "auto", *, start: float | None = None, **options: Any
) -> KernelInformationEmbedding:
    """The estimator with that bandwidth and form, and the annealing from ``start``."""
    return KernelInformationEmbedding(
        bandwidth=bandwidth(X, relative),
        kernel=KernelOptions(storage=form),
        regularization=Annealing(_LAMBDA, start),
        **options,
    )


def run(*, quick: bool) -> Report:
    report = Report()
    _agreement(report, rows("digits", 600 if quick else 1797))
    sets = {"digits": 400} if quick else {"digits": 1797, "mnist": 5000}
    for name, n in sets.items():
        X = rows(name, n)
        for relative, form in _BANDWIDTHS[: 3 if name == "digits" else 2]:
            _maps(report, f"{name} {n:,}, bandwidth {relative:g}", X, relative, form)
    if not quick:
        _many(report, 20_000, 0.5)
    return report


@one_blas_thread
def _agreement(report: Report, X: Any) -> None:
    kernel = fixed_kernel(X, bandwidth(X, 0.3), GAUSSIAN, form="low_rank").matrix
    Z = PCA(2).fit_transform(X)
    Z *= 10.0 / np.ptp(Z)
    same = SymmetricTiles.from_dense(kernel.to_dense(), np.float64)
    exact = EntropySum([Entropy("H(X,Z)", 1.0, (same,))], GAUSSIAN, dtype=np.float64).value_and_grad(Z)
    found = EntropySum([Entropy("H(X,Z)", 1.0, (kernel,))], GAUSSIAN).value_and_grad(Z)
    what = f"digits {len(X):,}, {kernel.factors.shape[1]} factors"
    report.at_most(f"{what}: value's error, relative", abs(found.value / exact.value - 1), 1e-6)
    error = np.linalg.norm(found.gradient - exact.gradient) / np.linalg.norm(exact.gradient)
    report.at_most(f"{what}: gradient's error, relative", float(error), 1e-5)


def _maps(report: Report, what: str, X: Any, relative: float, form: str) -> None:
    moved = X + 1e-3 * X.std() * np.random.default_rng(0).standard_normal(X.shape)
    found, seconds = {}, {}
    for name, kind, fitted in (("dense", "dense", X), (form, form, X), ("moved", "dense", moved)):
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found[name] = model(X, relative, kind).fit(fitted)
        seconds[name] = time.process_time() - began
    objective = _dense_objective(X, relative)
    maps = {name: fit.embedding_ for name, fit in found.items()}
    values = {name: objective(Z) for name, Z in maps.items()}
    error = found[form].kernel_error_["row_sum"]
    report.at_most(f"{what}, {form}: error of the row sums", error, 0.01)
    dense = {"rival": values["dense"], "rival_name": "dense"}
    report.note(f"{what}, {form}: dense objective at its map", values[form], **dense)
    left, again = (float(procrustes(maps["dense"], maps[name])[2]) for name in (form, "moved"))
    report.note(f"{what}, {form}: Procrustes from the dense map", left, rival=again, rival_name="dense, rows moved")
    also = {"rival": _shared(maps["dense"], maps["moved"]), "rival_name": "dense, rows moved"}
    report.note(f"{what}, {form}: neighbours shared with it", _shared(maps["dense"], maps[form]), **also)
    trusted = {name: float(trustworthiness(X, Z, n_neighbors=_NEIGHBOURS)) for name, Z in maps.items()}
    report.note(f"{what}, {form}: trustworthiness", trusted[form], rival=trusted["dense"], rival_name="dense")
    ours, rival = (Timing((seconds[name],)) for name in (form, "dense"))
    report.faster(f"{what}, {form}: processor seconds", ours, rival, "dense")
    report.details.setdefault("errors", {})[what] = found[form].kernel_error_
    report.details.setdefault("iterations", {})[what] = {name: fit.n_iter_ for name, fit in found.items()}


@one_blas_thread
def _dense_objective(X: Any, relative: float) -> Any:
    K = fixed_kernel(X, bandwidth(X, relative), GAUSSIAN).matrix
    entropies, penalty = EntropySum(information(K), GAUSSIAN), Stretch(K)
    return lambda Z: entropies.value_and_grad(Z).value + _LAMBDA * penalty.value_and_grad(Z).value


def _shared(A: Any, B: Any) -> float:
    """The share of each row's nearest rows that two maps have in common."""
    first, second = (nearest(np.asarray(Z, dtype=np.float64), k=_NEIGHBOURS).index for Z in (A, B))
    return float(np.mean([np.isin(a, b).mean() for a, b in zip(first, second, strict=True)]))


def _many(report: Report, n: int, relative: float) -> None:
    X = rows("mnist", n)
    line = "print(seconds, found.n_iter_, found.kernel_error_['row_sum'], found.data_kernel_)"
    setup = "import numpy as np; from benchmarks.low_rank import model; X = np.load({path!r})"
    short = f"model(X, {relative}, start={_LAMBDA}, max_iter=3).fit(X)"
    with tempfile.TemporaryDirectory() as folder:  # making the rows takes more memory than the fit
        path = str(Path(folder) / "rows.npy")
        np.save(path, X)
        found = fresh_process(_FIT.format(path=path, relative=relative) + line).split()[-4:]
        peak = peak_memory(setup.format(path=path), short)
    seconds, iterations, error, form = found
    what = f"MNIST {n:,}, bandwidth {relative:g}, {form}"
    said = {form: model(X, relative, form).estimate_cost(*X.shape) for form in ("low_rank", "dense")}
    report.at_most(f"{what}: error of the row sums", float(error), 0.02)
    rival = {"rival": said["dense"].seconds, "rival_name": "dense, estimated"}
    report.note(f"{what}: processor seconds of a fit, {iterations} iterations", float(seconds), unit="s", **rival)
    rival = {"rival": said["dense"].bytes / 2**20, "rival_name": "dense, estimated"}
    report.at_most(f"{what}: peak memory", peak / 2**20, said["low_rank"].bytes / 2**19, unit="MiB", **rival)
    _evaluations(report, what, X, relative)


@one_blas_thread
def _evaluations(report: Report, what: str, X: Any, relative: float) -> None:
    """Value and gradient on a plane as wide as the map."""
    Z = PCA(2).fit_transform(X)
    Z *= 11.0 / np.ptp(Z, axis=0).max()
    taken = {}
    for form in ("low_rank", "dense"):
        kernel = fixed_kernel(X, bandwidth(X, relative), GAUSSIAN, form=form)
        objective = EntropySum(information(kernel.matrix), GAUSSIAN)
        repeats = []
        for _ in range(3):
            began = time.process_time()
            objective.value_and_grad(Z)
            repeats.append(time.process_time() - began)
        taken[form] = Timing(tuple(repeats))
        del objective, kernel
    report.faster(f"{what}: an evaluation, processor seconds", taken["low_rank"], taken["dense"], "dense")
