r"""One gated machine at every patch of an image: shared weights, separate hidden units for each patch (S0 5.3.1).

    S(y, z; x) = Σ_s S_s(y^s, z^s; x^s)                                    a product of the patches' densities (S0 5.16)
    p(z^s | x, y): each patch by itself;     p(y | x, z): natural parameters of the patches that cover a site, added

Biases and the h(y) of a patch are in S_s like the rest, so c patches over a site mean

    binary, Poisson, multinomial    η = Σ_s η^s
    Gaussian                        mean ν Σ_s η^s / c,   variance ν² / c

The 1/y! of a count is no part of S_s but of the measure that the product is a density for (as in S0 5.13), so it counts
once. Multinomial outputs have their levels in the channels of a site.
With one patch it is the machine itself. Training uses crops; inference uses whole images, in bands of patches.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ._gradients import States, set_gradients
from ._machines import Conditioned, GatedMachine
from ._patches import Patches, bands
from ._units import GaussianUnits, MultinomialUnits

__all__ = ["SiteProduct"]

Span = tuple[int, int]
_FILTERS = 1 << 22  # numbers of the input-dependent filters of one band


@dataclass(frozen=True)
class SiteProduct:
    """The machine and the layout of its patches. Images are tensors (n, channels, height, width)."""

    machine: GatedMachine
    patches: Patches

    def contrast(
        self, x: Tensor, y: Tensor, *, steps: int, mean_field: bool, generator: torch.Generator | None = None
    ) -> Tensor:
        """The surrogate loss of contrastive divergence (see ``_divergence.py``), a mean over patches."""
        machine = self.machine.condition(self.patches.rows(x))
        data, model = self._phases(machine, y, steps, mean_field, generator)
        return machine.contrast(*data, *model)

    def gradients(
        self,
        x: Tensor,
        y: Tensor,
        *,
        steps: int,
        mean_field: bool,
        generator: torch.Generator | None = None,
        valued: bool = True,
    ) -> Tensor | None:
        """Set the gradients of the same loss in closed form (see ``_gradients.py``); return its value if ``valued``."""
        with torch.no_grad():
            rows = self.patches.rows(x)
            machine = self.machine.condition(rows)
            states = self._phases(machine, y, steps, mean_field, generator)
            return set_gradients(self.machine, machine, rows, *states, valued=valued)

    def _phases(
        self, machine: Conditioned, y: Tensor, steps: int, mean_field: bool, generator: torch.Generator | None
    ) -> tuple[States, States]:
        """Visible and hidden states of all patches, of the data and of the model."""
        seen = self.patches.rows(y)
        with torch.no_grad():
            positive = machine.hidden.mean(machine.hidden_parameters(seen))
            fantasy = seen
            for _ in range(steps):
                fantasy = self.patches.rows(self._again(machine, fantasy, y, mean_field, generator))
            negative = machine.hidden.mean(machine.hidden_parameters(fantasy))
        return (seen, positive), (fantasy, negative)

    def reconstruct(self, x: Tensor, y: Tensor) -> Tensor:
        """Mean outputs (n, ·, h, w) of crops, given the means of their hidden units."""
        return self._again(self.machine.condition(self.patches.rows(x)), self.patches.rows(y), y, True, None)

    def _again(
        self, machine: Conditioned, seen: Tensor, like: Tensor, mean_field: bool, generator: torch.Generator | None
    ) -> Tensor:
        """Outputs, of the size of ``like``, after one Gibbs step from the output patches ``seen``."""
        z = self._codes(machine, seen, mean_field, generator)
        total = self.patches.summed(machine.visible_parameters(z), len(like), (like.shape[2], like.shape[3]))
        return self._outputs(total, mean_field, generator)

    def infer(self, x: Tensor, y: Tensor) -> Tensor:
        """Means of the hidden units (places, k) of one picture (1, ·, h, w) and its output."""
        return torch.cat([self._codes(self._band(x, span), self._rows(y, span), True, None) for span in self._spans(x)])

    def apply(self, x: Tensor, z: Tensor) -> Tensor:
        """The mean output (1, ·, h, w) of one picture, given hidden units (places, k)."""
        total, begin = self._empty(x), 0
        for span in self._spans(x):
            rows = self._rows(x, span)
            self._add(total, self.machine.condition(rows).visible_parameters(z[begin : begin + len(rows)]), span)
            begin += len(rows)
        return self._outputs(total, True, None)

    def step(self, x: Tensor, y: Tensor, *, mean_field: bool, generator: torch.Generator | None = None) -> Tensor:
        """One Gibbs step (z given y, then y given z) of one image."""
        total = self._empty(x)
        for span in self._spans(x):
            band = self._band(x, span)
            z = self._codes(band, self._rows(y, span), mean_field, generator)
            self._add(total, band.visible_parameters(z), span)
        return self._outputs(total, mean_field, generator)

    def _spans(self, x: Tensor) -> list[Span]:
        """Bands of rows of an image, whose patches are processed together."""
        filters = self.machine.visible.size * self.machine.hidden.size * self.patches.places(x)[1]
        return bands(x.shape[2], self.patches.height, max(1, _FILTERS // filters), self.patches.stride)

    def _rows(self, field: Tensor, span: Span) -> Tensor:
        return self.patches.rows(field[:, :, span[0] : span[1]])

    def _band(self, x: Tensor, span: Span) -> Conditioned:
        return self.machine.condition(self._rows(x, span))

    def _codes(self, machine: Conditioned, y: Tensor, mean_field: bool, generator: torch.Generator | None) -> Tensor:
        eta = machine.hidden_parameters(y)
        return machine.hidden.mean(eta) if mean_field else machine.hidden.sample(eta, generator)

    def _empty(self, x: Tensor) -> Tensor:
        channels = self.machine.visible.size // (self.patches.height * self.patches.width)
        return x.new_zeros(1, channels, x.shape[2], x.shape[3])

    def _add(self, total: Tensor, eta: Tensor, span: Span) -> None:
        begin, end = span
        total[:, :, begin:end] += self.patches.summed(eta, 1, (end - begin, total.shape[3]))

    def _outputs(self, total: Tensor, mean_field: bool, generator: torch.Generator | None) -> Tensor:
        """Outputs of summed natural parameters: means or samples."""
        visible = self.machine.visible
        if isinstance(visible, MultinomialUnits):
            return _at_sites(visible, total, mean_field, generator)
        if not isinstance(visible, GaussianUnits):
            return visible.mean(total) if mean_field else visible.sample(total, generator)
        counts = self.patches.counts((total.shape[2], total.shape[3]), total)
        mean = visible.mean(total / counts)
        if mean_field:
            return mean
        noise = torch.randn(total.shape, generator=generator, dtype=total.dtype, device=total.device)
        return mean + noise * visible.scale / counts.sqrt()


def _at_sites(visible: MultinomialUnits, total: Tensor, mean_field: bool, generator: torch.Generator | None) -> Tensor:
    """Means or samples (n, channels, h, w) of one-hot groups of channels, from natural parameters of that shape."""
    channels = total.shape[1]
    own = MultinomialUnits(channels, levels=min(visible.levels, channels))  # None means one group: all channels
    rows = total.movedim(1, 3)
    eta = rows.reshape(-1, channels)
    drawn = own.mean(eta) if mean_field else own.sample(eta, generator)
    return drawn.reshape(rows.shape).movedim(3, 1).contiguous()
