"""A file that is not a whole model of ours gives one clear error, quickly and without taking memory."""

import contextlib
import io
import json
import pickle
import resource
import warnings

import numpy as np
import pytest
from persistence_standins import Grid, Shelf, Span
from safetensors.numpy import save_file
from scipy import sparse

from sidelight.persistence import ModelFileError, _container, load, load_notes, save


@pytest.fixture
def saved(file):
    content = {
        "names": np.array(["a", "b"], dtype=object),
        "labels": np.array(["x", "yy"]),
        "sparse": sparse.csr_array(np.eye(4)),
        "grid": Grid(np.eye(2), Span(0.0)),
    }
    model = Shelf(content, random_state=np.random.RandomState(0))
    save(model.fit(np.random.default_rng(0).normal(size=(30, 4))), file, notes={"command": "x"})
    return file


def rewrite(file, change, *, tensors=None):
    """Change the tree of a saved file and sign it again, as a forger (or a bug) would."""
    document, arrays = _container.read_document(file)
    change(document)
    _container.write_container(
        file, {key: document[key] for key in ("notes", "model")}, arrays if tensors is None else tensors
    )


def test_an_empty_file_is_named_as_such(file):
    file.write_bytes(b"")
    with pytest.raises(ModelFileError, match=r"is empty\. Copy the file again"):
        load(file)


def a_picture():
    from PIL import Image

    buffer = io.BytesIO()
    Image.new("L", (40, 40)).save(buffer, "PNG")
    return buffer.getvalue()


def an_array():
    buffer = io.BytesIO()
    np.save(buffer, np.zeros(100))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (a_picture, "it looks like a PNG image"),
        (
            lambda: pickle.dumps({"a": list(range(100))}),
            "it looks like a pickle, which Sidelight never opens",
        ),
        (an_array, "it looks like a NumPy array file"),
        (lambda: b"a,b\n" + b"1,2\n" * 200, "is not a Sidelight model"),
        (lambda: b"abc", "is not a Sidelight model"),
        (lambda: (16).to_bytes(8, "little") + b"not json at all!" * 3, "is damaged, cut short or not"),
        (lambda: (2).to_bytes(8, "little") + b"{}", "is a safetensors file, but not a Sidelight model"),
        (lambda: (2).to_bytes(8, "little") + b"{}extra", "is damaged, cut short or not"),
    ],
)
def test_foreign_files_are_recognised(content, sentence, file):
    file.write_bytes(content())
    with pytest.raises(ModelFileError, match=sentence):
        load(file)


def test_somebody_elses_safetensors_file_is_recognised(file):
    save_file({"weight": np.ones(3)}, file, metadata={"format": "pt"})
    with pytest.raises(ModelFileError, match="is a safetensors file, but not a Sidelight model"):
        load(file)


def test_a_missing_file_is_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing.sidelight")


@pytest.mark.parametrize("length", [2**63 - 1, 2**40, 10**8, 0])
def test_a_header_that_lies_about_its_size_is_refused_without_memory(length, saved):
    saved.write_bytes(length.to_bytes(8, "little") + saved.read_bytes()[8:])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ModelFileError):
        load(saved)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # kB


def test_arrays_that_reach_past_the_end_of_the_file_are_refused_without_memory(saved):
    raw = saved.read_bytes()
    size = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + size])
    last = max((name for name in header if name != "__metadata__"), key=lambda n: header[n]["data_offsets"][1])
    start = header[last]["data_offsets"][0]
    header[last] = {"dtype": "F64", "shape": [2**40], "data_offsets": [start, start + 2**43]}
    text = json.dumps(header).encode()
    saved.write_bytes(len(text).to_bytes(8, "little") + text + raw[8 + size :])
    with pytest.raises(ModelFileError, match="is damaged, cut short"):
        load(saved)


def test_a_newer_format_asks_for_an_upgrade(saved, monkeypatch):
    monkeypatch.setattr(_container, "FORMAT", 7)
    save(Shelf(), saved)
    monkeypatch.undo()
    with pytest.raises(ModelFileError, match=r"has format 7.*reads up to 1\. .*pip install --upgrade sidelight"):
        load(saved)


def test_a_flipped_bit_in_an_array_is_noticed(saved):
    raw = bytearray(saved.read_bytes())
    raw[-3] ^= 1
    saved.write_bytes(raw)
    with pytest.raises(ModelFileError, match="does not match its checksum"):
        load(saved)
    with pytest.raises(ModelFileError, match="does not match its checksum"):
        load_notes(saved)


def test_an_unknown_class_is_not_imported(saved):
    rewrite(saved, lambda document: document["model"].update(name="os.system"))
    with pytest.raises(ModelFileError, match=r"the unknown class 'os\.system'.*pip install --upgrade"):
        load(saved)


