"""A run of the flagship's benchmark is kept as the pages read it."""

import json

from benchmarks.map_records import growth_record, keep, mnist_record

RUN = {
    "details": {
        "mnist": {
            "seconds": {"ours": 30.04, "UMAP": 100.0},
            "MiB": {"ours": 800.4, "UMAP": 1000.6},
            "UMAP, warm": 33.3,
        },
        "MNIST 70,000 x 784: quality": {
            "10-NN accuracy": {"ours": 0.97431, "UMAP": 0.9687},
            "trustworthiness": {"ours": 0.98894, "UMAP": 0.9584},
        },
    },
    "machine": {"cores": 2},
}


def test_a_method_has_all_its_numbers():
    assert mnist_record(RUN) == {
        "Sidelight": {"seconds": 30.0, "accuracy": 0.9743, "trustworthiness": 0.9889, "mebibytes": 800},
        "UMAP": {
            "seconds": 100.0, "accuracy": 0.9687, "trustworthiness": 0.9584, "mebibytes": 1001, "second_time": 33.3,
        },
    }  # fmt: skip


def test_a_number_of_rows_has_all_its_numbers():
    checks = {"seconds": 9.04, "memory, data included": 0.351, "trustworthiness": 0.99841}
    run = {
        "details": {"growth": {"sizes": [10_000]}},
        "checks": [{"what": f"mixture 10,000 x 50: {what}", "ours": value} for what, value in checks.items()],
    }
    assert growth_record(run) == {"10000": {"seconds": 9.0, "gigabytes": 0.35, "trustworthiness": 0.9984}}


def test_other_parts_of_the_file_stay(tmp_path):
    kept = tmp_path / "kept.json"
    (tmp_path / "large_maps_mnist.json").write_text(json.dumps(RUN))
    kept.write_text(json.dumps({"mnist": {"methods": {}}, "growth": {"rows": {"10": 1}}}))
    keep("mnist", tmp_path, kept)
    found = json.loads(kept.read_text())
    assert found["growth"] == {"rows": {"10": 1}}
    assert found["mnist"]["methods"] == mnist_record(RUN)
