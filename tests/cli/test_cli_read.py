"""Every kind of file and folder becomes rows of numbers, or one sentence."""

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from sidelight.cli._columns import ColumnRoles
from sidelight.cli._output import CommandError
from sidelight.cli._read import Reading, read


def numbers(frame):
    return frame.drop(columns="kind").to_numpy()


@pytest.mark.parametrize(("name", "separator"), [("a.csv", ","), ("b.csv", ";"), ("c.tsv", "\t"), ("d.txt", "|")])
def test_text_tables_are_read_whatever_separates_their_columns(name, separator, here, frame):
    frame.to_csv(here / name, sep=separator, index=False, encoding="utf-8-sig")
    matrix = read(here / name, Reading())
    np.testing.assert_allclose(matrix.X, numbers(frame))
    assert matrix.names == ["length", "width", "height", "depth"]


def test_a_table_without_a_heading_loses_no_row(here, frame):
    np.savetxt(here / "a.csv", numbers(frame), delimiter=",")
    matrix = read(here / "a.csv", Reading())
    assert matrix.X.shape == (60, 4)
    assert matrix.names == ["x1", "x2", "x3", "x4"]


def test_parquet_keeps_nullable_numbers_and_categories(here, frame):
    frame.astype({"length": "Float64", "kind": "category"}).to_parquet(here / "a.parquet")
    matrix = read(here / "a.parquet", Reading())
    np.testing.assert_allclose(matrix.X, numbers(frame))
    assert list(matrix.colours.columns) == ["kind"]


def test_an_array_keeps_its_precision(here, frame):
    np.save(here / "a.npy", numbers(frame).astype(np.float32))
    matrix = read(here / "a.npy", Reading())
    assert matrix.X.dtype == np.float32
    assert matrix.names is None


def test_a_stack_of_pictures_in_an_array_keeps_its_shape(here):
    np.save(here / "a.npy", np.zeros((5, 4, 3), dtype=np.uint8))
    matrix = read(here / "a.npy", Reading())
    assert matrix.X.shape == (5, 12)
    assert matrix.image_shape == (4, 3)


def test_an_archive_offers_its_other_arrays_as_colours(here, frame):
    np.savez(here / "a.npz", data=numbers(frame), kind=frame["kind"].to_numpy(dtype=str), other=np.eye(3))
    matrix = read(here / "a.npz", Reading())
    assert matrix.X.shape == (60, 4)
    assert matrix.colours["kind"].tolist() == frame["kind"].tolist()
    assert read(here / "a.npz", Reading(key="other")).X.shape == (3, 3)


def test_an_archive_with_several_candidates_asks_for_a_key(here):
    np.savez(here / "a.npz", p=np.eye(3), q=np.eye(4))
    with pytest.raises(CommandError, match="choose the array to embed with --key: p, q"):
        read(here / "a.npz", Reading())
    with pytest.raises(CommandError, match=r"--key r: a\.npz has no such array; it has p, q"):
        read(here / "a.npz", Reading(key="r"))


def test_an_array_of_objects_is_never_unpickled(here):
    np.save(here / "a.npy", np.array([[{}]], dtype=object))
    with pytest.raises(CommandError, match="not a readable NumPy file of plain arrays"):
        read(here / "a.npy", Reading())


