"""Base class of field estimators: one patch model at every site, which also holds the training parameters."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Generic, Protocol, Self, TypeVar, cast

from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted
from torch import nn

from sidelight.base.alias import renamed_argument
from sidelight.base.cost import Cost, announce_cost
from sidelight.base.fitting import all_or_nothing, all_or_nothing_continued
from sidelight.base.messages import error_message
from sidelight.maps.frames import Frame

from ._architecture import Architecture
from ._batches import Batch, first_of
from ._estimator import TorchEstimator
from ._field_reader import FEWER, JUDGED, FieldFrames, FieldLayout, FieldReader
from ._fields import Fields, crops
from ._objectives import Objective
from ._rules import TrainingRule
from ._settings import TrainingSettings
from ._trainer import Stream, TrainedNetwork, Trainer

__all__ = ["FieldEstimator", "Setup"]


Kind = TypeVar("Kind", bound=Architecture[nn.Module])
Module = TypeVar("Module", bound=nn.Module)


class PatchEstimator(Protocol):
    """Interface of the patch model of a field."""

    device: str

    def _new_architecture(self) -> Architecture[nn.Module]: ...

    def _settings(self) -> TrainingSettings: ...


Model = TypeVar("Model", bound=PatchEstimator)


@dataclass(frozen=True)
class Setup(Generic[Kind, Model]):
    """Ingredients of a fit: the (unfitted) patch model, its architecture and settings, a reader of samples."""

    model: Model
    architecture: Kind
    settings: TrainingSettings
    reader: FieldReader

    @property
    def layout(self) -> FieldLayout:
        """The layout of patches."""
        return self.reader.layout


class FieldEstimator(TorchEstimator[Kind, Module], Generic[Kind, Module, Model]):
    """Base class: one patch model, applied at every site of sequences or images."""

    _rule: TrainingRule
    _widths: tuple[int, ...] = (2,)
    """Allowed numbers of sample lists in a batch."""
    crop: int | None
    model_: Model
    layout_: FieldLayout
    n_channels_in_: int
    n_channels_out_: int
    bare_: bool
    input_frame_: Frame
    output_frame_: Frame

    @abstractmethod
    def _given_model(self) -> Model:
        """The patch model of the constructor, or the default for None."""

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise an error for invalid constructor parameters or a patch model that fields do not support."""

    @abstractmethod
    def estimate_cost(self, n: int, d: int, e: int | None = None) -> Cost:
        """Memory and time of a fit to n sites of all samples, of d and e (None: d) channels."""

    @abstractmethod
    def _new_layout(self) -> FieldLayout:
        """The layout of patches by the constructor parameters."""

    @abstractmethod
    def _is_conditional(self) -> bool:
        """Whether the patch model takes outputs beside inputs."""

    @abstractmethod
    def _objective(self, setup: Setup[Kind, Model]) -> Objective[Module]:
        """The training objective."""

    @all_or_nothing
    def fit_batches(self, source: object, *, held_out: object = None) -> Self:
        """Learn from pairs ``(X, y)`` of lists of samples that an iterable yields, or a callable returns at each call.

        A batch holds the arguments of ``fit``: first guesses are a third item; an unconditional field takes ``X``
        alone. Each batch is one update with ``batch_size`` crops. Channels are scaled as in the first batch. Training
        ends with the iterable, or after ``max_iter`` updates. ``held_out``: one more batch, for early stopping;
        ``validation_fraction`` is not used.
        """
        setup = self._new_setup()
        reader, settings = setup.reader, setup.settings
        settings.check_stream(self._owner)
        first, batches = first_of(source, self._owner)
        frames = FieldFrames.of(reader.samples(*self._members("source", first)), setup.architecture)
        trainer, seed = self._trainer(setup, frames), settings.draw_seed()

        def cut(batch: object, name: str, n: int, number: int = 0) -> Batch:
            kinds = reader.inside(reader.samples(*self._members(name, batch)), frames)
            return setup.layout.cut(kinds, self.crop, n, seed, settings.place, number)

        def from_number(done: int) -> Iterator[Batch]:
            for number, batch in enumerate(batches):
                if number >= done:
                    yield cut(batch, "source", settings.batch_size, number)

        held = None if held_out is None else cut(held_out, "held_out", JUDGED)
        found = trainer.on_stream(trainer.begin(seed), Stream(from_number, held), seed)
        return self._keep_fields(setup, frames, found)

    @all_or_nothing_continued
    @renamed_argument("Y", "y")
    def partial_fit(self, X: object, y: object = None) -> Self:
        """Continue training: one update with ``batch_size`` crops of these samples.

        Parameters and optimiser state continue from the last call. Channels are scaled as in the first call.
        ``validation_fraction`` and ``checkpoint`` are not used.
        """
        return self._continue(X, y)

    def _continue(self, *parts: object) -> Self:
        progress = self._progress()
        is_new = progress.parameters is None
        setup = self._new_setup() if is_new else self._continued_setup()
        settings = setup.settings
        settings.check_stream(self._owner)
        samples = setup.reader.samples(*parts)
        frames = FieldFrames.of(samples, setup.architecture) if is_new else self._frames()
        kinds = setup.reader.inside(samples, frames)
        batch = setup.layout.cut(
            kinds, self.crop, settings.batch_size, settings.draw_seed(), settings.place, progress.n_iter
        )
        found = self._trainer(setup, frames).continue_on_batches(progress, iter([batch]))
        return self._keep_fields(setup, frames, found)

    def _new_setup(self) -> Setup[Kind, Model]:
        """The setup of a new fit: parameters are validated, and the patch model is copied."""
        self._check_parameters()
        model = cast(Model, clone(self._given_model()))
        return self._setup(model, cast(Kind, model._new_architecture()), self._new_layout())

    def _continued_setup(self) -> Setup[Kind, Model]:
        """The setup to continue a fit, with the fitted patch model."""
        self._check_parameters()
        layout = self._layout()
        self._refuse_change(layout.options, self._new_layout().options)
        return self._setup(self.model_, self._continued_architecture(), layout)

    def _setup(self, model: Model, architecture: Kind, layout: FieldLayout) -> Setup[Kind, Model]:
        rule = self._rule.of_real_outputs() if architecture.values.is_real else self._rule
        settings = model._settings().following(rule)
        return Setup(model, architecture, settings, self._reader(architecture, layout))

    def _reader(self, architecture: Kind, layout: FieldLayout) -> FieldReader:
        return FieldReader(self._owner, layout, architecture.values, self._is_conditional())

    def _fitted_reader(self) -> FieldReader:
        return self._reader(self._architecture(), self._layout())

    def _trainer(self, setup: Setup[Kind, Model], frames: FieldFrames) -> Trainer[Module]:
        identity = self._identity(setup.settings, n_channels_in=frames.n_in, n_channels_out=frames.n_out)
        area = setup.layout.area
        sizes = area * frames.n_in, area * frames.n_out
        return Trainer(self._owner, setup.settings.of_columns(sizes[1]), self._objective(setup), sizes, identity)

    def _shares(self, setup: Setup[Kind, Model], kinds: list[Fields]) -> tuple[list[Fields], list[Fields] | None]:
        """Scaled samples to train on, and those held out (or None); a long fit is announced."""
        settings, layout = setup.settings, setup.layout
        sites = sum(height * width for height, width in kinds[0].shapes)
        announce_cost(self, self.estimate_cost(sites, kinds[0].channels, kinds[-1].channels), sites)
        if settings.ends_by_itself and "validation_fraction" in settings.unset:
            return layout.split_blocks(kinds)
        return layout.split(kinds, settings.validation_fraction)

    def _on_crops(
        self,
        trainer: Trainer[Module],
        module: Module,
        layout: FieldLayout,
        parts: tuple[list[Fields], list[Fields] | None],
        seed: int,
    ) -> TrainedNetwork:
        """Train on crops of scaled samples; ``parts``: those to train on, and those held out (or None)."""
        (seen, held), settings = parts, trainer.settings
        if held is None and settings.ends_by_itself:
            trainer = replace(trainer, settings=settings.unjudged())
        size, place = layout.crop(seen[0], self.crop), settings.place
        judged = FEWER if settings.ends_by_itself else JUDGED
        kept = None if held is None else layout.cut(held, self.crop, judged, seed, place)
        stream = Stream(lambda done: crops(seen, size, settings.batch_size, seed, place, done=done), kept)
        return trainer.on_stream(module, stream, seed)

    def _keep_fields(self, setup: Setup[Kind, Model], frames: FieldFrames, found: TrainedNetwork) -> Self:
        self.model_, self.layout_ = setup.model, setup.layout
        self.n_channels_in_, self.n_channels_out_, self.bare_ = frames.n_in, frames.n_out, frames.bare
        self.input_frame_, self.output_frame_ = frames.inputs, frames.outputs
        self._keep(setup.architecture, found)
        return self

    def _frames(self) -> FieldFrames:
        """The frames (centring and scaling) of the fit."""
        channels = self.n_channels_in_, self.n_channels_out_
        return FieldFrames(*channels, self.bare_, self.input_frame_, self.output_frame_)

    def _members(self, name: str, batch: object) -> tuple[object, ...]:
        """The items of a batch: inputs, outputs, first guesses."""
        if not self._is_conditional():
            return (batch,)
        if not isinstance(batch, tuple | list) or len(batch) not in self._widths:
            rule = "is not a pair of lists of samples"
            raise ValueError(error_message(self, name, type(batch).__name__, rule, "Yield (X, y)"))
        return tuple(batch)

    def _layout(self) -> FieldLayout:
        """Layout of patches of the fitted model; rebuilt for files and pickles of earlier versions, which lack it."""
        kept = vars(self).get("layout_")
        return self._new_layout() if kept is None else cast(FieldLayout, kept)

    def _patch_model(self) -> Model:
        """The fitted patch model, or that of the constructor."""
        kept = vars(self).get("model_")
        return self._given_model() if kept is None else cast(Model, kept)

    def _new_architecture(self) -> Kind:
        return cast(Kind, self._patch_model()._new_architecture())

    def _sizes(self) -> tuple[int, int]:
        area = self._layout().area
        return area * self.n_channels_in_, area * self.n_channels_out_

    def _device(self) -> str:
        return self._patch_model().device

    def _known(self, name: str, samples: object) -> Fields:
        """Validate inputs; they must have the channels of the fit."""
        check_is_fitted(self, "parameters_")
        reader = self._fitted_reader()
        return reader.with_channels(name, reader.fields(name, samples), self.n_channels_in_)
