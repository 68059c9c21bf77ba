"""From a model to plain data: a JSON tree that refers to arrays by name.

JSON's own values stand for themselves. Everything else is an object with the key ``"$"``, which says what it
is; a dictionary that has this key itself is written as a list of pairs.
"""

from __future__ import annotations

import dataclasses
import math
from collections import UserList
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy import sparse
from sklearn.pipeline import Pipeline

from sidelight.base.informed_pipeline import InformedPipeline
from sidelight.base.messages import error_message

from ._model_check import check_model
from ._schema import MismatchError
from ._sklearn_steps import STEPS, is_step, step_state
from ._tables import callables, estimator_class, record_class

__all__ = ["NATIVE", "PASSTHROUGH", "SPARSE", "Encoder", "ForeignEstimator", "always_saved"]

NATIVE = frozenset({"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}) | {
    "float16",
    "float32",
    "float64",
}
"""Types that the container knows itself; the others are kept as bytes with the name of their type."""

SPARSE = {name: getattr(sparse, name) for name in ("csr_array", "csc_array", "csr_matrix", "csc_matrix")}

PASSTHROUGH = "passthrough"
"""How a Pipeline calls a step that does nothing."""
_PIPELINES = (Pipeline, InformedPipeline)

_DEEPEST = 60

Json = Any


@runtime_checkable
class _Estimator(Protocol):
    """An estimator of any library, also one that does not inherit from scikit-learn's."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name."""


@runtime_checkable
class _SavesItself(Protocol):
    """A model of this library whose file holds other values than its attributes."""

    def __sidelight_state__(self) -> dict[str, Any]:
        """What replaces parameters and attributes."""


@dataclasses.dataclass(frozen=True)
class ForeignEstimator:
    """Placeholder in a loaded model for an estimator of another library, whose code and state were not saved.

    Parameters
    ----------
    description : str
        Class path and parameters, as text.
    """

    description: str

    @classmethod
    def of(cls, estimator: object) -> ForeignEstimator:
        """Describe an estimator.

        Examples
        --------
        >>> from sklearn.decomposition import PCA
        >>> ForeignEstimator.of(PCA(2)).description
        'sklearn.decomposition._pca.PCA(n_components=2)'
        """
        kind = type(estimator)
        text = " ".join(repr(estimator).split())
        text = text.removeprefix(kind.__name__)
        return cls(f"{kind.__module__}.{kind.__qualname__}{text}")


def always_saved(kind: type[Any], name: str) -> bool:
    """Whether an attribute of that name belongs to the fitted state of the class."""
    listed = (*getattr(kind, "_saved_attributes", ()), "_sklearn_output_config")
    return (name.endswith("_") and not name.startswith("__") and name.isidentifier()) or name in listed


class Encoder:
    """Walk a model; collect its arrays in `tensors` and return the tree that describes the rest."""

    def __init__(self) -> None:
        self.tensors: dict[str, NDArray[Any]] = {}
        # Arrays with the same memory, shape and steps are stored once; holding them keeps addresses unique.
        self._known: dict[tuple[Any, ...], tuple[Json, NDArray[Any]]] = {}
        self._depth = 0
        self._inside_step = False

    def model(self, model: object) -> Json:
        """Return the tree of a model of this library, or of a Pipeline with one; anything else is refused."""
        if type(model) in _PIPELINES and _has_ours(model):
            return self._pipeline(model, "Pipeline")
        if not _is_ours(model):
            rule = "is not a model of this library"
            remedy = "Save a Sidelight estimator or a Pipeline that has one; TwoWayEmbedding makes one of any embedding"
            if hasattr(model, "best_estimator_"):  # a search of scikit-learn
                remedy = "Save the model that it found: save(search.best_estimator_, path)"
            raise TypeError(error_message("save", "model", type(model).__name__, rule, remedy))
        return self.value(model, type(model).__name__)

    def _pipeline(self, pipeline: Any, where: str) -> Json:
        """Steps in order, and the other parameters of a Pipeline except its cache."""
        steps = [[name, self._step(name, step, where)] for name, step in pipeline.steps]
        inputs = self.value(pipeline.transform_input, "Pipeline.transform_input")
        node = {"$": "pipeline", "steps": steps, "transform_input": inputs, "verbose": bool(pipeline.verbose)}
        return node | {"informed": True} if type(pipeline) is InformedPipeline else node

    def _step(self, name: str, step: object, where: str) -> Json:
        if type(name) is not str:
            raise _refusal(f"{where}.steps", name, "is the name of a step and not text", "Name steps by text")
        if step is None or (isinstance(step, str) and step == PASSTHROUGH):
            return step
        return self._model_or_step(step, f"{where}.{name}")

    def _model_or_step(self, step: Any, where: str) -> Json:
        """A part of a Pipeline or of a step: a model of this library, a listed step, a Pipeline of these."""
        if type(step) in _PIPELINES:
            return self._pipeline(step, where)
        if is_step(step):
            return self._sklearn_step(step, where)
        if not _is_ours(step):
            rule = "is not a model of this library, nor a step that is saved as data"
            listed = ", ".join(sorted(STEPS))
            remedy = f"Use one of {listed}, let TwoWayEmbedding hold an embedding, or apply the step outside"
            raise TypeError(error_message("save", where, type(step).__name__, rule, remedy))
        return self.value(step, where)

    def _sklearn_step(self, step: Any, where: str) -> Json:
        """State of a scikit-learn step, with the version that set it; checked as it will be when it is loaded."""
        name = type(step).__name__
        try:
            parameters, attributes = step_state(step)
            check_model(step, set(attributes) - {"_sklearn_output_config"})
        except MismatchError as error:
            remedy = "Use another step, or apply it outside the Pipeline"
            raise TypeError(
                error_message("save", where, name, f"cannot be saved as data: it {error}", remedy)
            ) from None
        outer, self._inside_step = self._inside_step, True
        node = {
            "$": "step",
            "name": name,
            "version": sklearn.__version__,
            "parameters": {key: self.value(item, f"{where}.{key}") for key, item in parameters.items()},
            "attributes": {key: self.value(item, f"{where}.{key}") for key, item in attributes.items()},
        }
        self._inside_step = outer
        return node

    def _of_a_step(self, value: Any, where: str) -> Json:
        """Values that only scikit-learn steps hold."""
        if isinstance(value, slice):
            return {"$": "slice", "ends": [self.value(end, where) for end in (value.start, value.stop, value.step)]}
        if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
            return {"$": "dtype", "name": np.dtype(value).str, "class": isinstance(value, type)}
        if isinstance(value, UserList) or type(value).__name__ == "Index":  # columns by name or number
            return self.value(list(value), where)
        if isinstance(value, _Estimator) and not isinstance(value, type):
            return self._model_or_step(value, where)
        return None

    def value(self, value: Any, where: str, *, parameter: bool = False) -> Json:
        """Return the tree of any supported value; ``where`` says where in the model it stands."""
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"$": "float", "value": repr(value)}
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _refusal(where, value, "is nested too deeply, or contains itself", "Keep plain data in the model")
        node = self._compound(value, where, parameter)
        self._depth -= 1
        return node

    def _compound(self, value: Any, where: str, parameter: bool) -> Json:
        if type(value) in (list, tuple, dict):
            return self._collection(value, where, parameter)
        if isinstance(value, np.generic):
            return _scalar(value, where)
        if type(value) in (np.ndarray, np.memmap):
            return self._array(value, where)
        if type(value).__name__ in SPARSE and sparse.issparse(value):
            return self._sparse(value, where)
        if isinstance(value, np.random.RandomState | np.random.Generator):
            return self._random(value, where)
        return self._object(value, where, parameter)

    def _object(self, value: Any, where: str, parameter: bool) -> Json:
        if _is_ours(value):
            return self._estimator(value, where)
        own = self._of_a_step(value, where) if self._inside_step else None
        if own is not None:
            return own
        if record_class(type(value).__name__) is type(value):
            return self._record(value, where)
        if _is_foreign(value) and parameter:
            return self._record(ForeignEstimator.of(value), where)
        if _is_torch_module(value):
            remedy = "Pickle the model, or give layer sizes instead of a module"
            raise _refusal(where, type(value).__name__, "is a torch module, and a model file never holds code", remedy)
        if callable(value):
            return _callable(value, where)
        remedy = "Only numbers, text, arrays, lists, dictionaries and models of this library can be saved"
        raise _refusal(where, value, "is not plain data", remedy)

    def _collection(self, value: Any, where: str, parameter: bool) -> Json:
        if type(value) is dict:
            return self._dict(value, where, parameter)
        items = [self.value(item, f"{where}[{i}]", parameter=parameter) for i, item in enumerate(value)]
        return items if type(value) is list else {"$": "tuple", "items": items}

    def _dict(self, value: dict[Any, Any], where: str, parameter: bool) -> Json:
        if self._inside_step and value and all(type(key) is int for key in value):
            pairs = [[key, self.value(item, f"{where}[{key}]")] for key, item in value.items()]
            return {"$": "numbered", "items": pairs}
        for key in value:
            if type(key) is not str:
                raise _refusal(where, key, "is a key of a dictionary and not text", "Use text as keys")
        items = {key: self.value(item, f"{where}.{key}", parameter=parameter) for key, item in value.items()}
        return {"$": "dict", "items": [list(pair) for pair in items.items()]} if "$" in items else items

    def _array(self, value: NDArray[Any], where: str) -> Json:
        key = (value.__array_interface__["data"][0], value.shape, value.strides, value.dtype.str)
        if key not in self._known:
            encode = self._object_array if value.dtype.kind == "O" else self._plain_array
            self._known[key] = (encode(value, where), value)
        return self._known[key][0]

    def _plain_array(self, value: NDArray[Any], where: str) -> Json:
        _check_type(value.dtype, where)
        # Results depend on the order in memory in their last bits, so a part of a matrix by columns is kept so, too.
        by_columns = value.ndim == 2 and abs(value.strides[0]) < abs(value.strides[1])
        fortran = (value.flags.f_contiguous or by_columns) and not value.flags.c_contiguous
        rows = np.array(value.T if fortran else value, order="C", copy=None, subok=False)
        node = {"$": "array", **({"order": "F"} if fortran else {})}
        if rows.dtype.name in NATIVE and rows.dtype.isnative:
            return node | {"name": self._store(rows, where)}
        raw = np.frombuffer(rows.tobytes(), dtype=np.uint8)
        return node | {"name": self._store(raw, where), "dtype": rows.dtype.str, "shape": list(rows.shape)}

    def _object_array(self, value: NDArray[Any], where: str) -> Json:
        items = value.ravel().tolist()
        node = {"$": "objects", "shape": list(value.shape)}
        if not all(type(item) is str for item in items):
            return node | {"items": [self.value(item, f"{where}[{i}]") for i, item in enumerate(items)]}
        # surrogatepass: pandas and file names can hold lone surrogates, which are legal in a Python str.
        parts = [item.encode("utf-8", "surrogatepass") for item in items]
        ends = np.cumsum([0, *map(len, parts)], dtype=np.int64)
        text = np.frombuffer(b"".join(parts), dtype=np.uint8)
        return node | {"text": self._store(text, f"{where}.text"), "ends": self._store(ends, f"{where}.ends")}

    def _sparse(self, value: Any, where: str) -> Json:
        node = {"$": "sparse", "kind": type(value).__name__, "shape": [int(side) for side in value.shape]}
        for part in ("data", "indices", "indptr"):
            node[part] = self.value(getattr(value, part), f"{where}.{part}")
        return node

    def _random(self, value: Any, where: str) -> Json:
        if isinstance(value, np.random.RandomState):
            return {"$": "random", "state": self.value(value.get_state(legacy=False), where)}
        return {"$": "generator", "state": self.value(value.bit_generator.state, where)}

    def _record(self, value: Any, where: str) -> Json:
        items = {
            field.name: self.value(getattr(value, field.name), f"{where}.{field.name}")
            for field in dataclasses.fields(value)
        }
        return {"$": "record", "name": type(value).__name__, "fields": items}

    def _estimator(self, model: Any, where: str) -> Json:
        parameters, attributes = _state(model)
        outer, self._inside_step = self._inside_step, False
        node = {
            "$": "estimator",
            "name": type(model).__name__,
            "parameters": {
                name: self.value(value, f"{where}.{name}", parameter=True) for name, value in parameters.items()
            },
            "attributes": {
                name: self.value(_without_seconds(value) if name == "history_" else value, f"{where}.{name}")
                for name, value in attributes.items()
            },
        }
        self._inside_step = outer
        return node

    def _store(self, rows: NDArray[Any], where: str) -> str:
        name, again = where, 2
        while name in self.tensors:
            name, again = f"{where} ({again})", again + 1
        self.tensors[name] = rows
        return name


