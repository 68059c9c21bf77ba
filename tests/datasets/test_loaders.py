"""Loaders: what is said when a set is missing or damaged, and the real sets when they are there."""

import os

import numpy as np
import pytest

from sidelight import datasets
from sidelight.datasets._sources import SOURCES

LOADERS = {name: getattr(datasets, f"load_{name}") for name in SOURCES}
REAL = os.environ.get("SIDELIGHT_DATA")
needs_data = pytest.mark.skipif(not REAL, reason="SIDELIGHT_DATA is not set: the real data sets are not here")

TEN_OF_FORTY = np.repeat(np.arange(40, dtype=np.uint8), 10)


def write(home, file, **arrays):
    path = home / file
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **arrays)


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("SIDELIGHT_DATA", str(tmp_path))
    return tmp_path


def test_data_home_is_the_environment_variable_or_none(monkeypatch, tmp_path):
    monkeypatch.setenv("SIDELIGHT_DATA", str(tmp_path))
    assert datasets.data_home() == tmp_path
    monkeypatch.setenv("SIDELIGHT_DATA", "  ")
    assert datasets.data_home() is None
    monkeypatch.delenv("SIDELIGHT_DATA")
    assert datasets.data_home() is None


@pytest.mark.parametrize("name", LOADERS)
def test_without_a_folder_the_error_says_where_the_set_comes_from(name, monkeypatch):
    monkeypatch.delenv("SIDELIGHT_DATA", raising=False)
    with pytest.raises(FileNotFoundError) as error:
        LOADERS[name]()
    message = str(error.value)
    assert message.startswith(f"load_{name}: SIDELIGHT_DATA=(not set) has no ")
    assert SOURCES[name].origin in message
    assert "set SIDELIGHT_DATA to a folder" in message


def test_with_a_folder_that_lacks_the_file_the_error_names_both(home):
    with pytest.raises(FileNotFoundError, match=r"has no frey/frey\.npz") as error:
        datasets.load_frey()
    assert str(home)[:60] in str(error.value)


def test_damaged_and_foreign_files_give_one_sentence(home):
    (home / "frey").mkdir()
    (home / "frey" / "frey.npz").write_bytes(b"not an archive")
    with pytest.raises(ValueError, match=r"load_frey: file=.*cannot be read"):
        datasets.load_frey()
    write(home, "frey/frey.npz", something=np.zeros(3))
    with pytest.raises(ValueError, match=r"load_frey: file=.*cannot be read as an archive with the arrays data"):
        datasets.load_frey()
    write(home, "frey/frey.npz", data=np.array([object()], dtype=object))
    with pytest.raises(ValueError, match=r"load_frey: file=.*cannot be read"):
        datasets.load_frey()


def test_pictures_are_flattened_row_by_row_as_unscaled_float64(home):
    pictures = np.arange(2 * 3 * 2, dtype=np.uint8).reshape(2, 3, 2)
    write(home, "frey/frey.npz", data=pictures)
    data = datasets.load_frey()
    assert data.X.dtype == np.float64
    assert data.image_shape == (3, 2)
    np.testing.assert_array_equal(data.X, pictures.reshape(2, 6))
    np.testing.assert_array_equal(data.factors["time"], [0, 1])


def test_small_unsigned_labels_are_widened(home):
    write(home, "olivetti/olivetti.npz", data=np.zeros((400, 2, 2), np.uint8), labels=TEN_OF_FORTY)
    person = datasets.load_olivetti().factors["person"]
    assert person.dtype == np.int64
    assert (person[0] - person[10]) == -1


def test_olivetti_glasses_are_a_mask_of_people_who_wear_them_always_sometimes_and_never(home):
    write(home, "olivetti/olivetti.npz", data=np.zeros((400, 2, 2), np.uint8), labels=TEN_OF_FORTY)
    glasses = datasets.load_olivetti().factors["glasses"]
    assert glasses.dtype == np.bool_
    assert glasses.sum() == 119
    worn = dict(enumerate(glasses.reshape(40, 10).sum(axis=1).tolist()))
    assert [person for person, count in worn.items() if count == 10] == [1, 5, 13, 26, 27, 30, 33, 36]
    sometimes = {person: count for person, count in worn.items() if 0 < count < 10}
    assert sometimes == {3: 5, 6: 3, 12: 8, 16: 8, 18: 5, 19: 8, 35: 2}


