"""The manifield: one patch model slid over sequences or images of any size, its outputs averaged (S0 6.2.3).

Patches and averages are in ``_patches.py``; the patch models are the auto-encoders of this package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Self, cast

import numpy as np
import numpy.typing as npt
import torch
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from sidelight.base.alias import renamed_argument
from sidelight.base.capabilities import NETWORK
from sidelight.base.cost import Cost
from sidelight.base.fitting import all_or_nothing, all_or_nothing_continued
from sidelight.base.messages import error_message
from sidelight.base.types import Array, Function, NamedValues, Untyped
from sidelight.base.validation import check_choice, check_integer, check_number

from ._costs import network_cost
from ._field_estimator import FieldEstimator, Setup
from ._field_reader import FieldFrames, FieldLayout
from ._field_search import ALONE, LINEAR, SHARES, Candidate, Searched, searched, train_on_sites
from ._fields import STRUCTURES, Fields, Samples, as_tensor
from ._frames import explained
from ._mappings import codes_for_new_sites, given_mappings
from ._modules import one_thread
from ._network_architectures import GatedArchitecture, PredictionArchitecture
from ._networks import AutoencoderNetwork, GatedNetwork
from ._objectives import PatchObjective
from ._patches import Patches, bands
from ._rules import CROPS_OF_NETWORKS
from ._trainer import TrainedNetwork, Trainer
from .autoencoder import Autoencoder
from .biased_autoencoder import BiasedAutoencoder
from .gated_autoencoder import GatedAutoencoder

__all__ = ["Manifield"]


Band = tuple[int, int]
Answer = Function[Tensor]
_TOGETHER = 1 << 16  # patches that are predicted at once


PatchModel = Autoencoder | BiasedAutoencoder | GatedAutoencoder
ManifieldSetup = Setup[PredictionArchitecture[nn.Module], PatchModel]


def _conditional(field: Manifield) -> bool:
    return not isinstance(field._patch_model(), Autoencoder)


def _unconditional(field: Manifield) -> bool:
    return not _conditional(field)


def _gated(field: Manifield) -> bool:
    return isinstance(field._patch_model(), GatedAutoencoder)


class Manifield(FieldEstimator[PredictionArchitecture[nn.Module], nn.Module, PatchModel]):
    """Predict or denoise sequences and images of any size by one patch model at every site, outputs averaged.

    Parameters
    ----------
    model : BiasedAutoencoder, GatedAutoencoder, Autoencoder or None, default=None
        The patch model with its training parameters (``optimizer``, ``weight_decay``, ``max_iter`` and so on), which
        apply to crops instead of rows. With an ``Autoencoder`` the field is unconditional (inputs only). None:
        ``BiasedAutoencoder()``. With the model's ``max_iter=None`` and up to some thousand sites, weight decays and
        ``alone`` (and if ``model`` is None also a linear filter) are selected on held-out blocks, and the best is
        trained again on all sites.
    patch_size : int or (int, int), default=7
        Size of a patch: frames of a sequence; height and width in an image.
    structure : {"sequence", "grid"}, default="sequence"
        "sequence": a sample is (length,) or (length, channels). "grid": (height, width) or (height, width, channels).
    residual : bool, default=False
        True: patches predict the difference of output and input, which must have the same channels.
    alone : float or None, default=None
        Weight of the loss of single patches; the rest is the loss of the averaged outputs. 0: averages only, as in the
        source: effectively a larger model, with a receptive field of two patches, which overfits sooner. None: 0.5, or
        the better of 0.1 and 0.5 in a search (see ``model``).
    crop : int or None, default=None
        Side length of the training crops; None: three times the patch.

    Attributes
    ----------
    model_, alone_, weight_decay_ : estimator, float, float
        The patch model, the weight of single patches and the weight decay used.
    search_ : list of dict
        The candidates: network, ``alone``, ``weight_decay``, the loss of held-out blocks, iterations, or [].
    parameters_ : dict of arrays
    architecture_, layout_ : frozen records
        Architecture of the fitted network, layout of its patches; ``set_params`` after the fit does not change them.
    input_frame_, output_frame_ : Frame
        Centring and scaling of channels.
    history_ : list of dict
    n_iter_ : int
    n_channels_in_, n_channels_out_ : int

    See Also
    --------
    GatedField, BiasedAutoencoder

    References
    ----------
    .. [1] R. Memisevic. Non-linear latent factor models for revealing structure in high-dimensional data. PhD thesis,
           University of Toronto, 2007, section 6.2.3.

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

    _capabilities = NETWORK.also(
        "takes_fields", "has_transform", "has_transfer", "has_predict", "has_denoise", "has_cost"
    )
    _rule = CROPS_OF_NETWORKS

    _widths = (2, 3)  # batches may bring first guesses

    def __init__(
        self,
        model: PatchModel | None = None,
        patch_size: int | tuple[int, int] = 7,
        structure: str = "sequence",
        *,
        residual: bool = False,
        alone: float | None = None,
        crop: int | None = None,
    ) -> None:
        self.model = model
        self.patch_size = patch_size
        self.structure = structure
        self.residual = residual
        self.alone = alone
        self.crop = crop

    @all_or_nothing
    @renamed_argument("Y", "y")
    def fit(self, X: object, y: object = None, *, guess: object = None) -> Manifield:
        """Learn to predict each of ``y`` from each of ``X``: lists of sequences or images, or arrays of equal sizes.

        An unconditional field takes ``X`` alone. ``guess``: first guesses of ``y``, for a GatedAutoencoder (see there).
        """
        setup = self._new_setup()
        samples = setup.reader.samples(X, y, *(() if guess is None else (guess,)))
        frames = FieldFrames.of(samples, setup.architecture)
        kinds = setup.reader.inside(samples, frames)
        seen, held = self._shares(setup, kinds)
        trainer, seed = self._trainer(setup, frames), setup.settings.draw_seed()
        module, patches = trainer.begin(seed), setup.layout.patches
        n = sum((h - patches.height + 1) * (w - patches.width + 1) for h, w in seen[0].shapes)
        alone, records = ALONE if self.alone is None else self.alone, list[NamedValues]()
        if not trainer.is_at_once(module, n):
            found = self._on_crops(trainer, module, setup.layout, (seen, held), seed)
        elif held is not None and setup.settings.ends_by_itself:
            best = self._searched(setup, frames, (kinds, seen, held), seed)
            setup, alone, found, records = best.candidate.setup, best.candidate.alone, best.found, best.records
        else:
            found = train_on_sites(trainer, (seen, held), seed)
        self.alone_, self.search_ = alone, records
        return self._keep_fields(setup, frames, found)

    def _searched(
        self, setup: ManifieldSetup, frames: FieldFrames, parts: tuple[list[Fields], ...], seed: int
    ) -> Searched[ManifieldSetup]:
        """The best of some networks on held-out blocks, trained on all sites; ``parts``: all, seen and held-out."""

        def trainer_of(candidate: Candidate[ManifieldSetup]) -> Trainer[nn.Module]:
            one = self._trainer(candidate.setup, frames, candidate.alone)
            return replace(one, settings=one.settings.with_decay(candidate.weight_decay))

        return searched(self._candidates(setup), trainer_of, parts, seed, verbose=setup.settings.verbose)

    def _candidates(self, setup: ManifieldSetup) -> list[Candidate[ManifieldSetup]]:
        """Shares of single patches and weight decays that were not given; a linear filter first if no model was."""
        shares = SHARES if self.alone is None else (self.alone,)
        decays = setup.settings.decays
        found = [Candidate("network", setup, alone, decay) for alone in shares for decay in decays]
        if self.model is not None:
            return found
        linear = BiasedAutoencoder(None, predictor=())
        filters = self._setup(linear, linear._new_architecture(), setup.layout)
        return [Candidate(LINEAR, filters, shares[0], decays[0]), *found]

    def _trainer(self, setup: ManifieldSetup, frames: FieldFrames, alone: float | None = None) -> Trainer[nn.Module]:
        trainer = super()._trainer(setup, frames)
        objective = cast(PatchObjective[nn.Module], trainer.objective)
        return trainer if alone is None else replace(trainer, objective=replace(objective, alone=alone))

    @all_or_nothing_continued
    @renamed_argument("Y", "y")
    def partial_fit(self, X: object, y: object = None, *, guess: object = None) -> Self:
        """Continue training: one update with ``batch_size`` crops of these samples.

        Parameters and optimiser state continue from the last call. Channels are scaled as in the first call.
        ``validation_fraction`` and ``checkpoint`` are not used.
        """
        return self._continue(X, y, *(() if guess is None else (guess,)))

    @available_if(_conditional)
    def predict(self, X: object, guess: object = None) -> Samples:
        """Outputs for each of ``X``, of any length or size; ``guess``: first guesses of them, for a gated model."""
        inputs, reader = self._known("X", X), self._fitted_reader()
        first = self._first(inputs) if guess is None else reader.like("guess", guess, inputs)
        if first is None:
            return self._answered(inputs, self._pointed)
        guesses = reader.difference(first, inputs).changed(self.output_frame_.inside)
        return self._answered(inputs, self._pointed, guesses)

    @available_if(_unconditional)
    def denoise(self, X: object) -> Samples:
        """Reconstruct each of ``X`` as the average of its reconstructed patches."""
        return self._answered(self._known("X", X), self._pointed)

    @available_if(_unconditional)
    def transform(self, X: object) -> Samples:
        """Codes of every patch of each of ``X``: (positions, n_components), or (down, across, n_components)."""
        inputs = self._known("X", X)
        module: AutoencoderNetwork = self._module(inputs.samples[0].dtype)
        patches = self._layout().patches

        def one(sample: Array) -> Array:
            field = as_tensor(self.input_frame_.inside(sample).astype(sample.dtype)).to(self._device())
            codes = module.encode(patches.rows(field)).cpu()
            return np.asarray(codes.numpy().reshape(*patches.places(field), -1))

        with one_thread():
            return inputs.changed(one).given(bare=False)

    @available_if(_gated)
    @renamed_argument("Y", "y")
    def infer(self, X: object, y: object) -> Samples:
        """Mapping units of every patch of each pair: (positions, n_mapping), or (down, across, n_mapping)."""
        dtype = self._known("X", X).samples[0].dtype
        reader, patches = self._fitted_reader(), self._layout().patches
        inputs, outputs = reader.inside(reader.samples(X, y), self._frames())
        module: GatedNetwork = self._module(dtype)

        def one(*samples: Array) -> Array:
            x, y = (as_tensor(sample.astype(dtype)).to(self._device()) for sample in samples)
            parts = [
                module.condition(_rows(patches, x, band)).encode(_rows(patches, y, band)).cpu().numpy()
                for band in _bands(patches, x)
            ]
            return np.asarray(np.concatenate(parts).reshape(*patches.places(x), -1))

        with one_thread():
            return inputs.changed(one, outputs).given(bare=False)

    @available_if(_gated)
    def apply(self, X: object, mapping: Iterable[npt.ArrayLike]) -> Samples:
        """Transform each of ``X`` by mapping units of every patch, as ``infer`` returns them, or by one row for all."""
        inputs, layout, architecture = self._known("X", X), self._layout(), self._architecture()
        assert isinstance(architecture, GatedArchitecture)
        places = [layout.places(sample.shape) for sample in inputs.samples]
        given = given_mappings(self, mapping, places, architecture.n_mapping, layout.structure)

        def decoded(module: GatedNetwork, band: Band, x: Tensor, z: Tensor) -> Tensor:
            codes = z[0, :, band[0] : band[1] - layout.patches.height + 1].flatten(1).T
            return module.condition(_rows(layout.patches, x, band)).decode(codes)

        return self._answered(inputs, decoded, given)

    @available_if(_gated)
    @renamed_argument("Y", "y")
    def transfer(self, X: object, y: object, X_new: object) -> Samples:
        """Apply the transformation of ``X`` to ``y`` to ``X_new``, patch by patch; a single pair is used for all.

        For a sample larger than the pair, the pair's mapping units are repeated from the start.
        """
        codes, new = list(self.infer(X, y)), self._known("X_new", X_new)
        places = [self._layout().places(sample.shape) for sample in new.samples]
        found: Samples = self.apply(X_new, codes_for_new_sites(self, codes, places))
        return found

    @renamed_argument("Y", "y")
    def score(self, X: object, y: object = None) -> float:
        """R² of the predictions of ``y`` (of an unconditional field: of the reconstructions of ``X``)."""
        check_is_fitted(self, "parameters_")
        reader = self._fitted_reader()
        outputs = self._known("X", X) if y is None else reader.fields("y", y)
        found = reader.fields("y", self.predict(X) if _conditional(self) else self.denoise(X))
        return explained(outputs.sites(), found.sites())

    def estimate_cost(self, n: int, d: int, e: int | None = None) -> Cost:
        """Estimate memory and time of a fit to ``n`` sites with ``d`` and ``e`` (None: ``d``) channels."""
        setup, layout = self._new_setup(), self._new_layout()
        sizes = layout.area * d, layout.area * (d if e is None else e)
        crop = layout.area * (3 if layout.width == 1 else 9)
        n_searched = len(self._candidates(setup)) + 1
        options = {"n": n, "rows": setup.settings.batch_size * crop, "folded": 4 * sum(sizes)}
        return network_cost(setup.architecture, setup.settings, sizes, **options, n_searched=n_searched)

    def _answered(self, inputs: Fields, answer: Answer, *others: Fields) -> Samples:
        """Averaged outputs of each input, in the user's format; ``answer`` computes raw outputs of a band's patches."""
        dtype = inputs.samples[0].dtype
        module, architecture, layout = self._module(dtype), self._architecture(), self._layout()

        def one(*samples: Array) -> Array:
            tensors = [as_tensor(sample.astype(dtype)).to(self._device()) for sample in samples]
            raw = self._averaged(layout.patches, tensors[0], lambda band: answer(module, band, *tensors))
            found = np.moveaxis(architecture.finished(raw)[0].numpy(), 0, 2)
            return np.asarray(self.output_frame_.outside(found).astype(dtype))

        with one_thread():
            found = inputs.changed(self.input_frame_.inside).changed(one, *others)
        return (found.changed(np.add, inputs) if layout.residual else found).given(bare=self.bare_)

    def _pointed(self, module: nn.Module, band: Band, x: Tensor, *guess: Tensor) -> Tensor:
        rows = [_rows(self._layout().patches, part, band) for part in (x, *guess)]
        return self._architecture().point(module, rows[0], rows[1] if guess else None)

    def _averaged(self, patches: Patches, x: Tensor, answer: Callable[[Band], Tensor]) -> Tensor:
        """The averaged raw outputs (1, channels, h, w) of one field, a band of it at a time."""
        shape = (int(x.shape[2]), int(x.shape[3]))
        total = torch.zeros(1, self.n_channels_out_, *shape, dtype=x.dtype)
        for begin, end in _bands(patches, x):
            raw = answer((begin, end))
            total[:, :, begin:end] += patches.summed(raw, 1, (end - begin, shape[1])).cpu()
        return total / patches.counts(shape, total)

    def _objective(self, setup: ManifieldSetup) -> PatchObjective[nn.Module]:
        rows = setup.model._objective(cast(Untyped, setup.architecture))  # which is of the model's own kind
        alone = vars(self).get("alone_", ALONE) if self.alone is None else self.alone
        return PatchObjective(rows, setup.layout.patches, alone)

    def _keep_fields(self, setup: ManifieldSetup, frames: FieldFrames, found: TrainedNetwork) -> Self:
        if "alone_" not in vars(self):  # a stream, which is not searched
            self.alone_, self.search_ = ALONE if self.alone is None else self.alone, []
        return super()._keep_fields(setup, frames, found)

    def _first(self, inputs: Fields) -> Fields | None:
        """The first guess if none is passed: the predictor's (None), or the input itself."""
        architecture = self._architecture()
        if not isinstance(architecture, GatedArchitecture) or architecture.predictor is not None:
            return None
        if self.n_channels_in_ != self.n_channels_out_:
            rule = f"is needed: inputs have {self.n_channels_in_} channels, outputs {self.n_channels_out_}"
            raise ValueError(
                error_message(self, "guess", None, rule, "Give first guesses, or a model with a predictor")
            )
        return inputs

    def _given_model(self) -> PatchModel:
        return BiasedAutoencoder() if self.model is None else self.model

    def _is_conditional(self) -> bool:
        return _conditional(self)

    def _new_layout(self) -> FieldLayout:
        size = self.patch_size
        height, width = size if isinstance(size, tuple | list) else (size, 1 if self.structure == "sequence" else size)
        return FieldLayout(int(height), int(width), 1, self.structure, bool(self.residual))

    def _check_parameters(self) -> None:
        check_choice(self, "structure", self.structure, tuple(STRUCTURES))
        size = self.patch_size
        for side in size if self.structure == "grid" and isinstance(size, tuple | list) else (size,):
            check_integer(self, "patch_size", side, 1)
        if self.alone is not None:
            check_number(self, "alone", self.alone, -1e-12, 1 + 1e-12)
        if self.crop is not None:
            layout = self._new_layout()
            check_integer(self, "crop", self.crop, max(layout.height, layout.width))
        model: object = self._given_model()
        if not isinstance(model, PatchModel):
            rule, remedy = "is no patch model", "Give an Autoencoder, BiasedAutoencoder or GatedAutoencoder"
            raise TypeError(error_message(self, "model", type(model).__name__, rule, remedy))
        model._check_parameters()
        if model.loss == "multinomial":
            rule = "is not one whose groups patches can share"
            raise ValueError(error_message(self, "model.loss", model.loss, rule, 'Choose "squared" or "cross-entropy"'))
        if self.residual and (isinstance(model, Autoencoder) or model.loss != "squared"):
            rule = "needs a conditional model with squared loss"
            raise ValueError(error_message(self, "residual", True, rule, "Set residual=False"))


def _bands(patches: Patches, x: Tensor) -> list[Band]:
    return bands(x.shape[2], patches.height, max(1, _TOGETHER // patches.places(x)[1]))


def _rows(patches: Patches, field: Tensor, band: Band) -> Tensor:
    return patches.rows(field[:, :, band[0] : band[1]])
