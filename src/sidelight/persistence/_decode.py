"""From plain data back to a model: names are looked up, nothing a file says is imported or evaluated."""

from __future__ import annotations

import dataclasses
import math
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from sidelight.base.alias import current_names, moved_parameters, with_present_parameters
from sidelight.base.informed_pipeline import InformedPipeline

from ._container import ModelFileError, Tensors, quoted, unreadable
from ._encode import PASSTHROUGH, SPARSE, always_saved
from ._model_check import check_model
from ._schema import MismatchError
from ._sklearn_steps import STEPS, add_later_attributes, output_width, step_class
from ._tables import callables, estimator_class, record_class

__all__ = ["Decoder"]

_DTYPE = re.compile(r"[<>|=]([biufcSU]\d{1,9}|[Mm]8(\[\d{0,9}(Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\])?)")
_FLOATS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
_BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
_UPGRADE = "Upgrade with `pip install --upgrade sidelight`, or fit and save the model again"


_MOST = 200  # models, or random generators, in one file


class Decoder:
    """Rebuild the values of one file from its tree and its arrays."""

    def __init__(self, path: Path, tensors: Tensors) -> None:
        self._path = path
        self._tensors = tensors
        self._arrays: dict[str, NDArray[Any]] = {}
        self._counted: Counter[str] = Counter()
        self._nested = 0

    def model(self, node: Any) -> Any:
        """Return the model at the root of the tree: an estimator, or a Pipeline of them."""
        kind = node.get("$") if isinstance(node, dict) else None
        if kind == "pipeline":
            return self._pipeline(node)
        if kind != "estimator":
            raise self._wrong("does not hold a model", "Save the model again")
        return self.value(node)

    def _pipeline(self, node: dict[str, Any]) -> Pipeline:
        self._count("models")
        steps = [(str(name), self._step(step)) for name, step in node["steps"]]
        self._check_widths([step for _, step in steps if not (step is None or step == PASSTHROUGH)])
        # Never a place for a cache: a file must not be able to say where things are written.
        kind = InformedPipeline if node.get("informed") is True else Pipeline
        return kind(steps, transform_input=self.value(node["transform_input"]), verbose=bool(node["verbose"]))

    def _step(self, node: Any) -> Any:
        if node is None or node == PASSTHROUGH:
            return node
        kind = node.get("$") if isinstance(node, dict) else None
        return self._sklearn_step(node) if kind == "step" else self.model(node)

    def _check_widths(self, steps: list[Any]) -> None:
        """Each fitted step takes as many columns as the one before it makes."""
        for before, after in pairwise(steps):
            made, taken = output_width(before), getattr(after, "n_features_in_", None)
            if made is not None and taken is not None and made != taken:
                rule = f"holds a Pipeline whose {type(before).__name__} makes {made} columns,"
                rule = f"{rule} and whose {type(after).__name__} takes {quoted(taken)}"
                raise self._wrong(rule, "Fit and save the model again")

    def value(self, node: Any) -> Any:
        """Return the value of a node, whatever it is."""
        if isinstance(node, list):
            return [self.value(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "$" not in node:
            return {key: self.value(item) for key, item in node.items()}
        kinds = {
            "float": self._float,
            "tuple": self._tuple,
            "dict": self._dict,
            "scalar": self._scalar,
            "array": self._array,
            "objects": self._objects,
            "sparse": self._sparse,
            "random": self._random_state,
            "generator": self._generator,
            "callable": self._callable,
            "record": self._record,
            "estimator": self._estimator,
            "step": self._sklearn_step,
            "pipeline": self._pipeline,
            "slice": self._slice,
            "dtype": self._type,
            "numbered": self._numbered,
        }
        kind = kinds.get(node["$"])
        if kind is None:
            raise self._wrong(f"holds a value of the unknown kind {quoted(node['$'])}", _UPGRADE)
        return kind(node)

    def _count(self, what: str) -> None:
        """Count what takes far more memory than its description."""
        self._counted[what] += 1
        if self._counted[what] > _MOST:
            raise self._wrong(f"holds more than {_MOST} {what}", "Save the models in several files")

    def _wrong(self, rule: str, remedy: str) -> ModelFileError:
        return unreadable(self._path, rule, remedy)

    def _float(self, node: dict[str, Any]) -> float:
        return _FLOATS[node["value"]]

    def _tuple(self, node: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(self.value(item) for item in node["items"])

    def _dict(self, node: dict[str, Any]) -> dict[str, Any]:
        return {str(key): self.value(item) for key, item in node["items"]}

    def _dtype(self, text: Any) -> np.dtype[Any]:
        if not isinstance(text, str) or not _DTYPE.fullmatch(text):
            raise self._wrong(f"holds an array of the unknown type {quoted(text)}", _UPGRADE)
        return np.dtype(text)

    def _scalar(self, node: dict[str, Any]) -> Any:
        raw = bytes.fromhex(node["bytes"])
        return np.ndarray((), self._dtype(node["dtype"]), buffer=raw)[()]

    def _array(self, node: dict[str, Any]) -> NDArray[Any]:
        name = node["name"]
        if name not in self._arrays:
            rows = self._tensors[name]
            if "dtype" in node:
                rows = self._from_bytes(rows, self._dtype(node["dtype"]), node["shape"])
            self._arrays[name] = rows.T if node.get("order") == "F" else rows
        return self._arrays[name]

    def _from_bytes(self, raw: NDArray[Any], dtype: np.dtype[Any], shape: Any) -> NDArray[Any]:
        sides = [int(side) for side in shape]
        if raw.dtype != np.uint8 or min(sides, default=0) < 0 or raw.nbytes != math.prod(sides) * dtype.itemsize:
            raise self._wrong("holds an array whose size contradicts its shape", "Save the model again")
        return np.ndarray(tuple(sides), dtype, buffer=raw.tobytes()).copy()

    def _objects(self, node: dict[str, Any]) -> NDArray[Any]:
        name = node.get("text")
        if name is not None and name in self._arrays:  # an array that the model holds twice is written once
            return self._arrays[name]
        items = self._texts(node) if name is not None else [self.value(item) for item in node["items"]]
        flat = np.empty(len(items), dtype=object)
        for i, item in enumerate(items):
            flat[i] = item
        found = flat.reshape(node["shape"])
        if name is not None:
            self._arrays[name] = found
        return found

    def _texts(self, node: dict[str, Any]) -> list[str]:
        text, ends = self._tensors[node["text"]].tobytes(), self._tensors[node["ends"]]
        # parts that overlap would make a large list of a small file
        whole = ends.dtype == np.int64 and ends.ndim == 1 and len(ends) and ends[0] == 0 and ends[-1] == len(text)
        if not whole or (np.diff(ends) < 0).any():
            raise self._wrong("holds texts whose ends contradict their length", "Save the model again")
        return [text[start:end].decode("utf-8", "surrogatepass") for start, end in pairwise(ends.tolist())]

    def _sparse(self, node: dict[str, Any]) -> Any:
        data, indices, indptr = (self.value(node[part]) for part in ("data", "indices", "indptr"))
        matrix = SPARSE[node["kind"]]((data, indices, indptr), shape=tuple(node["shape"]))
        # Compiled code trusts the indices, so they are checked in full; SciPy may narrow their type.
        matrix.check_format(full_check=True)
        matrix.indices, matrix.indptr = indices, indptr
        return matrix

    def _random_state(self, node: dict[str, Any]) -> np.random.RandomState:
        state = self.value(node["state"])
        random = np.random.RandomState(self._bit_generator(state))
        random.set_state(state)
        return random

    def _generator(self, node: dict[str, Any]) -> np.random.Generator:
        state = self.value(node["state"])
        source = self._bit_generator(state)
        source.state = state
        return np.random.Generator(source)

    def _bit_generator(self, state: dict[str, Any]) -> Any:
        self._count("random generators")
        name = state["bit_generator"]
        if name not in _BIT_GENERATORS:
            raise self._wrong(f"names the unknown random generator {quoted(name)}", _UPGRADE)
        return getattr(np.random, name)(0)

    def _callable(self, node: dict[str, Any]) -> Any:
        function = callables().get(node["name"])
        if function is None:
            raise self._wrong(f"names the unknown function {quoted(node['name'])}", _UPGRADE)
        return function

    def _record(self, node: dict[str, Any]) -> Any:
        kind = record_class(node["name"])
        if kind is None:
            raise self._wrong(f"holds a record of the unknown class {quoted(node['name'])}", _UPGRADE)
        fields = {field.name: field for field in dataclasses.fields(kind)}
        self._check_names(node["name"], node["fields"], fields)
        record = object.__new__(kind)
        for name, field in fields.items():
            known = name in node["fields"]
            value = self.value(node["fields"][name]) if known else self._default(node["name"], field)
            object.__setattr__(record, name, value)
        return record

    def _default(self, kind: str, field: dataclasses.Field[Any]) -> Any:
        """Value of a field that an older file does not have yet."""
        if field.default is not dataclasses.MISSING:
            return field.default
        if field.default_factory is not dataclasses.MISSING:
            return field.default_factory()
        raise self._wrong(f"has no field {quoted(field.name)} in its {kind}", "Fit and save the model again")

    def _estimator(self, node: dict[str, Any]) -> Any:
        kind = estimator_class(node["name"])
        if kind is None:
            raise self._wrong(f"holds a model of the unknown class {quoted(node['name'])}", _UPGRADE)
        self._count("models")
        former = {**current_names(kind), **moved_parameters(kind)}  # files of earlier versions have these
        self._check_names(node["name"], node["parameters"], dict.fromkeys([*kind._get_param_names(), *former]))
        self._nested += 1
        parameters = {name: self.value(item) for name, item in node["parameters"].items()}
        model = kind(**with_present_parameters(kind, parameters))
        for name, item in node["attributes"].items():
            if not always_saved(kind, name):
                raise self._wrong(
                    f"sets {quoted(name)}, which is not a fitted attribute", "Fit and save the model again"
                )
            setattr(model, name, self.value(item))
        self._nested -= 1
        try:
            check_model(model, set(node["attributes"]) - {"_sklearn_output_config"}, part=self._nested > 0)
        except MismatchError as error:
            raise self._wrong(f"holds a {node['name']} that {error}", "Fit and save the model again") from error
        return model

    def _sklearn_step(self, node: dict[str, Any]) -> Any:
        name = node["name"]
        kind = step_class(name)
        if kind is None:
            raise self._wrong(f"holds a step of the unknown class {quoted(name)}", _UPGRADE)
        self._count("models")
        remedy = _other_version(node.get("version"))
        unknown = sorted(set(node["parameters"]) - set(kind._get_param_names()))
        unknown += sorted(set(node["attributes"]) - set(STEPS[name][1]))
        if unknown:
            raise self._wrong(f"holds a {name} with the unknown {quoted(unknown[0])}", remedy)
        model = kind(**{key: self.value(item) for key, item in node["parameters"].items()})
        for key, item in node["attributes"].items():
            setattr(model, key, self.value(item))
        add_later_attributes(model)
        try:
            check_model(model, set(node["attributes"]) - {"_sklearn_output_config"})
        except MismatchError as error:
            raise self._wrong(f"holds a {name} that {error}", remedy) from error
        return model

    def _slice(self, node: dict[str, Any]) -> slice:
        start, stop, step = node["ends"]
        return slice(*(self.value(end) for end in (start, stop, step)))

    def _type(self, node: dict[str, Any]) -> Any:
        dtype = np.dtype(object) if node["name"] == "|O" else self._dtype(node["name"])
        return dtype.type if node["class"] else dtype

    def _numbered(self, node: dict[str, Any]) -> dict[int, Any]:
        return {int(key): self.value(item) for key, item in node["items"]}

    def _check_names(self, kind: str, found: dict[str, Any], known: dict[str, Any]) -> None:
        unknown = sorted(set(found) - set(known))
        if unknown:
            raise self._wrong(f"has {kind} with the unknown {quoted(unknown[0])}", _UPGRADE)


def _other_version(saved: Any) -> str:
    """What to do about a step that does not fit the installed scikit-learn."""
    if saved == sklearn.__version__ or not isinstance(saved, str):
        return "Fit and save the model again"
    here = f"It was saved with scikit-learn {quoted(saved)[1:-1]} and this is {sklearn.__version__}"
    return f"{here}: install that version, or fit and save the model again"
