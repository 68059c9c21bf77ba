"""Parameters of a kernel information embedding, grouped into small frozen values that its helpers take."""

from __future__ import annotations

from dataclasses import dataclass

from sidelight.base.messages import error_message
from sidelight.base.options import argument_name
from sidelight.base.types import Array, RandomState
from sidelight.base.validation import check_choice, check_integer, check_number
from sidelight.kernels.profiles import LATENT_PROFILES
from sidelight.objectives.penalties import PENALTIES

from .conditioning import Conditioning
from .missing import Missing

__all__ = ["GivenSettings", "KernelSettings", "LatentSettings", "check_learned", "check_missing"]


CONDITIONINGS = ("auto", "balanced", "residual", "product")


@dataclass(frozen=True)
class KernelSettings:
    """Parameters of the data kernel.

    ``owner`` is the name of the estimator, for messages. ``profile`` and ``form`` are profile and storage of its
    parameter ``kernel``. ``multilevel``: whether the kernel is for the multilevel solver, whose neighbour lists have
    length ``perplexity`` and an effective perplexity of half of it. ``argument``: what messages call the profile.
    ``columns``: as in ``KernelOptions``.
    """

    owner: str
    bandwidth: str | float
    perplexity: float
    n_neighbors: int | None
    metric: str
    profile: str
    form: str
    multilevel: bool
    n_jobs: int | None
    argument: str = "kernel"
    columns: str = "auto"

    def check(self) -> None:
        """Raise ValueError for values out of range, and for a profile or form that the bandwidth does not allow."""
        owner, bandwidth = self.owner, self.bandwidth
        if isinstance(bandwidth, str):
            check_choice(owner, "bandwidth", bandwidth, ("perplexity", "loo", "learned"))
        else:
            check_number(owner, "bandwidth", bandwidth, 0.0)
        check_number(owner, "perplexity", self.perplexity, 1.0)
        if self.n_neighbors is not None:
            check_integer(owner, "n_neighbors", self.n_neighbors, 1)
        check_choice(owner, "metric", self.metric, ("euclidean", "cosine", "precomputed"))
        check_choice(owner, self.argument, self.profile, LATENT_PROFILES)
        if self.profile != "gaussian" and self.adaptive:
            rule = f"is for a kernel with one bandwidth, and with bandwidth={bandwidth!r} it is Gaussian"
            remedy = "Give a number or 'loo' as bandwidth, or leave kernel as it is by default"
            raise ValueError(error_message(owner, self.argument, self.profile, rule, remedy))
        check_choice(owner, "kernel.storage", self.form, ("auto", "dense", "sparse", "low_rank"))
        check_choice(owner, "kernel.columns", self.columns, ("auto", "all"))
        if self.form != "auto":
            self._check_form()

    def _check_form(self) -> None:
        if self.adaptive:
            rule = "is for a kernel with one bandwidth"
            remedy = "Give a number or 'loo' as bandwidth, or leave kernel.storage as it is by default"
        elif self.precomputed and self.form != "dense":
            rule, remedy = "saves nothing where X is a matrix of all pairs", "Use storage='auto'"
        elif self.profile == "quartic" and self.form == "low_rank":
            rule = "needs a kernel without negative eigenvalues, and a quartic one has some"
            remedy = "Use profile='gaussian' or 'student'"
        else:
            return
        raise ValueError(error_message(self.owner, "kernel.storage", self.form, rule, remedy))

    @property
    def adaptive(self) -> bool:
        """Whether each row has its own bandwidth (with a learned bandwidth: only in the initial kernel)."""
        return self.bandwidth in ("perplexity", "learned")

    @property
    def precomputed(self) -> bool:
        """Whether X holds distances instead of rows."""
        return self.metric == "precomputed"


