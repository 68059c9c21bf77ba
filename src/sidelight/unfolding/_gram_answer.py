"""Post-processing of a solved Gram program, for both unfolding methods: axes, spectrum, certificate, warnings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from sidelight.base.messages import error_message
from sidelight.base.progress import ProgressBar, combine_callbacks
from sidelight.base.result import Callback, Status
from sidelight.base.types import Array, NamedValues
from sidelight.base.warnings import warn
from sidelight.solvers.eigen import factor_spectrum, steady_signs
from sidelight.solvers.semidefinite import Certificate, GramResult

__all__ = ["GramSpectrum", "SolverReport", "gram_spectrum", "report_of", "shown_progress", "warn_unless_converged"]


_EMPTY = 1e-8  # of the trace: axes with smaller eigenvalues are dropped


@dataclass(frozen=True)
class SolverReport:
    """``history_``, ``n_iter_`` and ``certificate_`` of a fit."""

    history: list[NamedValues]
    n_iter: int
    certificate: NamedValues


@dataclass(frozen=True)
class GramSpectrum:
    """Principal axes of points with Gram matrix K, in units of the data.

    Parameters
    ----------
    axes : array of shape (n, r)
        Coordinates along the axes, widest first.
    eigenvalues : array of shape (k,)
        Of K, largest first.
    explained : array of shape (k,)
        Eigenvalues as shares of their sum.
    """

    axes: Array
    eigenvalues: Array
    explained: Array


def shown_progress(
    owner: str, verbose: int, callback: Callback | None, solve: Callable[[Callback | None], GramResult]
) -> GramResult:
    """Run ``solve(callback)`` with the user's callback and, if ``verbose``, a progress bar."""
    bar = ProgressBar(owner) if verbose else None
    found = solve(combine_callbacks(bar, callback))
    if bar is not None:
        bar.close(f"{found.status.value}, {found.n_iter} iterations")
    return found


def report_of(found: GramResult | None, unit: float) -> SolverReport:
    """Summarise a solve for the fitted attributes; ``found=None``: all rows were equal, and nothing was solved."""
    if found is None:
        return SolverReport([], 1, vars(Certificate(0.0, 0.0, 0.0, 0.0, 0.0)))
    certificate = {**vars(found.certificate), "bound": found.certificate.bound * unit * unit}
    return SolverReport([vars(record) for record in found.history], max(1, found.n_iter), certificate)


def warn_unless_converged(owner: str, max_iter: int, found: GramResult, remedy: str) -> None:
    """Warn (ConvergenceWarning) if the solver ended before it converged, with the violation and gap it reached."""
    if found.status in (Status.ITERATIONS, Status.STALLED):
        state = f"violation {found.certificate.feasibility:.1e}, certified gap {found.certificate.gap:.1e}"
        why = f"it {found.status.value}" if not found.trouble else found.trouble
        rule = f"did not let the program converge: {why} ({state})"
        warn(error_message(owner, "max_iter", max_iter, rule, remedy), ConvergenceWarning)


def gram_spectrum(V: Array, unit: float, *, n_components: int | None = None) -> GramSpectrum:
    """Rotate a factor V of K = V Vᵀ to its principal axes.

    Parameters
    ----------
    V : array of shape (n, r)
        K = V Vᵀ.
    unit : float
        Length of one unit of V, in units of the data.
    n_components : int or None, default=None
        Number of axes to return, padded with zeros. None: the axes of non-zero variance, and only their eigenvalues.
    """
    values, Z = factor_spectrum(V)
    if n_components is None:
        used = np.maximum(values > _EMPTY * float(values.sum()), np.arange(len(values)) == 0)
        axes, values = steady_signs(Z[:, used]), values[used]
    else:
        axes = np.zeros((len(V), n_components))
        width = min(n_components, Z.shape[1])
        axes[:, :width] = steady_signs(Z[:, :width])
    return GramSpectrum(axes * unit, values * unit * unit, values / (float(values.sum()) or 1.0))
