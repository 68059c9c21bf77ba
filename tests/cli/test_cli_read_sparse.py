"""Sparse matrices: small ones in full, large ones by their singular vectors, and that is said."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.io import mmwrite

import sidelight.cli._read_arrays as arrays
from sidelight.cli._output import CommandError
from sidelight.cli._read import Reading, read


@pytest.fixture(params=["npz", "mtx"])
def counts(request, here):
    matrix = sparse.random_array(
        (40, 30), density=0.2, random_state=np.random.default_rng(0), data_sampler=lambda size: 3.0 * np.ones(size)
    )
    matrix = sparse.csr_array(matrix)
    path = here / f"counts.{request.param}"
    if request.param == "npz":
        sparse.save_npz(path, matrix)
    else:
        mmwrite(path, matrix)
    return path, matrix.toarray()


def test_a_small_sparse_matrix_is_read_in_full(counts):
    path, full = counts
    matrix = read(path, Reading())
    np.testing.assert_array_equal(matrix.X, full)
    n = np.count_nonzero(full)
    said = f"The sparse matrix of counts (40 x 30, {n} entries) is embedded as it is, with zeros written out."
    assert matrix.remarks == [said]


def test_a_large_sparse_matrix_is_reduced_to_its_first_singular_vectors(counts, monkeypatch):
    path, full = counts
    monkeypatch.setattr(arrays, "MOST_ENTRIES", 100)
    monkeypatch.setattr(arrays, "_N_SINGULAR", 5)
    matrix = read(path, Reading())
    assert matrix.names == [f"singular_{k + 1}" for k in range(5)]
    assert "reduced to 5 columns by its truncated SVD" in matrix.remarks[0]
    U, s, _ = np.linalg.svd(full, full_matrices=False)
    np.testing.assert_allclose(matrix.X @ matrix.X.T, (U[:, :5] * s[:5] ** 2) @ U[:, :5].T, atol=1e-8 * s[0] ** 2)
    np.testing.assert_allclose(np.linalg.norm(matrix.X, axis=0), s[:5], rtol=1e-8)


def test_the_reduction_is_the_same_at_every_run(counts, monkeypatch):
    """Bytes may be compared: one process, one thread, and a start that is drawn with a fixed seed."""
    path, _ = counts
    monkeypatch.setattr(arrays, "MOST_ENTRIES", 100)
    assert read(path, Reading()).X.tobytes() == read(path, Reading()).X.tobytes()


def test_new_rows_of_a_matrix_that_stayed_sparse_are_placed_as_those_of_the_fit(counts, monkeypatch, run):
    path, full = counts
    monkeypatch.setattr(arrays, "MOST_ENTRIES", 100)
    told = run("embed", path, "--out", "out", "--method", "pca", "--no-report")
    assert told.code == 0, told.err
    assert "stays sparse: it is reduced to 50 principal coordinates; reconstructions have all columns" in told.out
    fitted = pd.read_csv("out/embedding.csv")[["z1", "z2"]]
    monkeypatch.setattr(arrays, "MOST_ENTRIES", 1e6)  # a few rows are written out
    sparse.save_npz("few.npz", sparse.csr_array(full[:7]))
    done = run("transform", "out/model.sidelight", "few.npz", "--out", "z.csv")
    assert done.code == 0, done.err
    np.testing.assert_allclose(pd.read_csv("z.csv")[["z1", "z2"]], fitted[:7], atol=1e-9 * np.abs(full).max())
    back = run("invert", "out/model.sidelight", "z.csv", "--out", "rows.csv", "--columns", "x7", "--columns", "x2")
    assert back.code == 0, back.err
    assert [name for name in pd.read_csv("rows.csv") if name.startswith("x")] == ["x7", "x2"]
    sparse.save_npz("wide.npz", sparse.csr_array(np.eye(9)))
    refused = run("transform", "out/model.sidelight", "wide.npz", "--out", "w.csv")
    assert "rows have 9 columns, and the model was fitted on 30" in refused.err


def test_a_model_of_singular_vectors_still_places_rows(counts, monkeypatch, run):
    """As earlier versions wrote it, and as a method that takes no sparse rows has it."""
    path, full = counts
    monkeypatch.setattr(arrays, "MOST_ENTRIES", 100)
    monkeypatch.setattr(arrays, "_N_SINGULAR", 5)
    assert run("embed", path, "--out", "out", "--method", "hybrid", "--no-report").code == 0
    sparse.save_npz("few.npz", sparse.csr_array(full[:7]))
    done = run("transform", "out/model.sidelight", "few.npz", "--out", "z.csv")
    assert done.code == 0, done.err
    fitted = pd.read_csv("out/embedding.csv")[["z1", "z2"]]
    np.testing.assert_allclose(pd.read_csv("z.csv")[["z1", "z2"]], fitted[:7], atol=1e-6)


def test_new_rows_are_refused_where_a_file_has_no_singular_vectors(counts, monkeypatch):
    path, _ = counts
    monkeypatch.setattr(arrays, "MOST_ENTRIES", 100)
    names = read(path, Reading()).names
    with pytest.raises(CommandError, match=r"singular vectors of another matrix.*fit it again"):
        read(path, Reading(expected=names))


def test_entries_that_are_no_counts_are_not_called_so(here):
    sparse.save_npz(here / "a.npz", sparse.csr_array(np.diag([0.5, 2.0])))
    assert "counts" not in read(here / "a.npz", Reading()).remarks[0]


def test_a_full_matrix_in_matrix_market_is_read(here):
    mmwrite(here / "a.mtx", np.arange(6.0).reshape(3, 2))
    np.testing.assert_array_equal(read(here / "a.mtx", Reading()).X, np.arange(6.0).reshape(3, 2))


def test_broken_and_complex_matrices_get_one_sentence(here):
    (here / "a.mtx").write_bytes(b"%%MatrixMarket matrix coordinate real general\n3 3 9\n1 1 1\n")
    with pytest.raises(CommandError, match="not a readable Matrix Market file"):
        read(here / "a.mtx", Reading())
    (here / "a.mtx").write_bytes(b"%%MatrixMarket matrix coordinate real symmetric\n%\n4 4 4\n1 1 1\xac\0\xb9")
    with pytest.raises(CommandError, match="it holds bytes that are no text"):  # a crash of SciPy's reader
        read(here / "a.mtx", Reading())
    mmwrite(here / "b.mtx", sparse.csr_array(1j * np.eye(3)))
    with pytest.raises(CommandError, match="holds complex numbers"):
        read(here / "b.mtx", Reading())


def test_a_similar_key_is_named(here):
    np.savez(here / "a.npz", pixels=np.eye(3), labels=np.arange(3))
    with pytest.raises(CommandError, match=r"it has pixels, labels; did you mean pixels\?"):
        read(here / "a.npz", Reading(key="pixel"))


@pytest.mark.parametrize("change", ["cut", "changed"])
@pytest.mark.parametrize("kind", ["plain", "sparse"])
def test_archives_that_were_cut_or_changed_get_one_sentence(change, kind, here):
    if kind == "plain":
        np.savez(here / "a.npz", data=np.eye(4))
    else:
        sparse.save_npz(here / "a.npz", sparse.csr_array(np.eye(4)), compressed=False)
    content = bytearray((here / "a.npz").read_bytes())
    if change == "cut":
        content = content[:-30]
    else:
        content[content.index(b"NUMPY") + 20] ^= 255
    (here / "a.npz").write_bytes(content)
    with pytest.raises(CommandError, match=r"a\.npz: not a readable NumPy file of plain arrays"):
        read(here / "a.npz", Reading())
