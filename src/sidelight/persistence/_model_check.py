"""Validation of a loaded model: its parameters, its fitted attributes (by the tables), and their consistency."""

from __future__ import annotations

import dataclasses
import typing
from functools import cache
from typing import Any

from sidelight.base.capabilities import capabilities, given_of
from sidelight.information.missing import Missing
from sidelight.maps.truncated import TruncatedFrame
from sidelight.tables._date_code import CYCLES, DateCode

from ._fitted import FITTED
from ._records import RECORD_TABLES
from ._schema import MismatchError, Sizes, check_annotation, check_record, check_value
from ._sklearn_steps import STEP_CHECKS, STEPS, check_step_parameters, is_step

__all__ = ["check_model"]


def check_model(model: Any, fitted: set[str], *, part: bool = False) -> None:
    """Raise ``MismatchError`` if parameters or ``fitted`` attributes are not those of a valid model.

    ``part``: the model is part of another one, which may keep the sizes of a patch model without its other attributes.
    """
    kind: Any = type(model)
    table = STEPS[kind.__name__][1] if is_step(model) else FITTED.get(kind.__name__)
    if table is None:
        return
    if is_step(model):
        check_step_parameters(model)
    else:
        for name, hint in _parameters(kind).items():
            _checked(f"parameter {name}", lambda name=name, hint=hint: _check_parameter(getattr(model, name), hint))
    if not fitted:
        return
    missing = sorted(name for name, line in table.items() if not line.startswith("~") and name not in fitted)
    if missing and not part:
        raise MismatchError(f"has no {missing[0]}, which every fit leaves")
    sizes = Sizes()
    # sizes first: indices are compared with them
    for late in (False, True):
        for name, line in table.items():
            if name in fitted and ("index:" in line) == late:
                value, line = getattr(model, name), line.removeprefix("~")
                _checked(name, lambda value=value, line=line: check_value(value, line, sizes, RECORD_TABLES))
    for check in () if missing else _TOGETHER.get(kind.__name__, ()):
        check(model)


def _checked(name: str, check: Any) -> None:
    try:
        check()
    except MismatchError as error:
        raise MismatchError(f"has {name}{'' if str(error).startswith('.') else ', which '}{error}") from None


@cache
def _parameters(kind: type[Any]) -> dict[str, Any]:
    hints = typing.get_type_hints(kind.__init__)
    return {name: hint for name, hint in hints.items() if name not in ("return", "callback")}


def _check_parameter(value: Any, hint: Any) -> None:
    """Check the type of a parameter; of a parameter with options, the types of these too."""
    check_annotation(value, hint)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        check_record(value, Sizes(), RECORD_TABLES)


def _check_metric(model: Any) -> None:
    """A linear map, or coefficients of the span of a kernel."""
    if (model.kernel is None) != (model.span_ is None):
        raise MismatchError("has span_, which contradicts kernel")
    _require_all(model, ("mean_", "components_", "inverse_components_") if model.span_ is None else ("coefficients_",))


def _check_ways(model: Any) -> None:
    """Check the forward map, if there is a data space, and the attributes that condition it on ``given``."""
    if capabilities(model).has_density:
        _require_all(model, ("n_features_in_", "frame_", "backward_", "forward_", "density_"))
        if given_of(model) is not None:
            _require_all(model, ("marginal_", "marginal_forward_", "given_scale_"))
            if getattr(model, "product_backward_", None) is None:  # the product of kernels has no effect to add
                _require_all(model, ("forward_effect_",))


def _check_columns(model: Any) -> None:
    """The columns of the data are those of the frame, or those of the basis of a truncated frame."""
    frame, names = model.frame_, getattr(model, "feature_names_in_", None)
    width = len(frame.reduction.mean if isinstance(frame, TruncatedFrame) else frame.centre)
    if width != model.n_features_in_ and not (width == 1 and getattr(model, "metric", "") == "precomputed"):
        raise MismatchError(f"has n_features_in_, which is {model.n_features_in_} where frame_ has {width} columns")
    if names is not None and len(names) != model.n_features_in_:
        raise MismatchError("has feature_names_in_, which are not as many as n_features_in_")


def _check_coordinates(model: Any) -> None:
    """Charts of the columns of the data, unless there is a basis for coordinates of these."""
    if getattr(model, "reduction_", None) is None and len(model.charts_.centre) != model.n_features_in_:
        raise MismatchError("has charts_, which are not of its columns, and no reduction_")


def _check_filler(model: Any) -> None:
    """Check the imputer, if rows may have missing entries."""
    if Missing.of(model.missing).fills:
        _require_all(model, ("filler_",))


