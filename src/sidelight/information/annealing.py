"""The schedule of the penalty weight λ of an annealed fit, as a value of the parameter ``regularization``."""

from __future__ import annotations

from dataclasses import dataclass

from sidelight.base.options import OptionValue

__all__ = ["Annealing"]


@dataclass(frozen=True, repr=False)
class Annealing(OptionValue):
    """A ``regularization`` together with the schedule on which an annealed fit reaches it.

    For the parameter ``regularization`` of :class:`KernelInformationEmbedding`, :class:`JointInformationEmbedding` and
    :class:`UnsupervisedKernelRegression`, where a number alone stands for ``Annealing(number)``.

    Parameters
    ----------
    regularization : float
        The weight λ of the penalty at the end.
    start : float or None, default=None
        λ at the first stage; None: 30 times ``regularization``. The multilevel solver has no such schedule: with
        ``solver="multilevel"`` a value is refused; if "auto" chose that solver, it has no effect, with a warning.
    decay : float, default=0.5
        λ is multiplied by this from one stage to the next. With the multilevel solver, treated as ``start`` is.
    limit : float or None, default=None
        If set, the constraint ``tr C ≤ limit`` on the power of the latent points, ``tr C = Σ |z_i|² / n``, instead of
        a penalty: λ falls (not below ``regularization``) until the power reaches it, and the constrained problem is
        then solved from there. The last λ is its Lagrange multiplier. Needs ``penalty="l2"``.

    See Also
    --------
    KernelInformationEmbedding : Takes it as ``regularization``.
    UnsupervisedKernelRegression : Likewise.

    Examples
    --------
    >>> from sidelight import Annealing, KernelInformationEmbedding
    >>> from sidelight.datasets import s_curve
    >>> slow = Annealing(0.1, start=1.0, decay=0.8)
    >>> model = KernelInformationEmbedding(regularization=slow).fit(s_curve(100, random_state=0).X)
    >>> model.regularization_path_[:3]
    array([1.  , 0.8 , 0.64])
    """

    regularization: float
    start: float | None = None
    decay: float = 0.5
    limit: float | None = None