@dataclass(frozen=True)
class LatentSettings:
    """Parameters of the latent space: dimensions, kernel profile, penalty, initial points.

    ``init`` is a name or an array (n, q) of initial latent points.
    """

    n_components: int
    kernel: str
    penalty: str
    init: str | Array
    random_state: RandomState

    def check(self, owner: str, *, kernels: tuple[str, ...], starts: tuple[str, ...]) -> None:
        """Raise ValueError for values outside the options; an array ``init`` is checked later, against the rows."""
        check_integer(owner, "n_components", self.n_components, 1)
        check_choice(owner, "latent_kernel", self.kernel, kernels)
        check_choice(owner, "penalty", self.penalty, PENALTIES)
        if isinstance(self.init, str):
            check_choice(owner, "init", self.init, starts)


@dataclass(frozen=True)
class GivenSettings:
    """Parameters of how ``given`` is read and factored out.

    ``conditioning`` is "balanced", "residual" or "product"; ``weight``, ``bandwidth``, ``types`` and ``kernel`` are as
    in ``Conditioning``. ``argument``: what messages call the conditioning.
    """

    conditioning: str
    weight: float
    bandwidth: object
    types: object = None
    kernel: object = None
    argument: str = "conditioning"

    @classmethod
    def of(cls, conditioning: str | Conditioning, bandwidth: str | float) -> GivenSettings:
        """The parameter ``conditioning``, with the method "auto" resolved for the ``bandwidth`` of the data kernel."""
        options = Conditioning.of(conditioning)
        method = options.method
        if isinstance(method, str) and method == "auto":
            method = "balanced" if bandwidth == "perplexity" else "residual"
        argument = argument_name("conditioning", conditioning, Conditioning, "method")
        return cls(method, options.weight, options.bandwidth, options.types, options.kernel, argument)

    def check(self, owner: str) -> None:
        """Raise ValueError for an unknown conditioning and a weight out of range."""
        check_choice(owner, self.argument, self.conditioning, CONDITIONINGS)
        if self.weight != 0:
            check_number(owner, "conditioning.weight", self.weight, 0.0)


def check_learned(kernel: KernelSettings, latent_kernel: str, *, given: bool) -> None:
    """Raise ValueError where a bandwidth cannot be learned: other latent kernels, distances, or with ``given``."""
    if kernel.bandwidth != "learned":
        return
    if latent_kernel not in ("auto", "gaussian") or kernel.precomputed:
        rule, remedy = "needs rows and a Gaussian latent kernel", "Use latent_kernel='gaussian' and no distances"
        raise ValueError(error_message(kernel.owner, "bandwidth", "learned", rule, remedy))
    if given:
        rule, remedy = "does not know how to factor given out", "Use bandwidth='perplexity', or leave given out"
        raise ValueError(error_message(kernel.owner, "bandwidth", "learned", rule, remedy))


def check_missing(kernel: KernelSettings, missing: str | Missing) -> None:
    """Raise ValueError for an unknown or inapplicable treatment of missing entries."""
    owner, options = kernel.owner, Missing.of(missing)
    options.check(owner, argument_name("missing", missing, Missing, "method"))
    if options.fills and kernel.precomputed:
        rule = "needs rows, not precomputed distances"
        raise ValueError(error_message(owner, "missing", options.method, rule, 'Use missing="refuse"'))
    if options.method == "expected":
        _check_expected(kernel)


def _check_expected(kernel: KernelSettings) -> None:
    """Raise ValueError where the expectation of the kernel has no closed form."""
    if kernel.metric == "cosine":
        rule = "has no closed form for metric='cosine', which divides by the length of rows with unknown entries"
    elif kernel.bandwidth == "learned":
        rule = "does not go with bandwidth='learned'"
    elif kernel.profile != "gaussian":
        rule = f"needs a Gaussian kernel, and this one is {kernel.profile}"
    elif kernel.form not in ("auto", "dense"):
        rule = f"needs a dense kernel, and storage is {kernel.form!r}"
    else:
        return
    raise ValueError(error_message(kernel.owner, "missing", "expected", rule, "Use missing='impute'"))