def attributes(**changes):
    return lambda document: document["model"]["attributes"].update(changes)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (attributes(__class__="x"), "'__class__', which is not a fitted attribute"),
        (attributes(fit="x"), "'fit', which is not a fitted attribute"),
        (attributes(kept_={"$": "callable", "name": "numpy.save"}), "the unknown function 'numpy.save'"),
        (attributes(kept_={"$": "record", "name": "Stranger", "fields": {}}), "the unknown class 'Stranger'"),
        (attributes(kept_={"$": "record", "name": "Span", "fields": {}}), "has no field 'low' in its Span"),
        (attributes(kept_={"$": "record", "name": "Span", "fields": {"low": 1, "x": 2}}), "the unknown 'x'"),
        (attributes(kept_={"$": "pickle", "bytes": ""}), "the unknown kind 'pickle'"),
        (attributes(kept_={"$": []}), "cannot be built"),
        (attributes(kept_={"$": "array", "name": "nowhere"}), r"cannot be built \(KeyError"),
        (attributes(kept_={"$": "scalar", "dtype": "|O8", "bytes": "00" * 8}), r"the unknown type '\|O8'"),
        (attributes(kept_={"$": "scalar", "dtype": "<f8", "bytes": "00"}), "cannot be built"),
        (attributes(kept_={"$": "objects", "shape": [10**12], "items": []}), "cannot be built"),
        (attributes(kept_={"$": "random", "state": {"bit_generator": "seed"}}), "unknown random generator"),
        (lambda document: document["model"]["parameters"].update(extra=1), "Shelf with the unknown 'extra'"),
        (lambda document: document.update(model=[1, 2]), "does not hold a model"),
    ],
)
def test_a_forged_tree_is_refused(change, sentence, saved):
    rewrite(saved, change)
    with pytest.raises(ModelFileError, match=sentence):
        load(saved)


def test_forged_sparse_indices_never_reach_compiled_code(saved):
    _, arrays = _container.read_document(saved)
    name = next(name for name in arrays if name.endswith("sparse.indices"))
    arrays[name] = np.full_like(arrays[name], 10**6)
    rewrite(saved, lambda document: None, tensors=arrays)
    with pytest.raises(ModelFileError, match="cannot be built"):
        load(saved)


def test_a_tree_nested_without_end_is_refused(saved):
    text = '{"format":1,"digest":"","notes":' + "[" * 200_000 + "]" * 200_000 + "}"
    save_file({}, saved, metadata={"sidelight": text})
    with pytest.raises(ModelFileError):
        load(saved)


def test_records_of_an_older_file_get_the_defaults_of_newer_fields(saved):
    rewrite(saved, attributes(kept_={"$": "record", "name": "Span", "fields": {"low": -2.0}}))
    assert load(saved).kept_ == Span(-2.0)


def damaged(whole, seed):
    """The bytes of a file, cut off or with up to four others among them."""
    rng = np.random.default_rng(seed)
    raw = bytearray(whole)
    header = 8 + int.from_bytes(raw[:8], "little")
    if seed % 3 == 0:
        return raw[: rng.integers(len(raw))]
    # Arrays outweigh the header by far, so half of the damage aims at the header.
    stop = header if seed % 3 == 1 else len(raw)
    for place in rng.integers(stop, size=rng.integers(1, 5)):
        raw[place] = rng.integers(256)
    return raw


@pytest.mark.parametrize("first", range(0, 300, 25))
def test_random_damage_is_harmless_or_said(first, saved):
    whole, untouched = saved.read_bytes(), load(saved)
    for seed in range(first, first + 25):
        saved.write_bytes(damaged(whole, seed))
        assert_loads_or_complains(saved, untouched, seed)


def assert_loads_or_complains(file, untouched, seed):
    with warnings.catch_warnings(), contextlib.suppress(ModelFileError):
        warnings.simplefilter("error")
        assert (load(file).kept_ == untouched.kept_).all(), f"seed {seed}"


WRONG = [None, -1, 10**30, "x", [], {}, [[]], {"$": "array"}, 1e308, True, "<U999999999", "nan"]


def places(node, found):
    """Every (container, key) of a tree."""
    pairs = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, item in pairs:
        found.append((node, key))
        places(item, found)
    return found


@pytest.mark.parametrize("first", range(0, 200, 25))
def test_random_forgery_with_a_valid_checksum_is_harmless_or_said(first, saved):
    whole = saved.read_bytes()
    for seed in range(first, first + 25):
        rng = np.random.default_rng(seed)

        def forge(document, rng=rng):
            found = places(document["model"], [])
            container, key = found[rng.integers(len(found))]
            container[key] = WRONG[rng.integers(len(WRONG))]

        saved.write_bytes(whole)
        rewrite(saved, forge)
        with contextlib.suppress(ModelFileError):
            assert isinstance(load(saved), Shelf), f"seed {seed}"
