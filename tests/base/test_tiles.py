from __future__ import annotations

import os
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from sidelight.base.tiles import TILE, one_blas_thread, run_tiles, spans, sum_in_order, thread_count, tile_buffer


@pytest.mark.parametrize("n", [0, 1, TILE - 1, TILE, TILE + 1, 3 * TILE + 7])
def test_spans_cover_every_row_once(n):
    covered = [i for span in spans(n) for i in range(n)[span]]
    assert covered == list(range(n))
    assert all(s.stop - s.start <= TILE for s in spans(n))


@pytest.mark.parametrize("n_jobs", [1, 2, 7, None, -1])
def test_results_come_in_the_order_of_the_items(n_jobs):
    assert run_tiles(lambda i: i * i, range(20), n_jobs) == [i * i for i in range(20)]
    assert run_tiles(lambda i: i, [], n_jobs) == []


def test_work_runs_on_as_many_threads_as_asked_for():
    meeting = threading.Barrier(2, timeout=10)
    assert sorted(run_tiles(lambda i: meeting.wait(), range(2), 2)) == [0, 1]
    assert len(set(run_tiles(lambda i: threading.get_ident(), range(5), 1))) == 1


def test_an_error_in_a_tile_reaches_the_caller():
    with pytest.raises(ZeroDivisionError):
        run_tiles(lambda i: 1 // i, [1, 0, 1], 2)


def test_threads_are_counted_as_scikit_learn_counts_jobs():
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert thread_count(None) == thread_count(-1) == cores
    assert thread_count(3) == 3
    assert thread_count(-10_000) == thread_count(0) == 1


def test_partial_results_are_added_in_their_order():
    parts = [np.array([1e16]), np.array([1.0]), np.array([-1e16])]
    assert sum_in_order([part.copy() for part in parts])[0] == 0.0
    assert sum_in_order([parts[k].copy() for k in (0, 2, 1)])[0] == 1.0


def test_the_corner_of_a_buffer_is_written_in_place():
    buffer = np.zeros((4, 4))
    tile_buffer(buffer, np.empty((2, 3)))[:] = 1.0
    assert buffer.sum() == 6.0


def test_blas_has_one_thread_inside_and_what_it_had_outside():
    def blas_threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    @one_blas_thread
    def product(A):
        """Square a matrix."""
        return blas_threads(), A @ A

    with threadpool_limits(2):
        before = blas_threads()
        inside, _ = product(np.eye(3))
        assert max(before) == 2  # a solver that another test has loaded may bring a BLAS of one thread
        assert set(inside) == {1}
        assert blas_threads() == before
    assert product.__doc__ == "Square a matrix."