def _check_relations(model: Any) -> None:
    """A map of the data, where there is data."""
    if model.has_data_ and not model.maps_:
        raise MismatchError("has maps_, in which there are none of its data")


def _check_nystrom(model: Any) -> None:
    """Without paths along a graph, the gain belongs to the columns of the rows."""
    found = model.nystrom_
    if found is not None and not len(found.paths) and len(found.gain) != found.points.shape[1]:
        raise MismatchError("has nystrom_.gain, which does not match its points")


def _require_all(model: Any, names: tuple[str, ...]) -> None:
    missing = [name for name in names if getattr(model, name, None) is None]
    if missing:
        raise MismatchError(f"has no {missing[0]}, which belongs to such a fit")


def _check_charts(model: Any) -> None:
    """Local coordinates of all charts, which maps and latent charts must have too."""
    both = model.map_
    local = [q for view in both.views for q in view.charts.n_local]
    shapes = (
        [len(L) - 1 for L in both.maps],
        [len(m) for m in both.latent.local_means],
        [len(K) for K in both.latent.gains],
    )
    if any(found != local for found in shapes):
        raise MismatchError("has map_, whose charts have other local coordinates than its maps")
    wanted = [(view.charts.n_charts, len(view.columns)) for view in both.views]
    if [left.shape for left in both.residuals] != wanted:
        raise MismatchError("has map_.residuals, which are not those of its charts")


def _check_table(model: Any) -> None:
    """Blocks side by side, as wide as their codes, of the columns that are used."""
    _check_codes("", model.columns_, model.codes_, model.blocks_)
    if [one.name for one in model.layout_.columns] != [use.name for use in model.columns_]:
        raise MismatchError("has layout_, whose columns are not those of columns_")


def _check_codes(inside: str, columns: Any, codes: Any, blocks: Any) -> None:
    """The codes and blocks of the columns that are used; ``inside`` is the attribute that holds them."""
    ends = [0, *(block.stop for block in blocks)]
    found = [(block.name, block.start, block.stop - block.start) for block in blocks]
    used = [use.name for use in columns if use.used]
    wanted = [(name, end, code.width) for name, end, code in zip(used, ends, codes, strict=False)]
    if len(used) != len(codes) or found != wanted or not (wanted or inside):
        raise MismatchError(f"has {inside or 'blocks_'}, which are not those of its columns_ and codes_")
    if any(isinstance(code, DateCode) and not set(code.cycles) <= CYCLES.keys() for code in codes):
        raise MismatchError(f"has {inside or 'codes_'} with a cycle that is not known")


def _check_imputer(model: Any) -> None:
    """A model of the codes of the used columns, and a way of filling each column."""
    plan = model.plan_
    _check_codes("blocks in plan_", plan.columns, plan.codes, plan.blocks)
    filled = [(fill.name, fill.source == "model") for fill in plan.fills]
    if filled != [(use.name, use.used) for use in plan.columns]:
        raise MismatchError("has plan_, whose fills are not those of its columns")
    if (0 if model.model_ is None else len(model.model_.centre)) != plan.width:
        raise MismatchError("has model_, which is not of the codes of plan_")


def _check_network(model: Any) -> None:
    """The shapes of the network that its architecture (in older files: parameters) describes, made without memory."""
    import torch

    try:
        torch.device(model._device())
        with torch.device("meta"):
            network = model._architecture().build(*model._sizes())
        wanted = {name: tuple(value.shape) for name, value in network.state_dict().items()}
    except Exception as error:  # whatever a network of absurd parameters raises
        raise MismatchError(f"has parameters of which no network can be made ({type(error).__name__})") from error
    if {name: value.shape for name, value in model.parameters_.items()} != wanted:
        raise MismatchError("has parameters_, which are not those of its network")


_TOGETHER: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("CoordinatedMixture", "CoordinatedCCA"), (_check_charts,)),
    **{name: (_check_ways,) for name, table in FITTED.items() if "forward_" in table},
    "TableEncoder": (_check_table,),
    "Imputer": (_check_imputer,),
    "HybridEmbedding": (_check_ways, _check_nystrom),
    "KernelInformationEmbedding": (_check_ways, _check_columns, _check_filler),
    "TwoWayEmbedding": (_check_ways, _check_columns),
    "PPCAMixture": (_check_coordinates,),
    "MultipleRelationalEmbedding": (_check_ways, _check_relations),
    **{name: (_check_metric,) for name, table in FITTED.items() if "span_" in table},
    **{name: (_check_network,) for name, table in FITTED.items() if "parameters_" in table},
    **{name: (check,) for name, check in STEP_CHECKS.items()},
}
"""What several attributes must have in common, beyond sizes."""
