"""What cannot be saved is refused with a sentence, and a save that fails changes nothing."""

import os
import stat

import numpy as np
import pytest
from persistence_standins import Shelf, Stranger, Unlisted
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from sidelight import ProbabilisticPCA
from sidelight.base import files as _atomic
from sidelight.persistence import load, save


@pytest.mark.parametrize("model", [Unlisted(), PCA(), make_pipeline(PCA()), "model", None], ids=repr)
def test_only_models_of_the_library_are_saved(model, file):
    with pytest.raises(TypeError, match="is not a model of this library"):
        save(model, file)
    assert not file.exists()


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (lambda x: x, r"Shelf\.content=.*a model file never holds code"),
        (np.save, "a model file never holds code"),
        (print, "a model file never holds code"),
        (object(), r"Shelf\.content=.*is not plain data"),
        (Stranger(1), "is not plain data"),
        ({1: 2}, "is a key of a dictionary and not text"),
        (np.zeros(2, dtype=[("a", float)]), "is not a type that can be saved"),
        (np.ma.masked_array([1.0]), "is not plain data"),
        ([{"deep": {3}}], r"Shelf\.content\[0\]\.deep"),
    ],
)
def test_what_is_not_plain_data_is_refused_by_its_place(value, sentence, file):
    with pytest.raises(TypeError, match=sentence):
        save(Shelf(value), file)
    assert not file.exists()


def test_a_foreign_estimator_among_fitted_attributes_is_refused(file):
    with pytest.raises(TypeError, match=r"Shelf\.kept_=PCA"):
        save(Shelf().fit(PCA()), file)


def test_a_value_that_contains_itself_is_refused(file):
    ring = []
    ring.append(ring)
    with pytest.raises(TypeError, match="contains itself"):
        save(Shelf(ring), file)


def test_a_failing_save_leaves_the_old_file_and_no_litter(file, monkeypatch):
    save(Shelf("old"), file)
    before = file.read_bytes()

    def no_space(path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_atomic, "_flush", no_space)
    with pytest.raises(OSError, match="No space left"):
        save(Shelf("new"), file)
    assert file.read_bytes() == before
    assert [entry.name for entry in file.parent.iterdir()] == [file.name]


def test_saving_into_a_missing_folder_says_so(tmp_path):
    with pytest.raises(FileNotFoundError):
        save(Shelf(), tmp_path / "nowhere" / "model.sidelight")


@pytest.mark.skipif(os.name == "nt", reason="permissions are POSIX's")
def test_permissions_follow_the_umask_and_then_the_replaced_file(file):
    save(Shelf(), file)
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(file.stat().st_mode) == 0o666 & ~umask
    file.chmod(0o640)
    save(Shelf("again"), file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert load(file).content == "again"


def test_a_search_is_refused_with_what_to_save_instead(tmp_path):
    search = GridSearchCV(ProbabilisticPCA(), {"n_components": [1, 2]}, cv=2)
    search.fit(np.random.default_rng(0).normal(size=(40, 4)))
    with pytest.raises(TypeError, match=r"model=GridSearchCV is not a model .* save\(search\.best_estimator_, path\)"):
        save(search, tmp_path / "model.sidelight")
    save(search.best_estimator_, tmp_path / "model.sidelight")


def test_a_path_that_cannot_be_written_is_named_as_it_was_given(tmp_path):
    path = tmp_path / "nowhere" / "model.sidelight"
    with pytest.raises(FileNotFoundError) as caught:
        save(ProbabilisticPCA(1).fit(np.random.default_rng(0).normal(size=(40, 4))), path)
    assert caught.value.filename == str(path)
