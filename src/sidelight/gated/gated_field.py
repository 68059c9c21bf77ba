"""Fields of gated experts: one gated Boltzmann machine at every patch of images of any size (S0 5.3.1).

The product of the patches' densities is in ``_site_product.py``; the machine is :class:`GatedBoltzmannMachine`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from sidelight.base.alias import renamed_argument
from sidelight.base.capabilities import NETWORK
from sidelight.base.cost import Cost
from sidelight.base.fitting import all_or_nothing
from sidelight.base.messages import error_message
from sidelight.base.random import random_seed
from sidelight.base.types import Array, Function, RandomState
from sidelight.base.validation import check_integer

from ._costs import network_cost
from ._field_estimator import FieldEstimator, Setup
from ._field_reader import FieldFrames, FieldLayout
from ._fields import Fields, Samples, as_tensor
from ._frames import explained
from ._machine_architectures import GatedMachineArchitecture
from ._machines import GatedMachine
from ._mappings import codes_for_new_sites, given_mappings
from ._modules import one_thread
from ._objectives import Sampling, SiteObjective
from ._rules import CROPS_OF_MACHINES
from ._site_product import SiteProduct
from .gated_boltzmann_machine import GatedBoltzmannMachine

__all__ = ["GatedField"]


class GatedField(FieldEstimator[GatedMachineArchitecture, GatedMachine, GatedBoltzmannMachine]):
    """Learn transformations of images patch by patch, and apply them to images of any size.

    One :class:`GatedBoltzmannMachine` models every patch. All patches share its weights, and each has its own mapping
    units. Where patches overlap, the densities of an output are multiplied (a product of experts).

    Parameters
    ----------
    model : GatedBoltzmannMachine or None, default=None
        The patch model with its training parameters (``learning_rate``, ``max_iter``, ``cd_steps`` and so on), which
        apply to crops instead of rows. Outputs are of any type but "gaussian-learned"; levels of "multinomial" ones are
        channels. None: ``GatedBoltzmannMachine()``.
    patch_size : int or (int, int), default=5
        Height and width of a patch.
    stride : int, default=1
        Pixels from patch to patch. Images whose last patch would not end at the far edges are padded there.
    crop : int or None, default=None
        Side length of the training crops; None: three times the patch.

    Attributes
    ----------
    model_ : GatedBoltzmannMachine
        The machine used.
    parameters_ : dict of arrays
    architecture_, layout_ : frozen records
        Architecture of the fitted network, layout of its patches; ``set_params`` after the fit does not change them.
    input_frame_, output_frame_ : Frame
        Centring and scaling of channels.
    history_ : list of dict
    n_iter_ : int
    weight_decay_ : float
        The weight decay used.
    n_channels_in_, n_channels_out_ : int

    See Also
    --------
    GatedBoltzmannMachine : The model of a patch.
    Manifield : Auto-encoders of patches.

    References
    ----------
    .. [1] R. Memisevic. Non-linear latent factor models for revealing structure in high-dimensional data. PhD thesis,
           University of Toronto, 2007, section 5.3.1.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight.gated import GatedBoltzmannMachine, GatedField
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(4, 40, 40))
    >>> Y = np.concatenate([np.roll(X[:2], 1, axis=2), np.roll(X[2:], -1, axis=2)])
    >>> model = GatedBoltzmannMachine(10, learning_rate=0.03, batch_size=10, max_iter=120, random_state=0)
    >>> field = GatedField(model, patch_size=5).fit(X, Y)
    >>> new = rng.normal(size=(1, 40, 40))
    >>> moved = field.transfer(X[:1], Y[:1], new)
    >>> bool(np.corrcoef(moved.ravel(), np.roll(new, 1, axis=2).ravel())[0, 1] > 0.9)
    True
    """

    _capabilities = NETWORK.also("takes_fields", "has_transfer", "has_reconstruct", "learns_by_contrast", "has_cost")
    _rule = CROPS_OF_MACHINES

    structure = "grid"  # a constant here, a parameter in Manifield

    def __init__(
        self,
        model: GatedBoltzmannMachine | None = None,
        patch_size: int | tuple[int, int] = 5,
        *,
        stride: int = 1,
        crop: int | None = None,
    ) -> None:
        self.model = model
        self.patch_size = patch_size
        self.stride = stride
        self.crop = crop

    @all_or_nothing
    @renamed_argument("Y", "y")
    def fit(self, X: object, y: object) -> GatedField:
        """Learn the transformations from images ``X`` to ``y``: lists of (height, width[, channels]), or arrays."""
        setup = self._new_setup()
        samples = setup.reader.samples(X, y)
        frames = FieldFrames.of(samples, setup.architecture)
        parts = self._shares(setup, setup.reader.inside(samples, frames))
        trainer, seed = self._trainer(setup, frames), setup.settings.draw_seed()
        found = self._on_crops(trainer, trainer.begin(seed), setup.layout, parts, seed)
        return self._keep_fields(setup, frames, found)

    @renamed_argument("Y", "y")
    def infer(self, X: object, y: object) -> Samples:
        """Infer the mapping units (down, across, n_mapping) of each pair: the transformation at every patch."""
        inputs, outputs = self._pair(X, y)
        found = self._product(inputs)

        def one(x: Array, y: Array) -> Array:
            tensors = self._inside(x, y)
            codes = found.infer(*tensors).cpu().numpy()
            return np.asarray(codes.reshape(*found.patches.places(tensors[0]), -1))

        return self._each(inputs, one, outputs).given(bare=False)

    def apply(self, X: object, mapping: Iterable[npt.ArrayLike]) -> Samples:
        """Transform each of ``X`` by its mapping units (down, across, n_mapping), or by one row of them for all."""
        inputs = self._known("X", X)
        found = self._product(inputs)
        layout, n_mapping = self._layout(), self._architecture().n_mapping
        places = [layout.places(sample.shape) for sample in inputs.samples]
        given = given_mappings(self, mapping, places, n_mapping, layout.structure)

        def one(x: Array, z: Array) -> Array:
            (tensor,) = self._inside(x)
            codes = torch.as_tensor(np.ascontiguousarray(z.reshape(-1, z.shape[-1]))).to(tensor)
            return self._outside(found.apply(tensor, codes), x)

        return self._each(inputs, one, given).given(bare=self.bare_)

    @renamed_argument("Y", "y")
    def transfer(self, X: object, y: object, X_new: object, *, n_steps: int = 0) -> Samples:
        """Apply the transformation of ``X`` to ``y`` to ``X_new``, site by site; a single pair is used for all.

        For an image larger than the pair, the pair's mapping units are repeated from the start. ``n_steps``: steps of
        ``reconstruct`` afterwards, which reconcile overlapping patches.
        """
        codes, new = list(self.infer(X, y)), self._known("X_new", X_new)
        found = self.apply(
            X_new, codes_for_new_sites(self, codes, [self._layout().places(s.shape) for s in new.samples])
        )
        return self.reconstruct(X_new, found, n_steps=n_steps) if n_steps else found

    @renamed_argument("Y", "y")
    def reconstruct(
        self, X: object, y: object, *, n_steps: int = 1, sampled: bool = False, random_state: RandomState = None
    ) -> Samples:
        """Reconstruct ``y`` from its mapping units, ``n_steps`` times in a row.

        To generate an output without a pair, pass ``y=X`` and some hundred steps. ``sampled``: the steps draw samples,
        the last one takes means; ``random_state=None`` uses the model's own, so repeated calls agree.
        """
        check_integer(self, "n_steps", n_steps, 1)
        inputs, outputs = self._pair(X, y)
        found = self._product(inputs)
        seed = random_seed(random_state, self.model_.random_state) if sampled else 0
        generator = torch.Generator(device=self._device()).manual_seed(seed)

        def one(x: Array, y: Array) -> Array:
            tensor, state = self._inside(x, y)
            for step in range(n_steps):
                means = not sampled or step == n_steps - 1
                state = found.step(tensor, state, mean_field=means, generator=generator)
            return self._outside(state, x)

        return self._each(inputs, one, outputs).given(bare=self.bare_)

    @renamed_argument("Y", "y")
    def score(self, X: object, y: object) -> float:
        """R² of the reconstruction of ``y``, pooled over columns (1 is best)."""
        truth = self._pair(X, y)[1].sites()
        found = self._fitted_reader().fields("y", self.reconstruct(X, y)).sites()
        return explained(truth, found)

    def estimate_cost(self, n: int, d: int, e: int | None = None) -> Cost:
        """Estimate memory and time of a fit to ``n`` pixels with ``d`` and ``e`` (None: ``d``) channels."""
        setup, layout = self._new_setup(), self._new_layout()
        inputs, outputs = layout.area * d, layout.area * (d if e is None else e)
        side = 3 * max(layout.height, layout.width) if self.crop is None else self.crop
        crop = ((side - layout.height) // layout.stride + 1) * ((side - layout.width) // layout.stride + 1)
        settings = replace(setup.settings, optimizer="adam")
        options = {"n": n, "rows": settings.batch_size * crop, "folded": 2 * outputs * setup.architecture.n_mapping}
        return network_cost(setup.architecture, settings, (inputs, outputs), **options)

    def _objective(self, setup: Setup[GatedMachineArchitecture, GatedBoltzmannMachine]) -> SiteObjective:
        model = setup.model
        sampling = Sampling(model.cd_steps, model.negatives, model.persistent)
        return SiteObjective(setup.architecture, sampling, setup.layout.patches, setup.settings.batch_size)

    def _check_parameters(self) -> None:
        model: object = self._given_model()
        if not isinstance(model, GatedBoltzmannMachine):
            rule = "is not a GatedBoltzmannMachine"
            raise ValueError(error_message(self, "model", model, rule, "Give one, not fitted"))
        model._check_parameters()
        if model.visible == "gaussian-learned":
            rule = "has a standard deviation for each pixel of a patch, and overlapping patches share pixels"
            remedy = 'Choose "gaussian", "binary", "poisson" or "multinomial"'
            raise ValueError(error_message(self, "model.visible", model.visible, rule, remedy))
        if model.persistent:
            rule = "is not available for crops, which are drawn anew for every batch"
            raise ValueError(error_message(self, "model.persistent", True, rule, "Leave it out"))
        sides = self._sides()
        for side in sides:
            check_integer(self, "patch_size", side, 1)
        check_integer(self, "stride", self.stride, 1)
        if self.stride > min(sides):
            rule = f"leaves sites between patches of {self.patch_size}"
            raise ValueError(error_message(self, "stride", self.stride, rule, "Give at most the patch's side"))
        if self.crop is not None:
            check_integer(self, "crop", self.crop, max(sides))

    def _given_model(self) -> GatedBoltzmannMachine:
        return GatedBoltzmannMachine() if self.model is None else self.model

    def _is_conditional(self) -> bool:
        return True

    def _sides(self) -> tuple[int, int]:
        size = self.patch_size
        return (size[0], size[1]) if isinstance(size, tuple | list) else (size, size)

    def _new_layout(self) -> FieldLayout:
        height, width = self._sides()
        return FieldLayout(int(height), int(width), int(self.stride), self.structure, residual=False)

    def _product(self, inputs: Fields) -> SiteProduct:
        return SiteProduct(self._module(inputs.samples[0].dtype), self._layout().patches)

    def _each(self, inputs: Fields, one: Function[Array], *others: Fields) -> Fields:
        with one_thread():
            return inputs.changed(one, *others)

    def _inside(self, *samples: Array) -> list[Tensor]:
        """An input (and output, if given), centred and scaled, padded so that the last patch ends at the edge."""
        frames = (self.input_frame_, self.output_frame_)
        dtype = samples[0].dtype
        tensors = [
            as_tensor(frame.inside(sample).astype(dtype)).to(self._device())
            for frame, sample in zip(frames, samples, strict=False)
        ]
        patches, shape = self._layout().patches, samples[0].shape
        down, across = -(shape[0] - patches.height) % patches.stride, -(shape[1] - patches.width) % patches.stride
        return [functional.pad(part, (0, across, 0, down), mode="replicate") for part in tensors]

    def _outside(self, found: Tensor, like: Array) -> Array:
        height, width = like.shape[:2]
        rows = np.moveaxis(found[0, :, :height, :width].cpu().numpy(), 0, 2)
        return np.asarray(self.output_frame_.outside(rows).astype(like.dtype))

    def _pair(self, X: object, Y: object) -> tuple[Fields, Fields]:
        inputs, reader = self._known("X", X), self._fitted_reader()
        outputs = reader.with_channels("y", reader.like("y", Y, inputs), self.n_channels_out_)
        return inputs, reader.checked("y", outputs)
