"""Tables of attributions as pictures."""

import numpy as np
import pandas as pd
import pytest

from sidelight import ProbabilisticPCA, explain, plot


@pytest.fixture(scope="module")
def rows():
    kind = np.arange(60) % 2
    return np.random.default_rng(0).normal(size=(60, 9)) + np.outer(kind, [5.0, -5.0, 0, 0, 0, 0, 0, 0, 0]), kind


@pytest.fixture(scope="module")
def model(rows):
    return ProbabilisticPCA(2).fit(rows[0])


def test_profiles_are_in_the_order_of_the_numbers_in_names_and_show_some_of_these():
    bands = [f"{band:g} nm" for band in (400.5, 1000, 900, 450)]
    table = pd.DataFrame({"axis": "1", "feature": bands, "difference": 1.0, "contribution": [1.0, 4.0, 3.0, 2.0]})
    ax = plot.attributions(table, kind="profile")
    assert ax.lines[0].get_ydata().tolist() == [1.0, 2.0, 3.0, 4.0]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["400.5 nm", "450 nm", "900 nm", "1000 nm"]
    other = plot.attributions(table.assign(feature=["b", "c9", "a", "d"]), kind="profile")
    assert other.lines[0].get_ydata().tolist() == [1.0, 4.0, 3.0, 2.0]


def test_bars_show_the_largest_contributions_with_their_intervals(model, rows):
    X, kind = rows
    ax = plot.attributions(explain.difference(model, X, kind == 1, kind == 0), n_features=4)
    labels = [text.get_text() for text in ax.get_yticklabels()]
    assert len(labels) == 4
    assert set(labels[-2:]) == {"0", "1"}
    assert len(ax.collections) == 1  # intervals
    assert ax.get_title() == "axis 1"


def test_an_image_and_a_profile_have_all_features_in_the_order_of_the_columns(model, rows):
    X, _ = rows
    table = explain.axes(model, X)
    own = table[table.axis == "2"].set_index("feature").share
    expected = own[[str(j) for j in range(9)]].to_numpy()
    picture = plot.attributions(table, kind="image", axis=2).images[0].get_array()
    np.testing.assert_allclose(np.ravel(picture), expected)
    line = plot.attributions(table, kind="profile", axis="2").lines[0]
    np.testing.assert_allclose(line.get_ydata(), expected)
    backwards = plot.attributions(table, kind="profile", axis="2", order=[str(j) for j in range(8, -1, -1)]).lines[0]
    np.testing.assert_allclose(backwards.get_ydata(), expected[::-1])


def test_a_group_a_region_or_a_row_is_chosen_by_name(model, rows):
    X, kind = rows
    assert plot.attributions(explain.groups(model, X, kind), part="1").get_title() == "axis 1, 1"
    assert plot.attributions(explain.axes(model, X, regions=2), part="region 2").get_title() == "axis 1, region 2"
    assert plot.attributions(explain.rows(model, X[:3]), part=2, axis="2").get_title() == "axis 2, row 2"
    assert plot.attributions(explain.local(model, X[:3]), title="here").get_title() == "here"


def test_what_is_not_in_the_table_is_named(model, rows):
    X, _ = rows
    table = explain.axes(model, X)
    for options, named in (
        ({"kind": "pie"}, "kind"),
        ({"axis": 7}, "axis"),
        ({"kind": "image", "shape": (2, 3)}, "shape"),
        ({"kind": "profile", "order": ["weight"]}, "order"),
    ):
        with pytest.raises(ValueError, match=named):
            plot.attributions(table, **options)
    with pytest.raises(ValueError, match="table"):
        plot.attributions(pd.DataFrame({"a": [1.0]}))
