"""What is saved comes back: type, shape, order and every bit."""

import math

import numpy as np
import pytest
from persistence_standins import Grid, Hooked, Shelf, Span
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import rbf_kernel

from sidelight.persistence import ForeignEstimator, load, load_notes, save

RNG = np.random.default_rng(5)

ARRAYS = {
    "float64": RNG.normal(size=(7, 3)),
    "float32": RNG.normal(size=(4, 2, 3)).astype(np.float32),
    "float16": RNG.normal(size=5).astype(np.float16),
    "fortran": np.asfortranarray(RNG.normal(size=(6, 4))),
    "sliced": RNG.normal(size=(20, 6))[::2, ::3],
    "big-endian": np.arange(6, dtype=">i4").reshape(2, 3),
    "bool": RNG.random((3, 3)) > 0.5,
    "uint8": np.arange(256, dtype=np.uint8),
    "int64": np.array([np.iinfo(np.int64).min, np.iinfo(np.int64).max]),
    "complex": np.array([1 + 2j, complex(math.inf, -0.0)]),
    "specials": np.array([np.nan, np.inf, -np.inf, -0.0, 5e-324]),
    "empty": np.empty((0, 4)),
    "zero-dimensional": np.array(2.5),
    "unicode": np.array([["α", "blue"], ["", "x" * 9]]),
    "empty unicode": np.empty((0,), dtype="U3"),
    "fortran unicode": np.asfortranarray(np.array([["α", "blue"], ["", "x"]])),
    "bytes": np.array([b"ab", b"c"]),
    "dates": np.array(["2024-01-01", "NaT"], dtype="datetime64[ns]"),
}


def there_and_back(value, file):
    save(Shelf(value), file)
    return load(file).content


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_return_to_the_bit_with_type_shape_and_order(name, file):
    value = ARRAYS[name]
    back = there_and_back(value, file)
    assert back.dtype == value.dtype
    assert back.dtype.byteorder == value.dtype.byteorder
    assert back.shape == value.shape
    assert back.tobytes() == value.tobytes()
    if value.flags.c_contiguous or value.flags.f_contiguous:
        assert (back.flags.c_contiguous, back.flags.f_contiguous) == (
            value.flags.c_contiguous,
            value.flags.f_contiguous,
        )


@pytest.mark.parametrize(
    "value",
    [None, True, 0, -(2**130), 1.5, -0.0, math.inf, -math.inf, "", "Grüße\n\x00", [], (), {}]
    + [[1, (2, [3.5, "x"])], {"a": {"b": (None,)}}, {"$": "float", "value": "nan"}, {"": 1, "$": 2}],
    ids=repr,
)
def test_plain_values_return_with_their_types(value, file):
    back = there_and_back(value, file)
    assert back == value
    assert repr(back) == repr(value)


@pytest.mark.parametrize(
    "value",
    [np.float32(0.1), np.int8(-3), np.bool_(True), np.str_("ü"), np.str_(""), np.datetime64("2024-05-06")],
    ids=repr,
)
def test_numpy_scalars_return_with_their_types(value, file):
    back = there_and_back(value, file)
    assert type(back) is type(value)
    assert back.dtype == value.dtype
    assert back == value


def test_nan_returns_as_a_python_float(file):
    back = there_and_back([math.nan], file)
    assert type(back[0]) is float
    assert math.isnan(back[0])


@pytest.mark.parametrize(
    "items", [["a", "", "日本", "\ud800"], ["a", None, 3, 2.5, True], [[1, 2], [3, 4]], []], ids=repr
)
def test_object_arrays_return_item_by_item(items, file):
    value = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        value[i] = item
    back = there_and_back(value, file)
    assert back.dtype == object
    assert back.tolist() == items


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.csc_matrix])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_matrices_return_with_index_types(kind, index, file):
    value = kind(sparse.random(9, 5, density=0.3, random_state=0))
    value.indices, value.indptr = value.indices.astype(index), value.indptr.astype(index)
    back = there_and_back(value, file)
    assert type(back) is type(value)
    assert back.shape == value.shape
    for part in ("data", "indices", "indptr"):
        assert getattr(back, part).dtype == getattr(value, part).dtype
        assert getattr(back, part).tobytes() == getattr(value, part).tobytes()


def test_records_nest_and_return_equal(file):
    value = Grid(points=np.eye(3), span=Span(low=-1.0, tags=["x"]))
    back = there_and_back(value, file)
    assert type(back) is Grid
    assert back.span == value.span
    assert (back.points == value.points).all()


def test_an_array_held_twice_is_stored_once_and_shared_again(file):
    rows = RNG.normal(size=(500, 4))
    model = Shelf({"again": rows, "whole view": rows[:]}).fit(rows)
    save(model, file)
    assert file.stat().st_size < 1.2 * rows.nbytes
    back = load(file)
    assert back.kept_ is back.content["again"]
    assert back.kept_ is back.content["whole view"]


def test_loaded_arrays_can_be_written_to(file):
    back = there_and_back(np.zeros(3), file)
    back[0] = 1.0
    assert back[0] == 1.0


def test_fitted_and_listed_attributes_are_kept_and_private_ones_left_out(file):
    save(Shelf().fit(np.ones((2, 2))), file)
    back = load(file)
    assert (back.kept_ == 1).all()
    assert back._hidden == "listed"
    assert not hasattr(back, "_cache")


def test_an_unfitted_model_returns_unfitted(file):
    save(Shelf(3), file)
    assert not hasattr(load(file), "kept_")


def test_models_nest(file):
    back = there_and_back([Shelf(2).fit(np.ones(2))], file)
    assert isinstance(back[0], Shelf)
    assert back[0].content == 2
    assert (back[0].kept_ == 1).all()


def test_set_output_is_kept(file):
    model = Shelf()
    model._sklearn_output_config = {"transform": "pandas"}
    save(model, file)
    assert load(file)._sklearn_output_config == {"transform": "pandas"}


def test_callbacks_are_left_out(file):
    save(Shelf(callback=lambda state: False), file)
    assert load(file).callback is None


@pytest.mark.parametrize("function", [np.exp, np.median, rbf_kernel])
def test_public_functions_return_by_name(function, file):
    assert there_and_back(function, file) is function


@pytest.mark.parametrize(
    "random", [np.random.RandomState(3), np.random.default_rng(3), np.random.Generator(np.random.Philox(3))]
)
def test_random_states_continue_where_they_were(random, file):
    random.normal(size=7)
    save(Shelf(random_state=random), file)
    back = load(file).random_state
    assert type(back) is type(random)
    assert (back.normal(size=9) == random.normal(size=9)).all()


def test_a_foreign_estimator_becomes_a_description(file):
    back = there_and_back(PCA(2), file)
    assert back == ForeignEstimator("sklearn.decomposition._pca.PCA(n_components=2)")


def test_the_hook_replaces_parameters_and_leaves_attributes_out(file):
    save(Hooked(PCA(2)).fit([[1.0, 2.0]]), file)
    back = load(file)
    assert back.estimator is None
    assert not hasattr(back, "estimator_")
    assert back.estimator_description_ == "PCA(n_components=2)"
    assert back.rows_.tolist() == [[1.0, 2.0]]


def test_notes_travel_beside_the_model(file):
    notes = {"command": "sidelight embed x.csv", "scale": [1.0, 2.5], "image_shape": (4, 3)}
    save(Shelf(), file, notes=notes)
    assert load_notes(file) == notes
    save(Shelf(), file)
    assert load_notes(file) == {}


def test_the_same_model_gives_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        save(Shelf({"b": np.arange(5), "a": np.ones(3)}), tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