def test_olivetti_beards_are_a_mask_of_the_seven_people_who_have_one(home):
    write(home, "olivetti/olivetti.npz", data=np.zeros((400, 2, 2), np.uint8), labels=TEN_OF_FORTY)
    beard = datasets.load_olivetti().factors["beard"]
    assert beard.dtype == np.bool_
    shown = beard.reshape(40, 10).sum(axis=1)
    assert np.flatnonzero(shown).tolist() == [6, 10, 13, 16, 25, 27, 36]
    assert set(shown.tolist()) == {0, 10}


@pytest.mark.parametrize("labels", [TEN_OF_FORTY[::-1], TEN_OF_FORTY[:30]], ids=["other order", "too few"])
def test_olivetti_in_another_order_is_refused_as_the_glasses_go_by_row_number(home, labels):
    write(home, "olivetti/olivetti.npz", data=np.zeros((len(labels), 2, 2), np.uint8), labels=labels)
    with pytest.raises(ValueError, match=r"load_olivetti: labels=\(\d+,\) are not 40 people x 10 in order"):
        datasets.load_olivetti()


def test_usps_values_are_thousandths_minus_one_to_the_bit(home):
    raw = np.arange(256, dtype=np.uint16)[None] * 7
    write(home, "usps/usps.npz", data=raw, labels=np.array([3], np.uint8), is_test=np.array([1], np.uint8))
    data = datasets.load_usps()
    np.testing.assert_array_equal(data.X[0], [k / 1000 - 1 for k in raw[0]])
    assert data.factors["is_test"].tolist() == [True]
    assert data.image_shape == (16, 16)


def test_walk_drops_the_roots_position(home):
    write(home, "cmu_mocap/cmu_amc_120hz.npz", subject35_01=np.arange(124.0).reshape(2, 62))
    data = datasets.load_cmu_walk()
    assert data.X.shape == (2, 59)
    assert data.X[0, 0] == 3.0


def test_coil_objects_are_picked_by_index_with_their_angles(home):
    labels, view = np.repeat(np.arange(20, dtype=np.uint8), 2), np.tile(np.array([0, 71], np.uint8), 20)
    write(home, "coil20/coil20_32.npz", data=np.zeros((40, 32, 32), np.uint8), labels=labels, view=view)
    data = datasets.load_coil20(objects=[2, 18])
    assert data.factors["object_index"].tolist() == [2, 2, 18, 18]
    assert data.factors["angle"].tolist() == [0.0, 355.0, 0.0, 355.0]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: datasets.load_coil20(size=64), "load_coil20: size=64 is not known"),
        (lambda: datasets.load_mnist("valid"), "load_mnist: split=valid is not known"),
        (lambda: datasets.load_oil_flow("all"), "Choose from 'train', 'valid', 'test'"),
        (lambda: datasets.load_mfeat("hog"), "load_mfeat: view=hog"),
        (lambda: datasets.load_robot_wifi("mars"), "load_robot_wifi: path=mars"),
        (lambda: datasets.load_cmu_walk_jog("x"), "load_cmu_walk_jog: split=x"),
        (lambda: datasets.load_pose_silhouette("x"), "load_pose_silhouette: split=x"),
    ],
)
def test_unknown_choices_get_a_sentence_before_any_file_is_opened(call, words, monkeypatch):
    monkeypatch.delenv("SIDELIGHT_DATA", raising=False)
    with pytest.raises(ValueError, match=words):
        call()


def test_digits_are_scikit_learns():
    data = datasets.load_digits()
    assert data.X.shape == (1797, 64)
    assert data.image_shape == (8, 8)
    assert sorted(set(data.factors["label"].tolist())) == list(range(10))


