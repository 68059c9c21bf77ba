from __future__ import annotations

import re

import numpy as np
import pytest

from sidelight.base.messages import error_message, require_extra
from sidelight.base.validation import check_choice, check_integer, check_number, check_rows

SENTENCE = re.compile(r"^Model: \w+=.+ [^.]+\. [A-Z].+\.$")


class Model:
    pass


def test_a_complaint_names_the_class_the_argument_what_was_seen_and_what_to_do():
    message = error_message(Model(), "size", -3, "is negative", "Give a positive number")
    assert message == "Model: size=-3 is negative. Give a positive number."
    assert error_message("Model", "size", -3, "is negative.", "Give a positive number.") == message


def test_long_values_are_cut_short():
    message = error_message(Model(), "size", list(range(1000)), "is long", "Shorten it")
    assert len(message) < 130
    assert "..." in message


@pytest.mark.parametrize("value", ["Red", "", None, 3, ["red"], np.array(["red"])])
def test_a_choice_must_be_one_of_the_options(value):
    with pytest.raises(ValueError, match=r"Model: colour=.* is not an option\. Choose one of 'red', 'blue'\."):
        check_choice(Model(), "colour", value, ("red", "blue"))


def test_an_option_passes():
    check_choice(Model(), "colour", "blue", ("red", "blue"))
    check_choice(Model(), "colour", np.str_("blue"), ("red", "blue"))


@pytest.mark.parametrize("value", [0, -1, 1.0, 2.5, "3", None, True, np.bool_(True), float("nan")])
def test_what_is_not_an_integer_in_range_is_refused(value):
    with pytest.raises(ValueError, match=SENTENCE):
        check_integer(Model(), "count", value, 1)


@pytest.mark.parametrize("value", [1, 7, np.int32(3), np.uint8(1)])
def test_integers_in_range_pass(value):
    check_integer(Model(), "count", value, 1)


@pytest.mark.parametrize("value", [0, -1.0, 1.0, 2, "0.5", None, True, float("nan"), float("inf"), 0.5j])
def test_what_is_not_a_number_between_the_bounds_is_refused(value):
    with pytest.raises(ValueError, match=r"Give a number between 0 and 1\."):
        check_number(Model(), "share", value, 0.0, 1.0)


@pytest.mark.parametrize("value", [0, float("inf"), float("nan"), -float("inf")])
def test_an_open_range_still_wants_a_finite_number(value):
    with pytest.raises(ValueError, match=r"Give a number above 0\."):
        check_number(Model(), "width", value, 0.0)


@pytest.mark.parametrize("value", [0.5, np.float32(0.5), 1e-300])
def test_numbers_in_range_pass(value):
    check_number(Model(), "share", value, 0.0, 1.0)


def test_rows_must_match():
    check_rows(Model(), "colours", np.zeros(4), 4)
    with pytest.raises(ValueError, match=r"Model: colours=array of 3 rows does not match the 4 rows of X\. Give one"):
        check_rows(Model(), "colours", np.zeros(3), 4)


def test_a_missing_extra_names_who_needs_it_and_the_command():
    assert require_extra("json", "report", "report").loads("1") == 1
    with pytest.raises(ImportError, match=r'^report needs surely_missing, .* pip install "sidelight\[report\]"\.$'):
        require_extra("surely_missing.inner", "report", "report")


@pytest.mark.parametrize(
    ("seen", "rule", "said"),
    [
        ("1 rows", "does not match the 1 given columns", "X=1 row does not match the 1 given column."),
        ("11 rows", "leaves 0.1 rows and 1 categories", "X=11 rows leaves 0.1 rows and 1 category."),
        ("'1 rows'", "is the name of a column", "X='1 rows' is the name of a column."),
        ("1 entries", "has S1 rows", "X=1 entry has S1 rows."),
    ],
)
def test_messages_count_one_thing_in_the_singular(seen, rule, said):
    assert error_message("A", "X", seen, rule, "Give more") == f"A: {said} Give more."
