"""The one progress bar: what a fit, the placing of rows and the command line draw."""

import io

import numpy as np
import pytest
from rich.console import Console

from sidelight.base.progress import ProgressBar, RowProgress, fraction_done
from sidelight.base.result import State
from sidelight.cli._output import Output
from sidelight.cli._progress import bar


def state(stage=0, iteration=25):
    return State(stage, 0.1, iteration, 1.5, {}, 3.0, n_stages=4, point=np.zeros((1, 2)))


@pytest.mark.parametrize(("stage", "iteration", "share"), [(0, 0, 0.0), (0, 25, 0.125), (1, 0, 0.25), (3, 10_000, 1.0)])
def test_stages_share_the_bar_and_within_one_it_halves_what_is_left(stage, iteration, share):
    assert fraction_done(state(stage, iteration)) == pytest.approx(share)


def test_a_fit_draws_one_line_and_ends_it():
    stream = io.StringIO()
    shown = ProgressBar("model", stream=stream, every=0.0)
    assert shown(state()) is False
    shown(state(1, 25))
    shown.close("converged")
    lines = stream.getvalue().split("\r")
    assert lines[1].startswith("model [###                     ] stage 1/4  objective 1.50000  3 s, 21 s left")
    assert lines[-1].startswith("model: converged ")
    assert stream.getvalue().count("\n") == 1


def test_a_line_is_drawn_at_most_ten_times_a_second():
    stream = io.StringIO()
    shown = ProgressBar("model", stream=stream)
    for _ in range(50):
        shown(state())
    assert stream.getvalue().count("\r") == 1


def test_rows_are_counted_with_and_without_a_total(capsys):
    for total, words in ((4000, "2,000 rows placed of 4,000, 0 s left"), (None, "2,000 rows placed ")):
        shown = RowProgress("embed_rows", total)
        shown(2000)
        shown.close()
        drawn = capsys.readouterr().err
        assert f"\rembed_rows {words}" in drawn
        assert "\rembed_rows: 2,000 rows placed in 0.0 s" in drawn


@pytest.mark.parametrize(("terminal", "quiet"), [(True, False), (False, False), (True, True)])
def test_the_command_line_draws_on_a_terminal_and_leaves_nothing_there(terminal, quiet):
    talk, stream = Output(quiet=quiet), io.StringIO()
    talk.aside = Console(file=stream, force_terminal=terminal)
    with bar(talk, "kie") as callback:
        assert (callback is not None) == (terminal and not quiet)
        if callback is not None:
            callback(state())
    drawn = stream.getvalue()
    assert ("kie [" in drawn) == (terminal and not quiet)
    assert drawn == "" or drawn.endswith(" \r")