SHAPES = {
    "cmu_people": (15048, 96),
    "cmu_styles": (4645, 96),
    "cmu_walk": (358, 59),
    "cmu_walk_jog": (2644, 59),
    "coil20": (1440, 1024),
    "frey": (1965, 560),
    "harmony_cell_lines": (2370, 20),
    "isomap_faces": (698, 1024),
    "mfeat": (2000, 240),
    "mnist": (60000, 784),
    "oil_flow": (1000, 12),
    "olivetti": (400, 4096),
    "pose_silhouette": (1927, 100),
    "robot_wifi": (1755, 40),
    "swiss_roll": (20000, 3),
    "umist": (575, 10304),
    "usps": (9298, 256),
    "yaleb": (2414, 1024),
}


def test_every_source_has_a_loader_and_an_expected_shape():
    assert set(SHAPES) == set(SOURCES)
    assert {f"load_{name}" for name in SOURCES} | {"load_digits"} == {
        name for name in datasets.__all__ if name.startswith("load_")
    }


@pytest.mark.data
@needs_data
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.thorough) if name == "mnist" else name for name in SHAPES]
)
def test_real_set_has_its_known_shape_and_finite_values(name):
    data = LOADERS[name]()
    assert data.X.shape == SHAPES[name]
    assert np.isfinite(data.X).all()
    assert data.name == name


@pytest.mark.data
@needs_data
def test_every_choice_of_the_real_sets_loads():
    rows = [len(datasets.load_oil_flow(split).X) for split in ("train", "valid", "test")]
    rows += [len(datasets.load_mnist("test").X), len(datasets.load_cmu_walk_jog("test").X)]
    rows += [len(datasets.load_pose_silhouette("test").X), len(datasets.load_robot_wifi("uwfloor").X)]
    assert rows == [1000, 1000, 1000, 10000, 169, 418, 394]
    views = {view: datasets.load_mfeat(view).X.shape[1] for view in ("fac", "fou", "kar", "mor", "pix", "zer")}
    assert views == {"fac": 216, "fou": 76, "kar": 64, "mor": 6, "pix": 240, "zer": 47}
    assert datasets.load_coil20(128, objects=[5]).X.shape == (72, 128 * 128)


@pytest.mark.data
@needs_data
def test_usps_nearest_neighbour_test_error_is_the_published_one():
    """5.63 % (113 of 2007): the digits, their scale, labels and split are all as they should be."""
    from sklearn.neighbors import KNeighborsClassifier

    data = datasets.load_usps()
    label, test = data.factors["label"], data.factors["is_test"]
    model = KNeighborsClassifier(1).fit(data.X[~test], label[~test])
    assert int((model.predict(data.X[test]) != label[test]).sum()) == 113


@pytest.mark.data
@needs_data
@pytest.mark.thorough
def test_olivetti_glasses_can_be_told_from_the_edges_around_the_eyes_of_unseen_people():
    """Measured 399 of 400, each person held out in turn: the labels fit the pictures, and in this order of rows."""
    from sklearn.model_selection import LeaveOneGroupOut, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    data = datasets.load_olivetti()
    eyes = data.images[:, 6:34]
    eyes = eyes / eyes.std(axis=(1, 2), keepdims=True)
    across, down = np.abs(np.diff(eyes, axis=2))[:, :, :62], np.abs(np.diff(eyes, axis=1))[:, :26]
    edges = [e.reshape(400, e.shape[1] // 2, 2, -1, 2).mean(axis=(2, 4)).reshape(400, -1) for e in (across, down)]
    model = make_pipeline(StandardScaler(), SVC(kernel="linear", C=1e-3, class_weight="balanced"))
    glasses, person = data.factors["glasses"], data.factors["person"]
    told = cross_val_predict(model, np.hstack(edges), glasses, groups=person, cv=LeaveOneGroupOut())
    assert (told == glasses).sum() >= 396
