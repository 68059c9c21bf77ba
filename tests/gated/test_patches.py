"""Patches: against loops over sites; every site covered; bands that are the whole."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from sidelight.gated._fields import as_fields, crops
from sidelight.gated._patches import Patches, bands

PLACE = (torch.device("cpu"), torch.float32)


def field(n=2, channels=3, height=7, width=6):
    return torch.arange(float(n * channels * height * width)).reshape(n, channels, height, width)


@pytest.mark.parametrize("size", [(1, 1), (3, 2), (7, 6), (4, 1)])
def test_rows_are_the_patches_in_the_order_of_their_places(size):
    whole, patches = field(), Patches(*size)
    h, w = size
    down, across = patches.places(whole)
    expected = [
        whole[n, :, i : i + h, j : j + w].reshape(-1) for n in range(2) for i in range(down) for j in range(across)
    ]
    assert torch.equal(patches.rows(whole), torch.stack(expected))


@pytest.mark.parametrize("size", [(1, 1), (3, 2), (7, 6), (4, 1)])
def test_averages_are_those_of_a_loop_over_sites(size):
    rng = np.random.default_rng(0)
    patches, (h, w) = Patches(*size), size
    down, across = patches.places(field())
    rows = torch.as_tensor(rng.normal(size=(2 * down * across, 3 * h * w)))
    total, count = np.zeros((2, 3, 7, 6)), np.zeros((7, 6))
    for number, row in enumerate(rows.numpy().reshape(2, down, across, 3, h, w).reshape(-1, 3, h, w)):
        n, place = divmod(number, down * across)
        i, j = divmod(place, across)
        total[n, :, i : i + h, j : j + w] += row
        count[i : i + h, j : j + w] += n == 0
    np.testing.assert_allclose(patches.averaged(rows, 2, (7, 6)).numpy(), total / count, rtol=1e-12)
    np.testing.assert_array_equal(patches.counts((7, 6), rows)[0, 0].numpy(), count)


@pytest.mark.parametrize("size", [(1, 1), (3, 2), (7, 6)])
def test_patches_that_say_what_there_is_give_it_back(size):
    whole, patches = field(), Patches(*size)
    assert torch.equal(patches.averaged(patches.rows(whole), 2, (7, 6)), whole)


@pytest.mark.parametrize(("height", "size", "thickness"), [(7, 3, 1), (7, 3, 2), (7, 7, 4), (20, 5, 100), (9, 1, 4)])
def test_bands_have_every_patch_once(height, size, thickness):
    tops = [top for begin, end in bands(height, size, thickness) for top in range(begin, end - size + 1)]
    assert tops == list(range(height - size + 1))


def test_crops_come_from_the_same_place_of_inputs_and_outputs():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(9, 12)), rng.normal(size=(30, 8))]
    inputs, outputs = (as_fields("owner", "X", part, "grid") for part in (X, [2 * x for x in X]))
    x, y = next(crops([inputs, outputs], (5, 4), 40, 0, PLACE))
    assert x.shape == (40, 1, 5, 4)
    torch.testing.assert_close(y, 2 * x)
    sources = [any(np.isclose(sample, float(crop[0, 0, 0])).any() for crop in x) for sample in X]
    assert sources == [True, True]


def test_crops_taken_up_again_are_those_that_would_have_come():
    kinds = [as_fields("owner", "X", [np.random.default_rng(0).normal(size=(20, 20))], "grid")]
    endless = crops(kinds, (5, 5), 3, 7, PLACE)
    first = [next(endless)[0] for _ in range(4)]
    assert torch.equal(next(crops(kinds, (5, 5), 3, 7, PLACE, done=3))[0], first[3])
    assert not torch.equal(first[0], first[3])
