"""Notebook manners: a fitted model shows its map and its numbers, results keep index and names, bars draw in place."""

from __future__ import annotations

import functools
import re
import subprocess
import sys
import types

import numpy as np
import pandas as pd
import polars as pl
import pytest
from optional_torch import needs_torch
from registry import CHECKED, DEFAULT_METRICS, DEFAULT_MIXTURES, DISTANCES, TORCH, VARIANTS, blobs, with_iterations
from sklearn import config_context
from sklearn.base import BaseEstimator, clone

import sidelight
from sidelight.base.map_picture import MOST_POINTS, key_numbers, map_svg
from sidelight.base.progress import ProgressBar, RowProgress
from sidelight.base.result import State

QUIET = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
EMBEDDINGS = {**CHECKED, **{name: VARIANTS[name] for name in ("ukr-l2-spectral-1d", "ukr-random-3d", "kie-random-5d")}}
ALL = {**CHECKED, **DEFAULT_METRICS, **DEFAULT_MIXTURES, **TORCH}

embeddings = pytest.mark.parametrize("make", EMBEDDINGS.values(), ids=EMBEDDINGS.keys())


def seeded(make):
    model = with_iterations(make(), 4)
    return model.set_params(random_state=0) if "random_state" in model.get_params(deep=False) else model


@functools.cache
def fitted(make):
    return seeded(make).fit(blobs(60))


@QUIET
@embeddings
def test_a_fitted_model_shows_a_map_of_two_or_three_dimensions_and_its_numbers(make):
    model = fitted(make)
    html = model._repr_mimebundle_()["text/html"]
    q = model.embedding_.shape[1]
    assert ("<svg" in html and "Map of 60 rows" in html) == (q in (2, 3))
    assert html.count("h0") >= (60 if q in (2, 3) else 0)
    assert "60 × 5" in html
    assert type(model).__name__ in html  # scikit-learn's own picture is beside it
    assert model._repr_html_().count("<svg") == html.count("<svg")
    assert model._repr_mimebundle_()["text/plain"] == repr(model)


@embeddings
def test_an_unfitted_model_is_shown_by_scikit_learn_alone(make):
    html, plain = (re.sub(r"sk-\S+|\d+", "", one._repr_html_()) for one in (make(), clone(make())))
    assert "sidelight-model" not in html
    assert html == plain
    with config_context(display="text"):
        assert "text/html" not in make()._repr_mimebundle_()


@QUIET
def test_models_without_a_map_and_maps_of_distances_are_shown(tmp_path):
    assert "sidelight-model" not in sidelight.EquivalenceMetric().fit(blobs(30), np.arange(30) % 3)._repr_html_()
    X = blobs(30)
    distances = np.sqrt(np.square(X[:, None] - X[None]).sum(axis=2))
    assert "<svg" in DISTANCES["kie-precomputed"]().fit(distances)._repr_html_()


@QUIET
def test_numbers_say_what_was_given_and_a_loaded_model_tells_no_time(tmp_path):
    model = sidelight.KernelInformationEmbedding(random_state=0, max_iter=5)
    model.fit(blobs(60), given={"batch <b>": np.where(np.arange(60) % 2, "a", "b")})
    told = dict(key_numbers(model))
    assert set(told) == {"rows × columns", "dimensions", "iterations", "objective", "time in the solver", "given"}
    assert told["given"].startswith("batch <b>: ")
    assert "batch &lt;b&gt;" in model._repr_html_()
    sidelight.save(model, tmp_path / "m.sidelight")
    assert set(told) - set(dict(key_numbers(sidelight.load(tmp_path / "m.sidelight")))) == {"time in the solver"}


def test_a_picture_has_at_most_some_thousand_dots_at_the_places_of_the_rows():
    Z = np.random.default_rng(0).normal(size=(50_000, 3))
    picture = map_svg(Z)
    assert picture.count("h0") == MOST_POINTS
    assert picture.count("<path") == 6
    assert len(picture) < 60_000
    corners = map_svg([[0.0, 0.0], [2.0, 1.0]])
    (x0, y0), (x1, y1) = ((float(x), float(y)) for x, y in re.findall(r"M([\d.]+) ([\d.]+)h0", corners))
    assert (x1 - x0) == pytest.approx(2 * (y0 - y1), abs=0.2)
    assert map_svg(np.zeros((3, 2))).count("h0") == 3


