"""The measures and bars of the ``informed`` benchmark, on maps whose quality is known (no rival needed)."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from benchmarks.harness import Report
from benchmarks.informed import judge, measure, standings
from benchmarks.informed_protocols import (
    PROTOCOLS,
    Bar,
    Protocol,
    angle_errors,
    corresponding_pairs,
    forest_leakage,
    gait,
    lower_is_better,
    shuffled,
)
from sidelight.datasets import turntable
from sidelight.evaluate import leakage

ANGLE = np.tile(np.arange(0.0, 360.0, 5.0), 3)
GROUPS = np.repeat([0, 1, 2], 72)


def circle(degrees):
    return np.column_stack([np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))])


def small(bars):
    return Protocol(np.arange(12.0).reshape(6, 2), np.arange(6) % 2, "category", {"hit": lambda Z: Z[0, 0]}, bars)


def test_angle_errors_are_zero_on_an_aligned_ring_and_the_turn_of_a_group_elsewhere():
    turned = circle(ANGLE + 30.0 * (GROUPS == 2))
    assert np.all(angle_errors(circle(ANGLE), ANGLE, GROUPS, 360.0) == 0.0)
    each = angle_errors(turned, ANGLE, GROUPS, 360.0, each=True)
    assert np.allclose(each[GROUPS == 0], [0.0, 30.0])
    assert np.allclose(each[GROUPS == 2], 30.0)


def test_angle_errors_forgive_half_a_turn_only_where_the_period_is_180():
    turned = circle(ANGLE + 180.0 * (GROUPS == 1))
    assert np.allclose(angle_errors(turned, ANGLE, GROUPS, 180.0), 0.0)
    assert np.allclose(angle_errors(turned, ANGLE, GROUPS, 360.0, each=True)[GROUPS == 1], 180.0)


@pytest.mark.parametrize("chain", [False, True])
def test_corresponding_pairs_join_rows_of_different_groups_at_the_hinted_angles(chain):
    pairs = corresponding_pairs(GROUPS, ANGLE, (0.0, 120.0, 240.0), chain=chain)
    assert pairs.shape == (6, 2)
    assert np.array_equal(ANGLE[pairs[:, 0]], ANGLE[pairs[:, 1]])
    assert GROUPS[pairs].tolist() == [[0, 1], [1, 2] if chain else [0, 2]] * 3


def test_hints_follow_their_rows_into_another_order():
    pairs = corresponding_pairs(GROUPS, ANGLE, (0.0, 90.0))
    protocol = Protocol(circle(ANGLE), GROUPS, "category", {}, same=pairs)
    X, given, same, order = shuffled(protocol, seed=3)
    assert not np.array_equal(order, np.arange(len(X)))
    assert np.array_equal(X[same], protocol.X[pairs])
    assert np.array_equal(given[same], GROUPS[pairs])


@pytest.mark.thorough
def test_forest_is_at_chance_where_neighbours_fall_far_below_it():
    folds = (ANGLE // 5.0).astype(int) % 5
    aligned = circle(ANGLE) + 1e-3 * np.random.default_rng(0).normal(size=(len(ANGLE), 2))
    assert leakage(aligned, GROUPS, n_neighbors=2).value < 0.1
    assert forest_leakage(aligned, GROUPS, "category", folds) == pytest.approx(1 / 3, abs=0.1)
    assert forest_leakage(aligned * (1.0 + GROUPS)[:, None], GROUPS, "category", folds) > 0.95


def test_forest_reads_an_angle_off_a_ring_and_nothing_off_noise():
    folds = np.arange(len(ANGLE)) % 5
    assert forest_leakage(circle(ANGLE), ANGLE, "angle", folds) > 0.95
    noise = np.random.default_rng(0).normal(size=(len(ANGLE), 2))
    assert forest_leakage(noise, ANGLE, "angle", folds) < 0.1


def test_gait_phase_is_that_of_a_steady_swing_and_standing_still_is_left_out():
    time = np.arange(400) / 30.0
    walking = (time > 2.0) & (time < 11.0)
    joints = np.zeros((800, 96))
    joints[:400, 11] = 20.0 * np.cos(2 * np.pi * time) * walking
    joints[:400, 26] = -joints[:400, 11]
    joints[400:, 11] = 20.0 * (time > 5.0) * np.cos(2 * np.pi * time) * (time < 6.5)
    phase, clear = gait(joints, np.repeat([1, 2], 400))
    steady = np.flatnonzero(clear & (np.arange(800) < 300) & (np.arange(800) > 90))
    apart = (phase[steady] - 360.0 * time[steady % 400] + 180.0) % 360.0 - 180.0
    assert len(steady) > 180
    assert np.abs(apart).max() < 10.0
    assert not clear[:45].any()
    assert not clear[400:].any()


def test_ideal_maps_of_the_turntable_meet_its_bars(monkeypatch):
    monkeypatch.setattr("benchmarks.informed_protocols.datasets.turntable", partial(turntable, size=8))
    ring, hinted, clusters = (PROTOCOLS[f"turntable_{name}"]() for name in ("object", "hints", "angle"))
    noise = np.random.default_rng(0).normal(size=(216, 2))
    circles, blobs = circle(ANGLE) + 1e-3 * noise, 20.0 * GROUPS[:, None] + noise
    for protocol, Z in ((ring, circles), (hinted, circles), (clusters, blobs)):
        for bar in protocol.bars:
            value = protocol.measures[bar.measure](Z)
            assert value <= bar.limit if bar.sense == "≤" else value >= bar.limit


def test_the_worst_seed_is_judged_and_a_rival_counts_by_its_mean():
    protocol = small((Bar("hit", "≥", 0.6), Bar("hit", "≥", 0.15, rival="plain KIE")))
    report = Report()
    judge(report, "toy", protocol, {"ours": {"hit": [0.9, 0.7]}, "plain KIE": {"hit": [0.4, 0.8]}})
    assert [(check.ours, check.bar, check.passed) for check in report.checks] == [
        (0.7, "≥ 0.6", True),
        (0.7, "≥ 0.75", False),
    ]


def test_a_bar_without_its_rival_is_reported_not_passed():
    report = Report()
    judge(report, "toy", small((Bar("hit", "≥", 0.15, rival="plain KIE"),)), {"ours": {"hit": [0.9]}})
    assert report.checks[0].passed is None
    assert "needs plain KIE" in report.checks[0].what


def test_maps_are_measured_in_the_old_order_of_the_rows(monkeypatch):
    monkeypatch.setitem(measure.__globals__, "METHODS", {"copy": lambda rows: rows.X})
    protocol = small(())
    found = measure("toy", protocol, ["copy"], n_seeds=3)
    assert found["copy"]["hit"] == [protocol.X[0, 0]] * 3
    assert "hit" in standings(found)


@pytest.mark.parametrize(("name", "low"), [("car leakage", True), ("angle error, mean", True), ("R² of x", False)])
def test_direction_of_a_measure_is_known_by_its_name(name, low):
    assert lower_is_better(name) is low
    assert not lower_is_better("angle error, share within 15°")


@pytest.mark.data
def test_hinted_views_are_the_same_angle_of_all_five_objects():
    protocol = PROTOCOLS["five_objects_hints"]()
    assert protocol.X.shape == (150, 1024)
    assert np.unique(protocol.given, return_counts=True)[1].tolist() == [30] * 5
    assert protocol.same.shape == (12, 2)
    assert all(len(set(protocol.given[pair])) == 2 for pair in protocol.same)
