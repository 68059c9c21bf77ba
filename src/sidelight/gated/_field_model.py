"""What models of fields share: a patch model that brings the training options, and samples of sites with channels."""

from __future__ import annotations

from typing import Any

from sidelight._messages import complain

from ._fields import Fields, as_fields
from .patches import Patches

__all__ = ["FieldModel", "of_model"]


def of_model(name: str) -> Any:
    """An option of a field that is its patch model's."""
    return property(lambda field: getattr(field._patch_model(), name))


class FieldModel:
    """One patch model at every site.

    A subclass has ``_default_model()`` and ``_patches()``, and names this class before that of its torch model.
    """

    model: Any
    patch_size: int | tuple[int, int]
    structure: str = "grid"
    optimizer: Any = of_model("optimizer")
    learning_rate: Any = of_model("learning_rate")
    momentum: Any = of_model("momentum")
    weight_decay: Any = of_model("weight_decay")
    batch_size: Any = of_model("batch_size")
    max_iter: Any = of_model("max_iter")
    validation_fraction: Any = of_model("validation_fraction")
    patience: Any = of_model("patience")
    device: Any = of_model("device")
    checkpoint: Any = of_model("checkpoint")
    random_state: Any = of_model("random_state")
    verbose: Any = of_model("verbose")
    callback: Any = of_model("callback")

    def _patch_model(self: Any, *, fitted: bool = True) -> Any:
        if fitted and hasattr(self, "model_"):
            return self.model_
        return self._default_model() if self.model is None else self.model

    def _fields(self: Any, name: str, samples: Any) -> Fields:
        """Samples, all of them at least as large as a patch."""
        fields = as_fields(self, name, samples, self.structure)
        patches: Patches = self._patches()
        for height, width in fields.shapes:
            if height < patches.height or width < patches.width:
                sites = f"{height} x {width}" if self.structure == "grid" else f"{height}"
                rule = f"is smaller than patch_size={self.patch_size}"
                remedy = "Give larger samples, or smaller patches"
                raise ValueError(complain(self, name, f"sample of {sites} sites", rule, remedy))
        return fields

    def _with_channels(self, name: str, fields: Fields, channels: int) -> Fields:
        if fields.channels != channels:
            rule = f"does not match the {channels} channels of the fit"
            raise ValueError(complain(self, name, f"{fields.channels} channels", rule, "Give the same channels"))
        return fields

    def _like(self, name: str, samples: Any, inputs: Fields) -> Fields:
        """Samples as large as the inputs."""
        fields: Fields = self._fields(name, samples)
        if fields.shapes != inputs.shapes:
            rule = "does not have the sizes of X, sample by sample"
            raise ValueError(complain(self, name, f"samples of {fields.shapes}", rule, "Give one value per site of X"))
        return fields
