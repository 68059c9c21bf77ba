"""A description is bounded before it is read, and what a file says of itself cannot steer a terminal."""

import hashlib
import json
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from persistence_standins import Shelf
from safetensors.numpy import save_file

from sidelight import KernelInformationEmbedding, MultipleRelationalEmbedding, PPCAMixture, Relation, load, save
from sidelight.persistence import ModelFileError, _container, _limits

X = np.random.default_rng(0).normal(size=(120, 5))


def signed(model, tensors, writer="sidelight 1", form=1):
    """The text of a description, as given, with a checksum that is right."""
    head = f'{{"format":{form},"writer":{json.dumps(writer)},'
    body = f'"notes":{{}},"model":{model}}}'
    digest = hashlib.sha256((head + body).encode())
    for name in sorted(tensors):
        rows = tensors[name]
        digest.update(_container._dump([name, rows.dtype.str, list(rows.shape)]).encode())
        digest.update(rows.tobytes())
    return f'{head}"digest":"{digest.hexdigest()}",{body}'


def write(file, attribute, tensors=None, **head):
    model = '{"$":"estimator","name":"TwoWayEmbedding","parameters":{},"attributes":{"embedding_":' + attribute + "}}"
    tensors = {} if tensors is None else tensors
    save_file(tensors, file, metadata={"sidelight": signed(model, tensors, **head)})


