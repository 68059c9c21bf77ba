"""How ``given`` is read and factored out, as a value of the parameter ``conditioning``."""

from __future__ import annotations

from dataclasses import dataclass

from sidelight.base.options import short_repr

__all__ = ["Conditioning"]


@dataclass(frozen=True, repr=False)
class Conditioning:
    """How ``given`` is factored out, with the types of its columns, their bandwidths and the weight of its term.

    For the parameter ``conditioning`` of :class:`KernelInformationEmbedding`, where a name alone stands for
    ``Conditioning(name)``.

    Parameters
    ----------
    method : "auto", "balanced", "residual" or "product", default="auto"
        "balanced": the effect of ``given`` is subtracted from the data, and each row gets as many neighbours in every
        group; for ``bandwidth="perplexity"`` only. "residual": the published product of kernels, on the data with the
        effect subtracted. "product": the published product of kernels on the data itself. "auto": "balanced" with
        ``bandwidth="perplexity"``, else "residual".
    types : str, float, list or dict, default=None
        The type of each column of ``given`` ("category", "number", "ordinal", "angle" in degrees, or the period as a
        number), for all columns, one by one, or by name. None: as the entries look.
    bandwidth : float, list or dict, default=None
        Bandwidth of the kernel of ``given``: how different two entries must be to count as different, in units of the
        column (for categories, the bandwidth of a kernel on one-hot codes). None: chosen by the model, and wider if
        there are so many columns that no row would have another like it. With the multilevel solver a very narrow
        bandwidth is widened, with a warning.
    weight : float, default=1.0
        Weight of the term that penalises information about ``given`` in the embedding, relative to the information
        about the rest. 0: no such term; only the kernel is balanced. Above 1: ``given`` is removed more strongly, even
        where it is confounded with the rest.

    Examples
    --------
    >>> from sidelight import Conditioning, KernelInformationEmbedding
    >>> from sidelight.datasets import s_curve
    >>> data = s_curve(100, random_state=0)
    >>> hours = (data.X[:, 0] - data.X[:, 0].min()) * 12
    >>> model = KernelInformationEmbedding(conditioning=Conditioning(types=24.0)).fit(data.X, given=hours)
    >>> model.given_.columns[0].kind, model.conditioning_
    ('angle', 'balanced')
    """

    method: str = "auto"
    types: object = None
    bandwidth: object = None
    weight: float = 1.0

    @classmethod
    def of(cls, value: str | Conditioning) -> Conditioning:
        """Return ``value`` if it is a Conditioning, otherwise the Conditioning with that method.

        >>> Conditioning.of("product")
        Conditioning('product')
        """
        return value if isinstance(value, Conditioning) else cls(value)

    def __repr__(self) -> str:
        return short_repr(self)