def _without_seconds(history: Any) -> Any:
    """The records of a fit without the time each took: two runs of the same fit are the same file."""
    if not isinstance(history, list) or not all(type(record) is dict for record in history):
        return history
    return [{name: value for name, value in record.items() if name != "seconds"} for record in history]


def _is_ours(value: Any) -> bool:
    return estimator_class(type(value).__name__) is type(value)


def _has_ours(pipeline: Any) -> bool:
    """Whether a model of this library is among the steps, or a class that may become one (to be refused by name)."""
    return any(
        _has_ours(step) if type(step) in _PIPELINES else not isinstance(step, str | None) and not is_step(step)
        for _, step in pipeline.steps
    )


def _is_foreign(value: Any) -> bool:
    return isinstance(value, _Estimator) and not isinstance(value, type) and not _is_ours(value)


def _state(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return parameters and fitted attributes, after what the class's own ``__sidelight_state__`` changes.

    The hook returns a dictionary: the name of a parameter replaces that parameter, any other name replaces or
    adds an attribute, and ``...`` leaves an attribute out.
    """
    changes: dict[str, Any] = model.__sidelight_state__() if isinstance(model, _SavesItself) else {}
    parameters: dict[str, Any] = model.get_params(deep=False)
    attributes = {name: value for name, value in vars(model).items() if name not in parameters}
    attributes |= {name: value for name, value in changes.items() if name not in parameters}
    parameters |= {name: value for name, value in changes.items() if name in parameters}
    if "callback" in parameters:
        parameters["callback"] = None
    # A foreign estimator is described once, as the parameter; its fitted clone holds what we never save.
    clones = {f"{name}_" for name in parameters if _is_foreign(attributes.get(f"{name}_"))}
    attributes = {name: value for name, value in attributes.items() if name not in clones}
    kept = {n: v for n, v in attributes.items() if v is not ... and always_saved(type(model), n)}
    return parameters, kept


def _is_torch_module(value: object) -> bool:
    """Whether a value is a ``torch.nn.Module``; does not import torch."""
    return any(f"{kind.__module__}.{kind.__name__}" == "torch.nn.modules.module.Module" for kind in type(value).__mro__)


def _scalar(value: np.generic, where: str) -> Json:
    _check_type(value.dtype, where)
    return {"$": "scalar", "dtype": value.dtype.str, "bytes": value.tobytes().hex()}


def _check_type(dtype: np.dtype[Any], where: str) -> None:
    if dtype.kind not in "biufcSUMm":
        raise _refusal(where, dtype, "is not a type that can be saved", "Use numbers, text or dates")


def _callable(value: Callable[..., Any], where: str) -> Json:
    name = next((name for name, function in callables().items() if function is value), None)
    if name is None:
        remedy = "Give it by name, or use a function of NumPy or scikit-learn"
        raise _refusal(where, value, "is a function of your own, and a model file never holds code", remedy)
    return {"$": "callable", "name": name}


def _refusal(where: str, seen: object, rule: str, remedy: str) -> TypeError:
    return TypeError(error_message("save", where, seen, rule, remedy))
