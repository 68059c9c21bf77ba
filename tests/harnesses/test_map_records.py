"""A run of the flagship's benchmark is kept as the pages read it."""

import json

from benchmarks.map_records import growth_record, keep, mnist_record, small_record

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


def test_few_rows_have_the_seconds_and_the_quality_of_every_method():
    def race(kind, rival, ours, theirs):
        return {"what": f"MNIST 2,000 x 784: {kind}", "ours": ours, "rival": theirs, "rival_name": rival}

    run = {
        "checks": [
            race("fresh process", "UMAP", 2.988, 13.3),
            race("second fit", "UMAP", 1.567, 3.196),
            {"what": "MNIST 2,000 x 784: estimate of MiB, factor", "ours": 1.3},
        ],
        "details": {
            "repeats": {},
            "MNIST 2,000 x 784: quality": {"10-NN accuracy": {"ours": 0.905}, "trustworthiness": {"UMAP": 0.94868}},
        },
    }
    assert small_record(run) == {
        "2000": {
            "fresh Sidelight": 2.99, "fresh UMAP": 13.3, "second Sidelight": 1.57, "second UMAP": 3.2,
            "accuracy Sidelight": 0.905, "trustworthiness UMAP": 0.9487,
        }
    }  # fmt: skip
