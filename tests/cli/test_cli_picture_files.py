"""Rows of a model of pictures come back as picture files."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def folder(tmp_path_factory, run):
    """Forty bars of 8 x 6 pixels by two cameras, the second brighter, and a model that was given the camera."""
    place = tmp_path_factory.mktemp("pictures")
    rng = np.random.default_rng(0)
    for k in range(40):
        camera = "ab"[k % 2]
        pixels = rng.integers(0, 20, (8, 6)) + 60 * (camera == "b")
        pixels[k // 5, :] += 120
        (place / "cams" / camera).mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels.astype(np.uint8)).save(place / "cams" / camera / f"{k:02d}.png")
    command = ("embed", place / "cams", "--recursive", "--given", "folder", "--set", "max_iter=20", "--no-report")
    done = run(*command, "--out", place / "out")
    assert done.code == 0, done.err
    return place


def pictures(place):
    """The grey values of the pictures of a folder, in the order of its table."""
    table = pd.read_csv(place / "pictures.csv")
    return table, np.stack([np.asarray(Image.open(place / name)) for name in table["picture"]]).astype(float)


def test_points_come_back_as_pictures_with_the_grey_values_of_the_data(folder, run, here):
    pd.DataFrame({"z1": [0.0, 0.5, 90.0], "z2": [0.0, 0.2, 0.0]}).to_csv("points.csv", index=False)
    asked = ("invert", folder / "out/model.sidelight", "points.csv", "--given", "folder=b")
    done = run(*asked, "--out", "back")
    assert done.code == 0, done.err
    assert "wrote 3 pictures and pictures.csv into back" in " ".join(done.out.split())
    table, X = pictures(Path("back"))
    assert table["picture"].tolist() == ["0000.png", "0001.png", "0002.png"]
    assert table["unusual"].tolist()[-1]
    assert run(*asked, "--out", "back.csv").code == 0
    numbers = pd.read_csv("back.csv").filter(regex=r"^x\d").to_numpy().reshape(3, 8, 6)
    assert np.abs(X - 255 * numbers.clip(0, 1)).max() <= 0.5
    again = run(*asked, "--out", "back")
    assert again.code == 1
    assert "this folder is not empty; use --force" in again.err
    assert run(*asked, "--out", "back", "--force").code == 0


def test_pictures_under_another_camera_are_called_as_their_files(folder, run, here):
    model, data = folder / "out/model.sidelight", folder / "cams"
    done = run("corrected", model, data, "--recursive", "--to", "folder=b", "--out", "as_b")
    assert done.code == 0, done.err
    table, X = pictures(Path("as_b"))
    assert table["picture"].tolist()[:2] == ["a/00.png", "a/02.png"]
    dark = X[table["picture"].str.startswith("a/")]
    assert dark.mean() > 80  # those of camera a have a mean of 30
    done = run("counterfactual", model, data, "--recursive", "--given", "folder=b", "--out", "also", "--force")
    assert done.code == 0, done.err
    assert sorted(path.name for path in Path("also/b").iterdir())[:2] == ["01.png", "03.png"]


def test_a_folder_is_for_pictures_only(folder, run, here, frame):
    frame.to_csv("flowers.csv", index=False)
    assert run("embed", "flowers.csv", "--no-report", "--set", "max_iter=10", "--out", "t").code == 0
    done = run("invert", "t/model.sidelight", "t/embedding.csv", "--out", "back")
    assert done.code == 1
    assert "--out back: end the name with one of .csv" in done.err
    data = folder / "cams"
    done = run("corrected", folder / "out/model.sidelight", data, "--recursive", "--columns", "x1", "--out", "back")
    assert "pictures have all pixels; leave --columns out" in done.err
    assert not Path("back").exists()