def test_nothing_that_draws_is_imported_for_it():
    code = "import sys, sidelight; print([m for m in ('matplotlib', 'IPython', 'sidelight.plot') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@QUIET
@pytest.mark.parametrize("make", ALL.values(), ids=ALL.keys())
def test_pandas_out_keeps_the_index_and_names_the_columns(make):
    rows = [f"row {k}" for k in range(60)]
    X = pd.DataFrame(np.rint(3 * blobs(60)), columns=list("abcde"), index=rows)
    model = seeded(make).set_output(transform="pandas")
    Z = model.fit_transform(X)
    assert isinstance(Z, pd.DataFrame)
    assert list(Z.index) == rows
    assert list(Z.columns) == list(model.get_feature_names_out())
    new = model.transform(X.iloc[10:20])
    assert list(new.index) == rows[10:20]
    assert list(new.columns) == list(Z.columns)


@QUIET
@pytest.mark.parametrize("make", CHECKED.values(), ids=CHECKED.keys())
def test_polars_out_names_the_columns(make):
    X = pl.DataFrame(blobs(60), schema=list("abcde"))
    model = seeded(make).set_output(transform="polars")
    assert model.fit_transform(X).columns == list(model.get_feature_names_out())


@QUIET
@pytest.mark.parametrize("make", ALL.values(), ids=ALL.keys())
def test_two_fits_of_the_same_rows_are_the_same_file(make, tmp_path):
    """In one process, on one machine; whatever a fit measures of time is not in the file."""
    for name in ("one", "two"):
        sidelight.save(seeded(make).fit(np.rint(3 * blobs(60))), tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@needs_torch
def test_every_kind_of_model_is_in_these_tests():
    """A class with an embedding that forgets the mixin would show scikit-learn's table alone."""
    from sidelight.base.capabilities import declared
    from sidelight.base.map_picture import MapRepresentation

    public = [getattr(sidelight, name) for name in sidelight.__all__]
    kinds = [kind for kind in public if isinstance(kind, type) and issubclass(kind, BaseEstimator)]
    assert [k.__name__ for k in kinds if declared(k).has_embedding and not issubclass(k, MapRepresentation)] == []


class Display:
    """Stands for IPython's display: remembers what an output showed, one list for each output."""

    def __init__(self):
        self.outputs = []

    def __call__(self, shown, *, display_id):
        assert display_id is True
        output = [shown]
        self.outputs.append(output)
        return types.SimpleNamespace(update=output.append)


@pytest.fixture
def notebook(monkeypatch):
    """A process in which a kernel of IPython runs."""
    display = Display()
    shell = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=display))
    return display, shell


def state(iteration=25):
    return State(1, 0.1, iteration, 1.5, {}, 3.0, n_stages=4, point=np.zeros((1, 2)))


def test_in_a_notebook_a_bar_is_one_output_that_is_replaced(notebook, capsys):
    display, _ = notebook
    bar = ProgressBar("a < b", every=0.0)
    bar(state())
    bar(state(50))
    bar.close("converged")
    ((first, _, last),) = display.outputs
    assert '<progress value="0.375" max="1"></progress> a &lt; b stage 2/4' in first._repr_html_()
    assert repr(last) == "a < b: converged"
    assert "<progress" not in last._repr_html_()
    rows = RowProgress("embed_rows", None)
    rows(2000)
    assert "2,000 rows placed" in repr(display.outputs[1][0])
    assert capsys.readouterr() == ("", "")


def test_on_a_terminal_of_ipython_and_on_a_stream_a_bar_is_a_line(notebook, capsys):
    import io

    display, shell = notebook
    stream = io.StringIO()
    ProgressBar("model", stream=stream, every=0.0)(state())
    del shell.kernel
    ProgressBar("model", every=0.0)(state())
    assert stream.getvalue().startswith("\rmodel [###")
    assert capsys.readouterr().err.startswith("\rmodel [###")
    assert display.outputs == []


@QUIET
def test_a_verbose_fit_in_a_notebook_leaves_one_line(notebook, capsys):
    display, _ = notebook
    sidelight.KernelInformationEmbedding(random_state=0, max_iter=5, verbose=1).fit(blobs(60))
    assert len(display.outputs) == 1
    assert repr(display.outputs[0][-1]).startswith("KernelInformationEmbedding: ")
    assert capsys.readouterr().err == ""
