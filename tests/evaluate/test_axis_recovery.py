"""What each axis tells of each attribute: against slow references, known cases and chance."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from sidelight.evaluate import axis_recovery, leakage, recovery


@pytest.fixture(scope="module")
def scene():
    """Two axes that are a circle, one that is a number, one that is a category, and the truth."""
    rng = np.random.default_rng(0)
    turn, ink, who = rng.uniform(0, 360, 150), rng.normal(size=150), rng.choice(["ann", "bob", "cid"], 150)
    a = np.deg2rad(turn)
    place = {"ann": 0.0, "bob": 5.0, "cid": 2.5}
    axes = [np.cos(a), -np.exp(ink), np.sin(a), [place[one] for one in who] + 0.2 * rng.normal(size=150)]
    return np.column_stack(axes), {"turn": turn, "ink": ink, "who": who}


def test_numbers_are_told_by_spearman_with_its_sign(scene):
    Z, truth = scene
    found = axis_recovery(Z, truth, kinds={"turn": "angle"})["ink"]
    assert found.kind == "number"
    assert found.values == pytest.approx([spearmanr(axis, truth["ink"]).statistic for axis in Z.T], abs=1e-12)
    assert found.values[1] == pytest.approx(-1.0)
    assert found.best == 1
    assert found.strengths == pytest.approx(np.abs(found.values))


def test_categories_are_told_by_neighbours_along_the_axis_beside_chance(scene):
    Z, truth = scene
    found = axis_recovery(Z, {"who": truth["who"]}, n_neighbors=7)["who"]
    told = [leakage(Z[:, [k]], truth["who"], n_neighbors=7) for k in range(4)]
    assert found.values == pytest.approx([one.value for one in told])
    assert found.chance == pytest.approx(told[0].chance)
    assert found.best == 3
    assert found.strengths[3] == pytest.approx((found.values[3] - found.chance) / (1 - found.chance))
    assert found.strengths[3] > 0.95
    assert max(found.strengths[:3]) < 0.25


def test_an_angle_is_told_by_its_circle_and_by_the_best_pair_of_axes(scene):
    Z, truth = scene
    found = axis_recovery(Z, {"turn": truth["turn"]}, kinds=360)["turn"]
    assert found.kind == "angle"
    assert min(found.values[0], found.values[2]) > 0.95
    assert max(found.values[1], found.values[3]) < 0.25
    assert found.pair == (0, 2)
    assert found.pair_value == pytest.approx(recovery(Z[:, [0, 2]], truth["turn"], period=360.0))
    assert found.pair_value > 0.99


def test_the_correlation_with_the_circle_is_mardias_formula(scene):
    Z, truth = scene
    ranks, a = pd.Series(Z[:, 3]).rank(), np.deg2rad(truth["turn"])
    c, s, both = np.corrcoef([ranks, np.cos(a), np.sin(a)])[np.triu_indices(3, 1)]
    expected = np.sqrt((c**2 + s**2 - 2 * c * s * both) / (1 - both**2))
    found = axis_recovery(Z, {"turn": truth["turn"]}, kinds="angle")["turn"]
    assert found.values[3] == pytest.approx(expected, abs=1e-12)


def test_an_angle_a_turn_later_is_the_same_angle(scene):
    Z, truth = scene
    later = truth["turn"] + 24.0 * np.arange(150)
    first, second = (axis_recovery(Z, {"turn": values}, kinds=24.0) for values in (truth["turn"], later))
    assert first["turn"].values == pytest.approx(second["turn"].values)
    assert first["turn"].pair_value == pytest.approx(second["turn"].pair_value)


def test_only_the_rows_that_are_asked_for_count(scene):
    Z, truth = scene
    seen = np.arange(150) < 60
    spoiled = {"ink": np.where(seen, 0.0, truth["ink"]), "who": np.where(seen, "ann", truth["who"])}
    by_mask = axis_recovery(Z, spoiled, ~seen)
    assert by_mask == axis_recovery(Z, spoiled, np.arange(60, 150)) == axis_recovery(Z[60:], _cut(truth, 60))
    assert by_mask["ink"].n_rows == 90


def _cut(truth, start):
    return {name: truth[name][start:] for name in ("ink", "who")}


def test_every_attribute_may_have_rows_of_its_own(scene):
    Z, truth = scene
    found = axis_recovery(Z, {"ink": truth["ink"], "who": truth["who"]}, {"ink": np.arange(30)})
    assert [one.n_rows for one in found.attributes] == [30, 150]
    assert found["ink"] == axis_recovery(Z[:30], {"ink": truth["ink"][:30]})["ink"]


def test_rows_without_a_value_are_left_out_attribute_by_attribute(scene):
    Z, truth = scene
    table = pd.DataFrame({"ink": truth["ink"], "who": truth["who"]}).astype({"who": object})
    table.loc[:9, "ink"] = np.nan
    table.loc[100:, "who"] = None
    found = axis_recovery(Z, table)
    assert [one.n_rows for one in found.attributes] == [140, 100]
    assert found["ink"] == axis_recovery(Z[10:], {"ink": truth["ink"][10:]})["ink"]


def test_noise_and_constants_tell_nothing():
    rng = np.random.default_rng(1)
    Z = np.column_stack([rng.normal(size=400), np.zeros(400)])
    truth = {"ink": rng.normal(size=400), "who": rng.choice(["a", "b"], 400), "turn": rng.uniform(0, 1, 400)}
    found = axis_recovery(Z, truth | {"same": np.full(400, 2.5), "one": ["a"] * 400}, kinds={"turn": 1.0})
    assert np.abs(found.strengths[:3, 0]).max() < 0.2
    assert found["ink"].values[1] == found["turn"].values[1] == 0.0
    assert found["same"].values == (0.0, 0.0)
    assert found["one"].strengths == (0.0, 0.0)


def test_an_axis_of_any_scale_tells_the_same(scene):
    Z, truth = scene
    attributes = {"ink": truth["ink"], "who": truth["who"]}
    plain, scaled = (axis_recovery(V, attributes) for V in (Z, 1e-3 * Z + 7.0))
    for name in attributes:
        assert scaled[name].values == pytest.approx(plain[name].values)


def test_the_table_is_readable_plain_and_found_by_name(scene):
    Z, truth = scene
    found = axis_recovery(Z, truth, kinds={"turn": 360})
    lines = repr(found).splitlines()
    assert lines[0].split() == ["measure", "axis", "1", "axis", "2", "axis", "3", "axis", "4", "chance", "rows"]
    assert [line.split()[0] for line in lines[1:4]] == ["turn", "ink", "who"]
    assert lines[2].split()[3] == "-1.00"
    assert lines[4] == f"turn: axes 1 and 3 together, R² {found['turn'].pair_value:.2f}"
    assert found.names == ("turn", "ink", "who")
    back = json.loads(json.dumps(found.to_dict()))
    assert back["turn"]["pair"] == [0, 2]
    assert back["who"]["best"] == 3
    assert [row[0] for row in found.rows()] == ["turn", "ink", "who"]
    with pytest.raises(KeyError, match="light"):
        found["light"]


@pytest.mark.parametrize(
    ("attributes", "options", "words"),
    [
        ({"a": [1.0, 2.0]}, {}, r"axis_recovery: attributes=2 entries in 'a' does not match the 6 rows"),
        ({"a": [None] * 6}, {}, r"axis_recovery: attributes=column 'a' has no entry at all"),
        ({"a": list("aabbcc")}, {"kinds": "angle"}, r"attributes=column 'a' holds entries that are not numbers"),
        ({"a": np.arange(6.0)}, {"kinds": "colour"}, r"axis_recovery: kinds=colour is not a type of column"),
        ({"a": np.arange(6.0)}, {"kinds": {"b": 3}}, r"kinds=entry for 'b' is not among the attributes \('a'\)"),
        ({"a": np.arange(6.0)}, {"rows": [6]}, r"axis_recovery: rows=.* does not choose among 6 rows"),
        ({"a": np.arange(6.0)}, {"rows": [True, False]}, r"axis_recovery: rows=.* does not choose among 6 rows"),
        ({"a": np.arange(6.0)}, {"rows": {"b": [0]}}, r"rows=entry for 'b' is not among the attributes"),
        ({"a": np.arange(6.0)}, {"rows": [0, 1]}, r"rows=2 rows of 'a' is fewer than 3 rows with a value"),
    ],
)
def test_bad_arguments_get_a_sentence(attributes, options, words):
    with pytest.raises(ValueError, match=words):
        axis_recovery(np.arange(12.0).reshape(6, 2), attributes, **options)
