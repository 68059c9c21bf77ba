"""The manifield: one patch model slid over sequences or pictures of any size, its outputs averaged (S0 6.2.3).

Patches and averages stand in ``patches.py``; the patch models are this room's auto-encoders.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from sidelight._interrupted import all_or_nothing
from sidelight._messages import complain
from sidelight._validation import check_choice, check_integer, check_number

from ._autoencoder import Autoencoder
from ._biased_autoencoder import BiasedAutoencoder
from ._field_model import FieldModel, of_model
from ._fields import STRUCTURES, Fields, as_tensor, crops
from ._network_model import NetworkModel, explained
from ._torch_model import Stream, one_thread
from .batches import Batch
from .networks import error, finished
from .patches import Patches, bands

__all__ = ["Manifield"]

Array = npt.NDArray[Any]
_TOGETHER = 1 << 16  # patches that are predicted at once


def _conditional(field: Manifield) -> bool:
    return not isinstance(field._patch_model(), Autoencoder)


def _unconditional(field: Manifield) -> bool:
    return not _conditional(field)


class Manifield(FieldModel, NetworkModel):
    """Predict, or denoise, sequences and pictures of any size by one patch model at every site.

    Parameters
    ----------
    model : BiasedAutoencoder, GatedAutoencoder, Autoencoder or None, default=None
        The patch model, and how to train: its ``optimizer``, ``weight_decay``, ``max_iter`` and so on are used, with
        crops for rows. An ``Autoencoder`` makes an unconditional field. None: ``BiasedAutoencoder()``.
    patch_size : int or (int, int), default=7
        Sites of a patch: frames of a sequence; height and width in a picture.
    structure : {"sequence", "grid"}, default="sequence"
        "sequence": a sample is (length,) or (length, channels). "grid": (height, width) or (height, width, channels).
    residual : bool, default=False
        True: patches say what is to be added to the input, which has as many channels as the output.
    alone : float, default=0.5
        Share of the loss in which each patch answers for itself; the rest is the loss of their averages. 0: averages
        only, as in the source: a larger model, which sees two patches' width, and overfits sooner.
    crop : int or None, default=None
        Side of the crops that batches are made of; None: three times the patch.

    Attributes
    ----------
    model_ : estimator
        The patch model that was used.
    parameters_ : dict of arrays
    input_frame_, output_frame_ : Frame
        How channels are moved and scaled first.
    history_ : list of dict
    n_iter_ : int
    n_channels_in_, n_channels_out_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight.gated import BiasedAutoencoder, Manifield
    >>> clean = np.sin(np.arange(400) / 6)
    >>> noisy = clean + 0.3 * np.random.default_rng(0).normal(size=400)
    >>> model = BiasedAutoencoder(3, weight_decay=1e-3, random_state=0)
    >>> field = Manifield(model, patch_size=9).fit([noisy[:200]], [clean[:200]])
    >>> (found,) = field.predict([noisy[200:]])
    >>> bool(((found - clean[200:]) ** 2).mean() < 0.4 * ((noisy - clean)[200:] ** 2).mean())
    True
    """

    loss: Any = of_model("loss")
    activation: Any = of_model("activation")

    def __init__(
        self,
        model: Any = None,
        patch_size: int | tuple[int, int] = 7,
        structure: str = "sequence",
        *,
        residual: bool = False,
        alone: float = 0.5,
        crop: int | None = None,
    ) -> None:
        self.model = model
        self.patch_size = patch_size
        self.structure = structure
        self.residual = residual
        self.alone = alone
        self.crop = crop

    @all_or_nothing
    def fit(self, X: Any, Y: Any = None, *, guess: Any = None) -> Manifield:
        """Learn to make each of ``Y`` from each of ``X``: lists of sequences or pictures, or arrays of equal ones.

        An unconditional field takes ``X`` alone. ``guess``: first guesses of ``Y``, for a gated model (see there).
        """
        self._check_parameters()
        self.model_ = clone(self._patch_model(fitted=False))
        inputs = self._fields("X", X)
        outputs = self._like("Y", Y, inputs) if _conditional(self) else inputs
        self.n_channels_in_, self.n_channels_out_, self.bare_ = inputs.channels, outputs.channels, outputs.bare
        self._check_pairs(inputs, outputs)
        others = [outputs] if _conditional(self) else []
        others += [] if guess is None else [self._like("guess", guess, inputs)]
        others = [self._difference(part, inputs) for part in others]
        self.input_frame_ = inputs.frame(scaled=_conditional(self) or self.loss == "squared")
        self.output_frame_ = others[0].frame(scaled=self.loss == "squared") if others else self.input_frame_
        inside = [inputs.changed(self.input_frame_.inside)]
        self._fit_fields([*inside, *(part.changed(self.output_frame_.inside) for part in others)])
        return self

    @available_if(_conditional)
    def predict(self, X: Any, guess: Any = None) -> Any:
        """Outputs for each of ``X``, of any length or size; ``guess``: first guesses of them, for a gated model."""
        check_is_fitted(self, "parameters_")
        inputs = self._known("X", X)
        first = self._first(inputs) if guess is None else self._like("guess", guess, inputs)
        kinds = [inputs.changed(self.input_frame_.inside)]
        if first is not None:
            kinds.append(self._difference(first, inputs).changed(self.output_frame_.inside))
        found = self._averaged(inputs, kinds)
        return (found.changed(np.add, inputs) if self.residual else found).given(bare=self.bare_)

    @available_if(_unconditional)
    def denoise(self, X: Any) -> Any:
        """Each of ``X`` as the averaged patches know it."""
        check_is_fitted(self, "parameters_")
        inputs = self._known("X", X)
        return self._averaged(inputs, [inputs.changed(self.input_frame_.inside)]).given(bare=self.bare_)

    @available_if(_unconditional)
    def transform(self, X: Any) -> Any:
        """Codes of every patch of each of ``X``: (places, n_components), or (down, across, n_components)."""
        check_is_fitted(self, "parameters_")
        inputs = self._known("X", X)
        module = self._module(inputs.samples[0].dtype)
        return inputs.changed(lambda sample: self._codes(module, sample)).given(bare=False)

    def score(self, X: Any, Y: Any = None) -> float:
        """Share of the variance of ``Y`` that predictions explain (of ``X``, that an unconditional field keeps)."""
        outputs = self._known("X", X) if Y is None else self._fields("Y", Y)
        found = self._fields("Y", self.predict(X) if _conditional(self) else self.denoise(X))
        return explained(outputs.sites(), found.sites())

    def _averaged(self, inputs: Fields, kinds: list[Fields]) -> Fields:
        dtype = inputs.samples[0].dtype
        module, others = self._module(dtype), kinds[1:]

        def one(*samples: Array) -> Array:
            with one_thread():
                raw = self._bands(module, [as_tensor(sample.astype(dtype)) for sample in samples])
            found = np.moveaxis(finished(self.loss, raw)[0].numpy(), 0, 2)
            return self.output_frame_.outside(found).astype(dtype)

        return kinds[0].changed(one, *others)

    def _bands(self, module: nn.Module, tensors: list[Tensor]) -> Tensor:
        """The averaged raw outputs (1, channels, h, w) of one field, a band of it at a time."""
        shape = (int(tensors[0].shape[2]), int(tensors[0].shape[3]))
        patches = self._patches()
        total = tensors[0].new_zeros(1, self.n_channels_out_, *shape)
        across = patches.places(tensors[0])[1]
        for begin, end in bands(shape[0], patches.height, max(1, _TOGETHER // across)):
            x, *guess = (patches.rows(part[:, :, begin:end].to(self.device)) for part in tensors)
            raw = self.model_._point(module, x, guess[0] if guess else None)
            total[:, :, begin:end] += patches.summed(raw, 1, (end - begin, shape[1])).cpu()
        return total / patches.counts(shape, total)

    def _codes(self, module: Any, sample: Array) -> Array:
        field = as_tensor(self.input_frame_.inside(sample).astype(sample.dtype)).to(self.device)
        with one_thread():
            codes = module.encode(self._patches().rows(field)).cpu()
        return np.asarray(codes.numpy().reshape(*self._patches().places(field), -1))

    def _fit_fields(self, kinds: list[Fields]) -> None:
        seed = self._seed()
        module = self._initial(seed)
        seen, held = self._split(kinds)
        patches = self._patches()
        n = sum((h - patches.height + 1) * (w - patches.width + 1) for h, w in seen[0].shapes)
        if self._at_once(module, n):
            groups, out = _groups(seen), None if held is None else _groups(held)
            looked = None if out is None else lambda: float(self._of_groups(module, out).detach())
            self._descend_on(module, lambda: self._of_groups(module, groups), looked, seed)
            return
        size = self._crop(seen[0])
        cut = None if held is None else next(crops(held, self._crop(held[0]), 200, seed, self._place()))
        place = self._place()
        stream = Stream(lambda done: crops(seen, size, self.batch_size, seed, place, done=done), cut)
        self._train(module, stream, seed)

    def _split(self, kinds: list[Fields]) -> tuple[list[Fields], list[Fields] | None]:
        """Fields to train on and fields held out: the last share of each that is long enough for both."""
        least = self._patches().height
        cuts = [int(h * (1 - self.validation_fraction)) for h, _ in kinds[0].shapes]
        fine = [least <= cut <= h - least for cut, (h, _) in zip(cuts, kinds[0].shapes, strict=True)]
        if not self.validation_fraction or not any(fine):
            return kinds, None
        cut_at = [cut if good else h for cut, good, (h, _) in zip(cuts, fine, kinds[0].shapes, strict=True)]
        seen, held = [], []
        for kind in kinds:
            pairs = [(s[:cut], s[cut:]) for s, cut in zip(kind.samples, cut_at, strict=True)]
            seen.append(Fields(tuple(first for first, _ in pairs), kind.structure, kind.bare, False))
            rest = tuple(last for _, last in pairs if len(last))
            held.append(Fields(rest, kind.structure, kind.bare, False))
        return seen, held

    def _of_groups(self, module: nn.Module, groups: list[Batch]) -> Tensor:
        """The loss of all sites: fields of one size at a time."""
        sites = [float(group[0][:, 0].numel()) for group in groups]
        parts = [
            self._held_out_loss(module, group) * (size / sum(sites)) for group, size in zip(groups, sites, strict=True)
        ]
        return torch.stack(parts).sum()

    def _held_out_loss(self, module: Any, batch: Batch) -> Tensor:
        """The loss of averaged outputs, and of patches alone, for fields (n, channels, h, w)."""
        patches, target = self._patches(), self._target(batch)
        rows = tuple(patches.rows(part) for part in batch)
        n, shape = len(target), (int(target.shape[2]), int(target.shape[3]))
        total = target.new_zeros(())
        for weight, raw in self.model_._readings(module, rows):
            together = error(self.loss, patches.averaged(raw, n, shape), target)
            each = error(self.loss, raw, self._target(rows))
            total = total + weight * ((1 - self.alone) * together + self.alone * each)
        return total

    def _build(self) -> nn.Module:
        patches = self._patches()
        area = patches.height * patches.width
        network: nn.Module = self.model_._network(area * self.n_channels_in_, area * self.n_channels_out_)
        return network

    def _default_model(self) -> Any:
        return BiasedAutoencoder()

    def _patches(self) -> Patches:
        size = self.patch_size
        if self.structure == "sequence":
            return Patches(int(size), 1)  # type: ignore[arg-type]
        return Patches(*(size if isinstance(size, tuple | list) else (size, size)))

    def _crop(self, fields: Fields) -> tuple[int, int]:
        """Size of a crop: what was asked for, as far as the smallest sample goes."""
        patches, shapes = self._patches(), np.array(fields.shapes)
        wanted = [self.crop or 3 * side for side in (patches.height, patches.width)]
        height, width = (min(side, int(limit)) for side, limit in zip(wanted, shapes.min(axis=0), strict=True))
        return height, width

    def _first(self, inputs: Fields) -> Fields | None:
        """The first guess where none is given: the predictor's (None), or the input itself."""
        if not hasattr(self.model_, "n_mapping") or self.model_.predictor is not None:
            return None
        if self.n_channels_in_ != self.n_channels_out_:
            rule = f"is needed: inputs have {self.n_channels_in_} channels, outputs {self.n_channels_out_}"
            raise ValueError(complain(self, "guess", None, rule, "Give first guesses, or a model with a predictor"))
        return inputs

    def _difference(self, outputs: Fields, inputs: Fields) -> Fields:
        return outputs.changed(np.subtract, inputs) if self.residual else outputs

    def _known(self, name: str, samples: Any) -> Fields:
        return self._with_channels(name, self._fields(name, samples), self.n_channels_in_)

    def _check_pairs(self, inputs: Fields, outputs: Fields) -> None:
        if self.residual and inputs.channels != outputs.channels:
            rule = f"needs as many channels in Y ({outputs.channels}) as in X ({inputs.channels})"
            raise ValueError(complain(self, "residual", True, rule, "Set residual=False"))
        for sample in outputs.samples:
            self._check_values("Y", sample)

    def _check_parameters(self) -> None:
        check_choice(self, "structure", self.structure, tuple(STRUCTURES))
        several = self.structure == "grid" and isinstance(self.patch_size, tuple | list)
        sides: Any = self.patch_size if several else (self.patch_size,)
        for side in sides:
            check_integer(self, "patch_size", side, 1)
        check_number(self, "alone", self.alone, -1e-12, 1 + 1e-12)
        if self.crop is not None:
            check_integer(self, "crop", self.crop, max(int(side) for side in sides))
        model = self._patch_model(fitted=False)
        if not isinstance(model, NetworkModel) or isinstance(model, Manifield):
            rule, remedy = "is no patch model", "Give an Autoencoder, BiasedAutoencoder or GatedAutoencoder"
            raise TypeError(complain(self, "model", type(model).__name__, rule, remedy))
        model._check_parameters()
        if self.residual and (isinstance(model, Autoencoder) or model.loss != "squared"):
            rule = "needs a conditional model with squared loss"
            raise ValueError(complain(self, "residual", True, rule, "Set residual=False"))


def _groups(kinds: list[Fields]) -> list[Batch]:
    """Samples of one size together, in double precision."""
    by_shape: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for number, shape in enumerate(kinds[0].shapes):
        by_shape[shape].append(number)
    return [
        tuple(torch.cat([as_tensor(kind.samples[number]) for number in numbers]).double() for kind in kinds)
        for numbers in by_shape.values()
    ]