def many(item, characters=700_000):
    return "[" + ",".join([item] * (characters // (len(item) + 1))) + "]"


STATE = '{"bit_generator":"MT19937","state":{"key":{"$":"array","name":"k"},"pos":0},"has_gauss":0,"gauss":0.0}'
TENSORS = {
    "k": np.arange(624, dtype=np.uint32),
    "t": np.full(100_000, 97, dtype=np.uint8),
    "e": np.array([0, 100_000] * 500, dtype=np.int64),  # five hundred texts of all the letters
}
BOMBS = {
    "empty lists": (many("[]"), {}),
    "empty dictionaries": (many("{}"), {}),
    "small dictionaries": (many('{"a":0}'), {}),
    "digits": (many("0"), {}),
    "numbers": (many("1.5"), {}),
    "words": (many('"ab"'), {}),
    "tuples": (many('{"$":"tuple","items":[]}'), {}),
    "records": (many('{"$":"record","name":"ForeignEstimator","fields":{"description":""}}'), {}),
    "nesting": ("[" * 350_000 + "]" * 350_000, {}),
    "one huge number": ("9" * 700_000, {}),
    "models": (many('{"$":"estimator","name":"PPCAMixture","parameters":{},"attributes":{}}'), {}),
    "generators": (many('{"$":"random","state":' + STATE + "}"), TENSORS),
    "overlapping texts": (many('{"$":"objects","shape":[999],"text":"t","ends":"e"}'), TENSORS),
}
CHILD = """
import resource, sys
import numpy, safetensors.numpy, sidelight
from sidelight.persistence import ModelFileError, load
sidelight.PPCAMixture, sidelight.TwoWayEmbedding
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for path in sys.argv[1:]:
    try:
        load(path)
    except ModelFileError:
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.thorough
def test_refused_files_take_memory_of_a_small_multiple_of_their_size(tmp_path):
    """All of the process, which includes what reads the container; it was 1,200 times the size."""
    files = [tmp_path / str(number) for number in range(len(BOMBS))]
    for path, bomb in zip(files, BOMBS.values(), strict=True):
        write(path, *bomb)
    command = [sys.executable, "-c", CHILD, *map(str, files)]
    found = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert len(found.stdout.split()) == len(BOMBS)
    kilobytes = max(map(int, found.stdout.split()))
    assert kilobytes * 1024 < 25 * max(path.stat().st_size for path in files)


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.thorough
def test_a_refused_file_is_not_unfolded(name, file):
    write(file, *BOMBS[name])
    with pytest.raises(ModelFileError):
        load(file)  # modules that are imported on the way do not count
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError) as caught:
            load(file)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 16 * file.stat().st_size
    assert len(str(caught.value)) < 400


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.thorough
def test_the_largest_real_descriptions_are_far_within_the_limits(file):
    """A long history, thousands of categories, 34 relations, many charts: none uses a third of what is allowed."""
    model = KernelInformationEmbedding(max_iter=5, perplexity=8.0).fit(X, given=(np.arange(120) % 40).astype(str))
    model.history_ = model.history_ * (20_000 // len(model.history_))
    relations = {f"system {i}": Relation.from_values(X[:, i % 5] + i) for i in range(34)}
    largest = {
        "history": model,
        "relations": MultipleRelationalEmbedding(max_iter=1).fit(X, relations=relations),
        "charts": PPCAMixture(40, 1, n_init=1, max_iter=2, random_state=0).fit(X),
        "categories": Shelf(tuple(f"category {i}" for i in range(20_000))),
        "columns": Shelf([list(range(2_000)), list(range(2_000, 4_000))]),
    }
    for name, kept in largest.items():
        save(kept, file)
        text, _ = _container._read_safetensors(file)
        containers, entries = _limits.counted(text)
        allowed = _limits.allowed(len(text))
        assert containers < allowed[0] / 1.5, name
        assert entries < allowed[1] / 1.5, name
        load(file)


def test_what_could_not_be_read_back_is_not_written(file):
    with pytest.raises(
        TypeError, match=r"^save: model=<model> is described by 50006 lists and dictionaries in \d+ char"
    ):
        save(Shelf([[] for _ in range(50_000)]), file)
    assert not file.exists()


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_json_does_not_have_are_said(number, file):
    write(file, number)
    with pytest.raises(ModelFileError, match=r"is damaged: its description (is not readable|holds what JSON has no)"):
        load(file)


@pytest.mark.parametrize("writer", ["\x1b[2J\x1b]0;owned\x07", "x" * 10_000_000, "two\nlines\r\x00", ["a"] * 999, None])
def test_the_name_of_the_writer_is_quoted_and_cut(writer, file):
    write(file, "0", writer=writer, form=7)
    with pytest.raises(ModelFileError, match="has format 7") as caught:
        load(file)
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) < 400


HOSTILE = "\x1b[31m" + "x" * 100_000
NODES = [
    {"$": HOSTILE},
    {"$": [HOSTILE] * 50},
    {"$": "record", "name": HOSTILE, "fields": {}},
    {"$": "record", "name": "Frame", "fields": {HOSTILE: 1}},
    {"$": "estimator", "name": HOSTILE, "parameters": {}, "attributes": {}},
    {"$": "estimator", "name": "PPCAMixture", "parameters": {HOSTILE: 1}, "attributes": {}},
    {"$": "estimator", "name": "PPCAMixture", "parameters": {}, "attributes": {HOSTILE: 1}},
    {"$": "array", "name": HOSTILE},
    {"$": "callable", "name": HOSTILE},
    {"$": "scalar", "dtype": HOSTILE, "bytes": ""},
    {"$": "scalar", "dtype": "<f8", "bytes": HOSTILE},
    {"$": "random", "state": {"bit_generator": HOSTILE}},
    {"$": "float", "value": HOSTILE},
    {"$": "sparse", "kind": HOSTILE, "shape": [1, 1], "data": 1, "indices": 1, "indptr": 1},
]


@pytest.mark.parametrize("node", NODES, ids=lambda node: str(node["$"])[:10])
def test_no_text_of_a_file_reaches_a_message_as_it_is(node, file):
    write(file, json.dumps(node, separators=(",", ":")))
    with pytest.raises(ModelFileError) as caught:
        load(file)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


def test_messages_of_the_library_are_one_line_whatever_a_loaded_model_holds(file):
    save(KernelInformationEmbedding(penalty="\x1b[2J\n"), file)
    with pytest.raises(ValueError, match=r"penalty=\\x1b\[2J\\n is not an option") as caught:
        load(file).fit(X)
    assert str(caught.value).isprintable()