@pytest.fixture
def album(here):
    rng = np.random.default_rng(0)
    for kind in ("cat", "dog"):
        (here / "album" / kind).mkdir(parents=True)
        for i in range(3):
            pixels = rng.integers(0, 256, size=(6, 8, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(here / "album" / kind / f"{i}.png")
    (here / "album" / "readme.txt").write_text("not a picture")
    return here / "album"


def test_a_folder_of_pictures_becomes_grey_rows_with_folders_as_colour(album):
    matrix = read(album, Reading(recursive=True))
    assert matrix.X.shape == (6, 48)
    assert matrix.image_shape == (6, 8)
    assert 0 <= matrix.X.min() < matrix.X.max() <= 1
    assert matrix.colours["folder"].tolist() == ["cat"] * 3 + ["dog"] * 3
    assert matrix.row_names.tolist()[:2] == ["cat/0.png", "cat/1.png"]


def test_pictures_of_different_sizes_are_resized_and_that_is_said(album):
    Image.new("L", (20, 20)).save(album / "big.png")
    matrix = read(album, Reading(recursive=True))
    assert matrix.X.shape == (7, 48)
    assert "1 of them resized to 8x6 (--image-size chooses another)" in matrix.remarks[0]
    assert read(album, Reading(image_size=(4, 5))).image_shape == (4, 5)


def test_pictures_in_sub_folders_are_left_out_and_that_is_said(album):
    with pytest.raises(
        CommandError, match=r"no pictures in this folder itself.*have 6: cat \(3\), dog \(3\); add --rec"
    ):
        read(album, Reading())
    Image.new("L", (20, 20)).save(album / "own.png")
    matrix = read(album, Reading())
    assert matrix.row_names.tolist() == ["own.png"]
    assert matrix.remarks[1] == "Pictures in sub-folders are left out: cat (3), dog (3); --recursive takes them."


def test_recursive_is_for_folders_only(table):
    with pytest.raises(CommandError, match=r"--recursive: .*flowers\.csv is not a folder of pictures"):
        read(table, Reading(recursive=True))


def test_sixteen_bit_pictures_are_scaled_and_not_clipped(here):
    (here / "deep").mkdir()
    for i in range(2):
        Image.fromarray(np.array([[0, 30000], [60000, 65535]], dtype=np.uint16)).save(here / "deep" / f"{i}.png")
    np.testing.assert_allclose(read(here / "deep", Reading()).X[0], np.array([0, 30000, 60000, 65535]) / 65535)


def test_a_broken_picture_is_named(album):
    (album / "broken.png").write_bytes(b"\x89PNG and then nothing")
    with pytest.raises(CommandError, match=r"broken\.png: not a readable picture"):
        read(album, Reading())


def test_an_empty_folder_says_so(here):
    (here / "empty").mkdir()
    with pytest.raises(CommandError, match="there are no pictures in this folder"):
        read(here / "empty", Reading())


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.csv", b"", "the file is empty"),
        ("a.csv", b"a,b\n", "the table has no rows"),
        ("a.parquet", b"nothing of the kind", "not a readable PARQUET file"),
        ("a.npy", b"nothing of the kind", "not a readable NumPy file"),
        ("a.npz", b"nothing of the kind", "not a readable NumPy file"),
        ("a.h5ad", b"nothing of the kind", "not a readable AnnData file"),
        ("a.doc", b"x", "unknown kind of file"),
    ],
)
def test_unreadable_files_get_one_sentence(name, content, sentence, here):
    if name.endswith(".h5ad"):
        pytest.importorskip("anndata", reason="needs the extra anndata")
    (here / name).write_bytes(content)
    with pytest.raises(CommandError, match=sentence):
        read(here / name, Reading())


def test_a_missing_file_says_so_and_names_a_similar_one(table, here):
    with pytest.raises(CommandError, match=r"there is no such file or folder$"):
        read(here / "nothing.csv", Reading())
    with pytest.raises(CommandError, match=r"no such file or folder; did you mean flowers\.csv\?"):
        read(here / "flower.csv", Reading())


@pytest.fixture
def cells(here, frame):
    anndata = pytest.importorskip("anndata")
    from scipy import sparse

    obs = pd.DataFrame({"kind": pd.Categorical(frame["kind"])}, index=[f"cell{i}" for i in range(60)])
    var = pd.DataFrame(index=["g1", "g2", "g3", "g4"])
    data = anndata.AnnData(sparse.csr_matrix(numbers(frame)), obs=obs, var=var)
    data.layers["double"] = data.X * 2
    data.obsm["X_pca"] = numbers(frame)[:, :3]
    data.write_h5ad(here / "cells.h5ad")
    return here / "cells.h5ad"


def test_anndata_gives_genes_as_names_and_obs_as_colours(cells, frame):
    matrix = read(cells, Reading())
    np.testing.assert_allclose(matrix.X, numbers(frame))
    assert matrix.names == ["g1", "g2", "g3", "g4"]
    assert matrix.colours["kind"].tolist() == frame["kind"].tolist()
    assert matrix.row_names.iloc[0] == "cell0"


def test_anndata_layers_and_obsm_are_chosen_by_name(cells, frame):
    np.testing.assert_allclose(read(cells, Reading(layer="double")).X, 2 * numbers(frame))
    assert read(cells, Reading(obsm="X_pca")).names == ["X_pca_1", "X_pca_2", "X_pca_3"]
    with pytest.raises(CommandError, match=r"--layer raw: cells\.h5ad has no such entry; it has double"):
        read(cells, Reading(layer="raw"))


def test_anndata_columns_are_matched_to_a_model(cells, frame):
    matrix = read(cells, Reading(expected=["g3", "g1"]))
    np.testing.assert_allclose(matrix.X, numbers(frame)[:, [2, 0]])
    with pytest.raises(CommandError, match="lacks 1 column that the model was fitted on, such as g9"):
        read(cells, Reading(expected=["g9"]))


def test_unknown_colours_are_answered_for_every_kind_of_file(cells, album):
    for source in (cells, album):
        how = Reading(wishes=ColumnRoles(colours=["nothing"]), recursive=source == album)
        with pytest.raises(CommandError, match="--colour nothing"):
            read(source, how)
