"""Arrays of other libraries: taken where NumPy can read them in place, otherwise refused with a sentence."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight import (
    EquivalenceMetric,
    JointInformationEmbedding,
    KernelInformationEmbedding,
    ProbabilisticPCA,
    TableEncoder,
)

X = np.random.default_rng(0).normal(size=(60, 4))

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


class Elsewhere:
    """An array that only DLPack can read, on a device of the given type (1: CPU, 2: CUDA)."""

    def __init__(self, values, device=1):
        self.values, self.kind = values, device
        self.shape, self.ndim, self.dtype = values.shape, values.ndim, values.dtype
        self.device = {1: "cpu", 2: "cuda:0"}[device]

    def __len__(self):
        return len(self.values)

    def __dlpack_device__(self):
        return self.kind, 0

    def __dlpack__(self, **options):
        assert self.kind == 1, "data of another device were read"
        return self.values.__dlpack__(**options)


DOORS = {
    "X": lambda make: KernelInformationEmbedding(max_iter=2).fit(make(X)).embedding_,
    "X-mixture": lambda make: ProbabilisticPCA(2).fit(make(X)).components_,
    "X-transform": lambda make: ProbabilisticPCA(2).fit(X).transform(make(X)),
    "X-inverse": lambda make: ProbabilisticPCA(2).fit(X).inverse_transform(make(X[:, :2])),
    "X-table": lambda make: TableEncoder().fit_transform(make(X)),
    "given": lambda make: KernelInformationEmbedding(max_iter=2).fit(X, given=make(X[:, 0])).embedding_,
    "y": lambda make: JointInformationEmbedding(max_iter=2).fit(X, make(X[:, :2])).embedding_,
    "labels": lambda make: EquivalenceMetric().fit(X, make(np.arange(60) % 3)).components_,
}
doors = pytest.mark.parametrize("door", DOORS.values(), ids=DOORS.keys())


def plain(values):
    return values


@doors
def test_an_array_that_dlpack_can_read_on_the_cpu_gives_the_numbers_of_numpy(door):
    np.testing.assert_array_equal(door(Elsewhere), door(plain))


@doors
def test_an_array_on_another_device_is_refused_with_a_sentence(door):
    with pytest.raises(ValueError, match=r"^\w+: \w+=.* is on the device cuda:0.*\. Copy it to the CPU"):
        door(lambda values: Elsewhere(values, device=2))


@pytest.mark.thorough
@doors
def test_tensors_of_torch_are_taken_on_the_cpu_and_refused_elsewhere(door):
    torch = pytest.importorskip("torch")
    np.testing.assert_array_equal(door(torch.tensor), door(plain))
    with pytest.raises(ValueError, match=r"is on the device meta"):
        door(lambda values: torch.tensor(values, device="meta"))
    with pytest.raises(ValueError, match=r"records gradients, which end here\. Give \w+\.detach\(\)\."):
        door(lambda values: torch.tensor(values * 1.0, requires_grad=True))


@doors
def test_arrays_of_the_array_api_standard_are_taken(door):
    strict = pytest.importorskip("array_api_strict", reason="the reference implementation is not installed")
    np.testing.assert_array_equal(door(strict.asarray), door(plain))
