"""The report of a model that makes outputs of inputs, from its file and two tables."""

import numpy as np
import pandas as pd
import pytest

import sidelight
from sidelight.gated import GatedBoltzmannMachine, GatedField, RestrictedBoltzmannMachine


@pytest.fixture
def tables(here):
    """A model of pairs of 2 x 2 pictures, and the files of both sides."""
    rng = np.random.default_rng(0)
    inputs = pd.DataFrame(rng.normal(size=(40, 4)), columns=["a", "b", "c", "d"])
    outputs = inputs.iloc[:, ::-1].set_axis(["e", "f", "g", "h"], axis=1)
    model = GatedBoltzmannMachine(2, max_iter=10, random_state=0).fit(inputs, outputs)
    sidelight.save(model, here / "model.sidelight")
    inputs.to_csv(here / "inputs.csv", index=False)
    outputs.to_csv(here / "outputs.csv", index=False)
    return inputs, outputs


def test_pairs_and_flow_are_shown_for_inputs_and_outputs(tables, run, here):
    done = run("report", "model.sidelight", "inputs.csv", "--view-y", "outputs.csv", "--image-shape", "2x2")
    assert done.code == 0, done.err
    page = (here / "report.html").read_text(encoding="utf-8")
    for name in ("pairs", "analogy", "flow", "filters", "training"):
        assert f'<section id="{name}"' in page


def test_the_report_of_an_array_does_not_speak_of_a_map(tables, run, here):
    for name, side in zip(("inputs", "outputs"), tables, strict=True):
        np.save(f"{name}.npy", side.to_numpy())
    assert run("report", "model.sidelight", "inputs.npy", "--view-y", "outputs.npy").code == 0
    page = (here / "report.html").read_text(encoding="utf-8")
    assert "The array (40 x 4) is used." in page
    assert "A map" not in page


def test_outputs_that_are_missing_are_asked_for(tables, run, here):
    done = run("report", "model.sidelight", "inputs.csv")
    assert done.code == 1
    assert "this GatedBoltzmannMachine predicts outputs; pass those of " in done.err
    assert not (here / "report.html").exists()


def test_rows_that_are_left_out_are_left_out_of_the_outputs(tables, run, here):
    inputs, outputs = tables
    inputs.iloc[3, 1] = np.nan
    inputs.to_csv("gap.csv", index=False)
    options = ["--view-y", "outputs.csv", "--missing", "drop", "--out", "gap.html"]
    done = run("report", "model.sidelight", "gap.csv", *options)
    assert done.code == 0, done.err
    rest = inputs.drop(index=3)
    model = sidelight.load("model.sidelight")
    alone = sidelight.report.write(model, here / "rest.html", X=rest, y=outputs.drop(index=3))
    table = '<tr><th scope="row">this model</th><td>'
    pages = [(here / name).read_text(encoding="utf-8").split(table)[1][:30] for name in ("gap.html", alone.name)]
    assert pages[0] == pages[1]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda outputs: outputs.head(7), "has 7 rows, and inputs.csv has 40"),
        (lambda outputs: outputs.mask(outputs > 1), "some outputs are missing"),
        (lambda outputs: outputs[["e", "f"]], "y=2 columns does not match the 4 of the fit"),
    ],
)
def test_outputs_that_do_not_fit_get_one_line(change, words, tables, run, here):
    change(tables[1]).to_csv("other.csv", index=False)
    done = run("report", "model.sidelight", "inputs.csv", "--view-y", "other.csv")
    assert done.code == 1
    assert words in done.err


def test_a_map_has_no_outputs(fitted, table, run):
    done = run("report", fitted / "model.sidelight", table, "--view-y", table)
    assert done.code == 1
    assert "does not predict outputs; leave it out" in done.err


def test_score_points_to_the_report(tables, run):
    done = run("score", "model.sidelight", "inputs.csv")
    assert done.code == 1
    assert "sidelight report model.sidelight inputs.csv --view-y FILE" in done.err


def test_wide_codes_are_shown_without_a_map(tables, run, here):
    sidelight.save(RestrictedBoltzmannMachine(5, max_iter=5).fit(tables[0]), "codes.sidelight")
    assert run("report", "codes.sidelight", "inputs.csv").code == 0
    page = (here / "report.html").read_text(encoding="utf-8")
    assert '<section id="pairs"' in page
    assert '<section id="map"' not in page


def test_a_field_is_sent_to_python(tables, run):
    pictures = np.random.default_rng(0).normal(size=(2, 8, 8))
    field = GatedField(GatedBoltzmannMachine(2, max_iter=2, batch_size=2), patch_size=3).fit(pictures, pictures)
    sidelight.save(field, "field.sidelight")
    done = run("report", "field.sidelight", "inputs.csv", "--view-y", "outputs.csv")
    assert done.code == 1
    assert "a GatedField takes sequences or pictures of any size" in done.err
