"""Fields of gated experts: one gated machine at every site of pictures of any size (S0 5.3.1).

The product of patches stands in ``site_product.py``; the machine is that of :class:`GatedBoltzmannMachine`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn
from torch.nn import functional

from sidelight._interrupted import all_or_nothing
from sidelight._messages import complain
from sidelight._validation import check_integer

from ._boltzmann_model import BoltzmannModel
from ._field_model import FieldModel, of_model
from ._fields import Fields, as_tensor, crops
from ._gated_boltzmann_machine import GatedBoltzmannMachine
from ._torch_model import Stream, one_thread
from .batches import Batch
from .patches import Patches
from .site_product import SiteProduct

__all__ = ["GatedField"]

Array = npt.NDArray[Any]


class GatedField(FieldModel, BoltzmannModel):
    """Learn what was done to pictures, patch by patch, and do it to others of any size.

    One :class:`GatedBoltzmannMachine` looks at every patch. Weights are shared by all sites, mapping units are not;
    where patches overlap, what they say of an output is a product of densities.

    Parameters
    ----------
    model : GatedBoltzmannMachine or None, default=None
        The machine, and how to train: its ``learning_rate``, ``max_iter``, ``cd_steps`` and so on are used, with crops
        for rows. Outputs are "gaussian" or "binary". None: ``GatedBoltzmannMachine()``.
    patch_size : int or (int, int), default=5
        Height and width of a patch.
    stride : int, default=1
        Sites from patch to patch. Pictures that do not end with a patch are continued at their far edges.
    crop : int or None, default=None
        Side of the crops that batches are made of; None: three times the patch.

    Attributes
    ----------
    model_ : GatedBoltzmannMachine
        The machine that was used.
    parameters_ : dict of arrays
    input_frame_, output_frame_ : Frame
        How channels are moved and scaled first.
    history_ : list of dict
    n_iter_ : int
    n_channels_in_, n_channels_out_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight.gated import GatedBoltzmannMachine, GatedField
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(4, 40, 40))
    >>> Y = np.concatenate([np.roll(X[:2], 1, axis=2), np.roll(X[2:], -1, axis=2)])
    >>> model = GatedBoltzmannMachine(10, learning_rate=0.03, batch_size=10, max_iter=250, random_state=0)
    >>> field = GatedField(model, patch_size=5).fit(X, Y)
    >>> new = rng.normal(size=(1, 40, 40))
    >>> moved = field.transfer(X[:1], Y[:1], new)
    >>> bool(np.corrcoef(moved.ravel(), np.roll(new, 1, axis=2).ravel())[0, 1] > 0.9)
    True
    """

    visible: Any = of_model("visible")
    levels: Any = of_model("levels")
    cd_steps: Any = of_model("cd_steps")
    negatives: Any = of_model("negatives")
    persistent: Any = of_model("persistent")

    def __init__(
        self,
        model: Any = None,
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
    def fit(self, X: Any, Y: Any) -> GatedField:
        """Learn how pictures ``X`` become ``Y``: lists of (height, width[, channels]), or arrays of equal ones."""
        self._check_parameters()
        self.model_ = clone(self._patch_model(fitted=False))
        inputs = self._fields("X", X)
        outputs = self._like("Y", Y, inputs)
        self.n_channels_in_, self.n_channels_out_, self.bare_ = inputs.channels, outputs.channels, outputs.bare
        self._checked_values(outputs.sites(), "Y")
        sites = inputs.sites()
        unit = bool(sites.min() >= 0 and sites.max() <= 1)
        self.input_frame_ = inputs.frame(scaled=self._real or not unit)
        self.output_frame_ = outputs.frame(scaled=self._real)
        seed, place, size = self._seed(), self._place(), self._crop(inputs)
        kinds = [inputs.changed(self.input_frame_.inside), outputs.changed(self.output_frame_.inside)]
        stream = Stream(lambda done: crops(kinds, size, self.batch_size, seed, place, done=done))
        self._train(self._initial(seed), stream, seed)
        return self

    def infer(self, X: Any, Y: Any) -> Any:
        """Mapping units (down, across, n_mapping) of each pair: which change it was, at every place of a patch."""
        inputs, outputs = self._pair(X, Y)
        found = self._product(inputs)

        def one(x: Array, y: Array) -> Array:
            tensors = self._inside(x, y)
            codes = found.infer(*tensors).cpu().numpy()
            return np.asarray(codes.reshape(*found.patches.places(tensors[0]), -1))

        return self._each(inputs, one, outputs).given(bare=False)

    def apply(self, X: Any, mapping: Any) -> Any:
        """Change each of ``X`` by mapping units (down, across, n_mapping) of each, or one row of them for all sites."""
        inputs = self._known("X", X)
        found = self._product(inputs)
        given = self._mappings(mapping, inputs)

        def one(x: Array, z: Array) -> Array:
            (tensor,) = self._inside(x)
            codes = torch.as_tensor(np.ascontiguousarray(z.reshape(-1, z.shape[-1]))).to(tensor)
            return self._outside(found.apply(tensor, codes), x)

        return self._each(inputs, one, given).given(bare=self.bare_)

    def transfer(self, X: Any, Y: Any, X_new: Any, *, n_steps: int = 0) -> Any:
        """Do to each of ``X_new`` what was done from ``X`` to ``Y``, site by site; of one pair, for all.

        A picture larger than the pair takes the pair's sites again from the start. ``n_steps``: steps of
        ``reconstruct`` afterwards, in which sites come to terms with their neighbours.
        """
        codes, new = list(self.infer(X, Y)), self._known("X_new", X_new)
        if len(codes) not in (1, len(new.samples)):
            rule = f"does not match the {len(new.samples)} pictures of X_new"
            raise ValueError(complain(self, "X", f"{len(codes)} pairs", rule, "Give one pair, or one for each"))
        codes = codes * len(new.samples) if len(codes) == 1 else codes
        wrapped = [_repeated(z, self._places(s.shape)) for z, s in zip(codes, new.samples, strict=True)]
        found = self.apply(X_new, wrapped)
        return self.reconstruct(X_new, found, n_steps=n_steps) if n_steps else found

    def reconstruct(self, X: Any, Y: Any, *, n_steps: int = 1, sampled: bool = False, random_state: Any = None) -> Any:
        """``Y`` as the model sees it through its mapping units; more steps go on from there.

        Where it is not known what an output looks like, ``Y=X`` and some hundred steps make one. ``sampled``: the
        steps draw samples, the last one takes means.
        """
        check_integer(self, "n_steps", n_steps, 1)
        inputs, outputs = self._pair(X, Y)
        found = self._product(inputs)
        seed = int(check_random_state(random_state).randint(2**31 - 1)) if sampled else 0
        generator = torch.Generator(device=self.device).manual_seed(seed)

        def one(x: Array, y: Array) -> Array:
            tensor, state = self._inside(x, y)
            for step in range(n_steps):
                means = not sampled or step == n_steps - 1
                state = found.step(tensor, state, mean_field=means, generator=generator)
            return self._outside(state, x)

        return self._each(inputs, one, outputs).given(bare=self.bare_)

    def score(self, X: Any, Y: Any) -> float:
        """Share of the variance of ``Y`` that the reconstruction explains (1 is best)."""
        truth = self._pair(X, Y)[1].sites()
        found = self._fields("Y", self.reconstruct(X, Y)).sites()
        spread = ((truth - truth.mean(axis=0)) ** 2).sum()
        return float(1 - ((found - truth) ** 2).sum() / (spread or 1.0))

    def _build(self) -> nn.Module:
        area = self._patches().height * self._patches().width
        model = self.model_
        model.n_features_in_, model.n_outputs_ = area * self.n_channels_in_, area * self.n_channels_out_
        return model._build()

    def _loss(self, module: Any, batch: Batch, generator: torch.Generator) -> Tensor:
        x, y = batch
        mean_field = self.negatives == "mean-field"
        product = SiteProduct(module, self._patches())
        return product.contrast(x, y, steps=self.cd_steps, mean_field=mean_field, generator=generator)

    def _check_parameters(self) -> None:
        model = self._patch_model(fitted=False)
        if not isinstance(model, GatedBoltzmannMachine):
            rule = "is not a GatedBoltzmannMachine"
            raise ValueError(complain(self, "model", model, rule, "Give one, not fitted"))
        model._check_parameters()
        if model.visible not in ("gaussian", "binary"):
            rule = "is not one that overlapping patches can share"
            raise ValueError(complain(self, "model.visible", model.visible, rule, 'Choose "gaussian" or "binary"'))
        for name in ("persistent", "validation_fraction"):
            if getattr(model, name):
                rule = "is not for crops, which are drawn anew for every batch"
                raise ValueError(complain(self, f"model.{name}", getattr(model, name), rule, "Leave it out"))
        for side in (self._patches().height, self._patches().width):
            check_integer(self, "patch_size", side, 1)
        check_integer(self, "stride", self.stride, 1)
        if self.stride > min(self._patches().height, self._patches().width):
            rule = f"leaves sites between patches of {self.patch_size}"
            raise ValueError(complain(self, "stride", self.stride, rule, "Give at most the patch's side"))
        if self.crop is not None:
            check_integer(self, "crop", self.crop, max(self._patches().height, self._patches().width))

    def _default_model(self) -> Any:
        return GatedBoltzmannMachine()

    def _patches(self) -> Patches:
        size = self.patch_size
        return Patches(*(size if isinstance(size, tuple | list) else (size, size)), self.stride)

    def _crop(self, fields: Fields) -> tuple[int, int]:
        """Size of a crop: what was asked for, as far as the smallest picture goes, ending with a patch."""
        patches, smallest = self._patches(), np.array(fields.shapes).min(axis=0)
        sides = (patches.height, patches.width)
        wanted = [min(self.crop or 3 * side, int(limit)) for side, limit in zip(sides, smallest, strict=True)]
        height, width = (w - (w - side) % self.stride for w, side in zip(wanted, sides, strict=True))
        return height, width

    def _product(self, inputs: Fields) -> SiteProduct:
        return SiteProduct(self._module(inputs.samples[0].dtype), self._patches())

    def _each(self, inputs: Fields, one: Any, *others: Fields) -> Fields:
        with one_thread():
            return inputs.changed(one, *others)

    def _inside(self, *samples: Array) -> list[Tensor]:
        """An input, and an output where it is given, in their frames, continued so that they end with a patch."""
        frames = (self.input_frame_, self.output_frame_)
        dtype = samples[0].dtype
        tensors = [
            as_tensor(frame.inside(sample).astype(dtype)).to(self.device)
            for frame, sample in zip(frames, samples, strict=False)
        ]
        down, across = ((-part) % self.stride for part in self._beyond(samples[0].shape))
        return [functional.pad(part, (0, across, 0, down), mode="replicate") for part in tensors]

    def _beyond(self, shape: tuple[int, ...]) -> tuple[int, int]:
        return shape[0] - self._patches().height, shape[1] - self._patches().width

    def _places(self, shape: tuple[int, ...]) -> tuple[int, int]:
        """How many patches a picture has down and across, when it is continued."""
        down, across = (-(-part // self.stride) + 1 for part in self._beyond(shape))
        return down, across

    def _outside(self, found: Tensor, like: Array) -> Array:
        height, width = like.shape[:2]
        rows = np.moveaxis(found[0, :, :height, :width].cpu().numpy(), 0, 2)
        return np.asarray(self.output_frame_.outside(rows).astype(like.dtype))

    def _mappings(self, mapping: Any, inputs: Fields) -> Fields:
        """Mapping units at every place of every input."""
        k, n = self.model_.n_mapping, len(inputs.samples)
        if np.ndim(mapping) == 1 and len(mapping) == k and np.ndim(mapping[0]) == 0:
            listed = [np.broadcast_to(np.asarray(mapping), (*self._places(s.shape), k)) for s in inputs.samples]
        else:
            listed = [np.asarray(part) for part in mapping]
        wanted = [(*self._places(s.shape), k) for s in inputs.samples]
        if len(listed) != n or any(part.shape != shape for part, shape in zip(listed, wanted, strict=True)):
            rule = f"does not match the places of X {wanted}"
            seen = f"arrays of shapes {[part.shape for part in listed]}"
            raise ValueError(complain(self, "mapping", seen, rule, "Give what infer returns, or one row of it"))
        return Fields(tuple(listed), "grid", False, False)

    def _known(self, name: str, samples: Any) -> Fields:
        check_is_fitted(self, "parameters_")
        return self._with_channels(name, self._fields(name, samples), self.n_channels_in_)

    def _pair(self, X: Any, Y: Any) -> tuple[Fields, Fields]:
        inputs = self._known("X", X)
        outputs = self._with_channels("Y", self._like("Y", Y, inputs), self.n_channels_out_)
        self._checked_values(outputs.sites(), "Y")
        return inputs, outputs


def _repeated(codes: Array, places: tuple[int, int]) -> Array:
    """Codes (down, across, k) for other places: cut, or begun again."""
    down, across = (np.arange(wanted) % length for wanted, length in zip(places, codes.shape, strict=False))
    return np.asarray(codes[down[:, None], across[None, :]])
