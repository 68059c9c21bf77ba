"""The map coloured by reliability."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sidelight import plot

pytest.importorskip("matplotlib")


def test_rows_that_cannot_be_believed_are_drawn_last_on_one_scale():
    Z = np.array([[0.0, 1.0], [2.0, 0.5], [1.0, 3.0]])
    table = pd.DataFrame({"row": [0, 1, 2], "reliability": [0.2, 0.9, 0.7], "kept": [0.1, 0.2, 0.3]})
    ax = plot.reliability(Z, table, title="three rows")
    drawn = ax.collections[0]
    assert drawn.get_array().tolist() == [0.9, 0.7, 0.2]
    assert drawn.get_clim() == (0.0, 1.0)
    assert ax.get_title() == "three rows"
    assert plot.reliability(Z, table, column="kept").collections[0].get_array().tolist() == [0.3, 0.2, 0.1]


def test_tables_of_other_rows_and_unknown_columns_are_refused():
    table = pd.DataFrame({"reliability": [0.2, 0.9]})
    with pytest.raises(ValueError, match="not as many records as the map has rows"):
        plot.reliability(np.zeros((3, 2)), table)
    with pytest.raises(ValueError, match="not a column of the table"):
        plot.reliability(np.zeros((2, 2)), table, column="stable")
