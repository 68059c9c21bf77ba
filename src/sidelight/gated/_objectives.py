r"""Training objectives as values: the loss of a network on a batch, and the validation loss on held-out rows.

auto-encoders       Σ_r weight_r error(reading_r, target)                           (``PredictionObjective``)
fields of them      the same for averages of overlapping patches, and for patches alone   (``PatchObjective``)
machines            the surrogate of contrastive divergence; held-out rows by squared reconstruction error
                    (``RestrictedObjective``, ``GatedObjective``, and at every site ``SiteObjective``)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import torch
from torch import Tensor, nn

from sidelight.base.messages import error_message
from sidelight.base.types import Array
from sidelight.base.validation import check_choice, check_integer

from ._architecture import Architecture
from ._batches import Batch
from ._divergence import contrast, phases
from ._gradients import has_closed_form, set_gradients
from ._machine_architectures import GatedMachineArchitecture, RestrictedArchitecture
from ._machines import Conditioned, GatedMachine, PlainMachine
from ._network_architectures import WeightedOutputs
from ._networks import error
from ._patches import Patches
from ._site_product import SiteProduct
from ._training import several

__all__ = [
    "GatedObjective",
    "Objective",
    "PatchObjective",
    "PredictionObjective",
    "RestrictedObjective",
    "Sampling",
    "SiteObjective",
]


Module = TypeVar("Module", bound=nn.Module)
Gradient = Callable[[Batch, torch.Generator, bool], Tensor | None]
"""Sets the gradients for a batch; returns the loss if the last argument says so, else None."""
_SETTLE = 0.5  # share of updates with a falling learning rate; without it Gaussian outputs keep oscillating under Adam


class Objective(Protocol[Module]):
    """The interface between a trainer and the model that it trains."""

    @property
    def architecture(self) -> Architecture[Module]:
        """The network."""
        ...

    @property
    def decay_share(self) -> float:
        """Share of the updates, at the end, in which the learning rate falls to 0."""
        ...

    def loss(self, module: Module, batch: Batch, generator: torch.Generator) -> Tensor:
        """The training loss of a batch, a scalar."""
        ...

    def held_out_loss(self, module: Module, batch: Batch) -> Tensor:
        """The validation loss of held-out rows, a scalar (lower is better)."""
        ...

    def gradient(self, module: Module) -> Gradient | None:
        """A function that sets the gradients, faster than back-propagation; None: there is none."""
        ...

    def check_stream(self, owner: str) -> None:
        """Raise an error for options that need all rows in advance."""
        ...

    def prepare(self, owner: str, module: Module, opening: Sequence[Array]) -> None:
        """Initialise a new module for training on a stream whose first rows are ``opening``."""
        ...


@dataclass(frozen=True)
class PredictionObjective(Generic[Module]):
    """Weighted errors of raw outputs against the target: the outputs, or the rows themselves if there are none.

    ``more``: an additional loss term that does not depend on the batch, and is not part of the validation loss.
    """

    architecture: Architecture[Module]
    weighted_outputs: Callable[[Module, Batch], WeightedOutputs]
    more: Callable[[Module, Batch, torch.Generator], Tensor] | None = None
    decay_share: float = 0.0

    def loss(self, module: Module, batch: Batch, generator: torch.Generator) -> Tensor:
        """Σ weight · error."""
        total = self.held_out_loss(module, batch)
        return total if self.more is None else total + self.more(module, batch, generator)

    def held_out_loss(self, module: Module, batch: Batch) -> Tensor:
        """Σ weight · error."""
        target, values = target_of(batch), self.architecture.values
        parts = [
            weight * error(values.kind, raw, target, values.levels)
            for weight, raw in self.weighted_outputs(module, batch)
        ]
        return torch.stack(parts).sum()

    def gradient(self, module: Module) -> None:
        """By back-propagation."""

    def check_stream(self, owner: str) -> None:
        """Streams are allowed."""

    def prepare(self, owner: str, module: Module, opening: Sequence[Array]) -> None:
        """Nothing is needed."""


def target_of(batch: Batch) -> Tensor:
    """The target of a batch: the outputs, or the rows themselves."""
    return batch[min(1, len(batch) - 1)]


@dataclass(frozen=True)
class PatchObjective(Generic[Module]):
    """Loss of averaged outputs and, with weight ``alone``, of single patches, for fields (n, channels, h, w)."""

    rows: PredictionObjective[Module]
    patches: Patches
    alone: float
    decay_share: float = 0.0

    @property
    def architecture(self) -> Architecture[Module]:
        """That of the patch model."""
        return self.rows.architecture

    def loss(self, module: Module, batch: Batch, generator: torch.Generator) -> Tensor:
        """The same as ``held_out_loss``: nothing is random."""
        del generator
        return self.held_out_loss(module, batch)

    def held_out_loss(self, module: Module, batch: Batch) -> Tensor:
        """Σ weight · ((1 - alone) · error of averages + alone · error of patches)."""
        target, loss = target_of(batch), self.architecture.values.kind
        rows = tuple(self.patches.rows(part) for part in batch)
        n, shape = len(target), (int(target.shape[2]), int(target.shape[3]))
        total = target.new_zeros(())
        for weight, raw in self.rows.weighted_outputs(module, rows):
            together = error(loss, self.patches.averaged(raw, n, shape), target)
            each = error(loss, raw, target_of(rows))
            total = total + weight * ((1 - self.alone) * together + self.alone * each)
        return total

    def of_groups(self, module: Module, groups: list[Batch]) -> Tensor:
        """The loss over all sites of fields of several sizes; each group holds fields of one size."""
        sites = [float(group[0][:, 0].numel()) for group in groups]
        parts = [
            self.held_out_loss(module, group) * (size / sum(sites)) for group, size in zip(groups, sites, strict=True)
        ]
        return torch.stack(parts).sum()

    def gradient(self, module: Module) -> None:
        """By back-propagation."""

    def check_stream(self, owner: str) -> None:
        """Streams are allowed."""

    def prepare(self, owner: str, module: Module, opening: Sequence[Array]) -> None:
        """Nothing is needed."""


@dataclass(frozen=True)
class Sampling:
    """How negative states are sampled: ``cd_steps``, ``negatives`` and ``persistent`` of the constructor."""

    cd_steps: int
    negatives: str
    persistent: bool

    @classmethod
    def checked(cls, owner: str, cd_steps: int, negatives: str, persistent: bool) -> Sampling:
        """Check constructor parameters."""
        check_integer(owner, "cd_steps", cd_steps, 1)
        check_choice(owner, "negatives", negatives, ("mean-field", "sampled"))
        return cls(cd_steps, negatives, persistent)

    @property
    def is_mean_field(self) -> bool:
        """Whether steps take means instead of samples."""
        return self.negatives == "mean-field"

    def contrast(
        self, machine: Conditioned, y: Tensor, generator: torch.Generator, chains: Tensor | None, rows: object = ...
    ) -> Tensor:
        """The surrogate loss; persistent ``chains``, if any, are continued in place (``rows``: those of the batch)."""
        start = None if chains is None else chains[rows]
        mean_field = self.is_mean_field and chains is None
        surrogate, fantasy = contrast(
            machine, y, steps=self.cd_steps, mean_field=mean_field, start=start, generator=generator
        )
        if chains is not None:
            chains[rows] = fantasy
        return surrogate

    def gradients(
        self,
        module: PlainMachine | GatedMachine,
        y: Tensor,
        generator: torch.Generator,
        *inputs: Tensor,
        valued: bool = True,
    ) -> Tensor | None:
        """Set the gradients of the surrogate in closed form; ``inputs``: x, row numbers. Return it if ``valued``."""
        x, rows = (inputs[0] if inputs else None), (inputs[1] if len(inputs) > 1 else ...)
        chains = module.chains
        with torch.no_grad():
            machine = module.condition() if isinstance(module, PlainMachine) else module.condition(inputs[0])
            start, mean_field = (None, self.is_mean_field) if chains is None else (chains[rows], False)
            data, model = phases(
                machine, y, steps=self.cd_steps, mean_field=mean_field, start=start, generator=generator
            )
            if chains is not None:
                chains[rows] = model[0]
            return set_gradients(module, machine, x, data, model, valued=valued)

    def begin_chains(self, owner: str, module: PlainMachine | GatedMachine, start: Array) -> None:
        """If chains are persistent, start them at the scaled rows ``start`` (m, j)."""
        if not self.persistent:
            return
        if several():
            rule = "keeps chains, which several processes cannot share"
            raise ValueError(error_message(owner, "persistent", True, rule, "Use one process, or persistent=False"))
        module.chains = torch.tensor(start).to(next(module.parameters()))


@dataclass(frozen=True)
class RestrictedObjective:
    """Contrastive divergence of rows; as many persistent chains as a batch has rows (``n_chains``)."""

    architecture: RestrictedArchitecture
    sampling: Sampling
    n_chains: int
    decay_share: float = _SETTLE

    def loss(self, module: PlainMachine, batch: Batch, generator: torch.Generator) -> Tensor:
        """The surrogate loss of contrastive divergence."""
        return self.sampling.contrast(module.condition(), batch[0], generator, module.chains)

    def held_out_loss(self, module: PlainMachine, batch: Batch) -> Tensor:
        """Squared error of the reconstruction."""
        return ((module.condition().reconstruct(batch[0]) - batch[0]) ** 2).sum(dim=1).mean()

    def gradient(self, module: PlainMachine) -> Gradient | None:
        """In closed form, unless standard deviations are learned."""
        if not has_closed_form(module):
            return None
        return lambda batch, generator, valued: self.sampling.gradients(module, batch[0], generator, valued=valued)

    def check_stream(self, owner: str) -> None:
        """Streams are allowed."""

    def prepare(self, owner: str, module: PlainMachine, opening: Sequence[Array]) -> None:
        """Persistent chains start at the first rows."""
        self.sampling.begin_chains(owner, module, opening[0][: self.n_chains])


@dataclass(frozen=True)
class GatedObjective:
    """Contrastive divergence of outputs given inputs; a persistent chain for each training row."""

    architecture: GatedMachineArchitecture
    sampling: Sampling
    decay_share: float = _SETTLE

    def loss(self, module: GatedMachine, batch: Batch, generator: torch.Generator) -> Tensor:
        """The surrogate loss; the third item of a batch, if any, holds its row numbers."""
        x, y, *rows = batch
        return self.sampling.contrast(module.condition(x), y, generator, module.chains, *rows)

    def held_out_loss(self, module: GatedMachine, batch: Batch) -> Tensor:
        """Squared error of the reconstruction."""
        x, y = batch[:2]
        return ((module.condition(x).reconstruct(y) - y) ** 2).sum(dim=1).mean()

    def gradient(self, module: GatedMachine) -> Gradient | None:
        """In closed form for the full tensor, without premapping and learned standard deviations."""
        if not has_closed_form(module):
            return None

        def found(batch: Batch, generator: torch.Generator, valued: bool) -> Tensor | None:
            return self.sampling.gradients(module, batch[1], generator, batch[0], *batch[2:], valued=valued)

        return found

    def check_stream(self, owner: str) -> None:
        """Persistent chains need all rows in advance: there is one for each."""
        if self.sampling.persistent:
            rule = "keeps a chain for each training row, and streamed batches have none"
            raise ValueError(error_message(owner, "persistent", True, rule, "Use fit, or persistent=False"))

    def prepare(self, owner: str, module: GatedMachine, opening: Sequence[Array]) -> None:
        """Nothing is needed: a stream has no chains."""


@dataclass(frozen=True)
class SiteObjective:
    """Contrastive divergence of a product of patches; held-out crops are evaluated ``batch_size`` at a time."""

    architecture: GatedMachineArchitecture
    sampling: Sampling
    patches: Patches
    batch_size: int
    decay_share: float = _SETTLE

    def loss(self, module: GatedMachine, batch: Batch, generator: torch.Generator) -> Tensor:
        """The surrogate, a mean over patches."""
        x, y = batch
        steps, mean_field = self.sampling.cd_steps, self.sampling.is_mean_field
        return SiteProduct(module, self.patches).contrast(x, y, steps=steps, mean_field=mean_field, generator=generator)

    def held_out_loss(self, module: GatedMachine, batch: Batch) -> Tensor:
        """Mean squared error of the reconstruction per site."""
        product, size = SiteProduct(module, self.patches), self.batch_size
        found = [product.reconstruct(x, y) for x, y in zip(*(part.split(size) for part in batch), strict=True)]
        return ((torch.cat(found) - batch[1]) ** 2).sum(dim=1).mean()

    def gradient(self, module: GatedMachine) -> Gradient | None:
        """In closed form for the full tensor, without premapping."""
        if not has_closed_form(module):
            return None
        product, steps, mean_field = (
            SiteProduct(module, self.patches),
            self.sampling.cd_steps,
            self.sampling.is_mean_field,
        )

        def found(batch: Batch, generator: torch.Generator, valued: bool) -> Tensor | None:
            return product.gradients(*batch, steps=steps, mean_field=mean_field, generator=generator, valued=valued)

        return found

    def check_stream(self, owner: str) -> None:
        """Streams are allowed."""

    def prepare(self, owner: str, module: GatedMachine, opening: Sequence[Array]) -> None:
        """Nothing is needed."""
