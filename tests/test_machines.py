"""The table of ``make test-machines``: what counts as failed, what is only said, and which settings there are."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import machines
import pytest
from machines import Outcome, Processor, Setting


def test_every_processor_python_and_kind_of_versions_is_a_setting():
    names = [setting.name for setting in machines.SETTINGS]
    assert {"native", "Nehalem", "Sandybridge", "Haswell", "Zen", "SkylakeX", "no-AVX-512"} <= set(names)
    assert {f"3.{minor}-{kind}" for minor in (11, 12, 13) for kind in ("pinned", "oldest", "newest")} <= set(names)
    assert len(names) == len(set(names))


def test_sensitive_tests_are_there():
    assert all((machines.ROOT / path).exists() for path in machines.SENSITIVE)


@pytest.mark.parametrize(
    ("output", "counts"),
    [
        ("..\n==== 3 passed, 1 skipped in 0.5s ====\n", {"passed": 3, "skipped": 1}),
        ("1 failed, 2 passed, 1 error in 70.10s (0:01:10)\n", {"failed": 1, "passed": 2, "errors": 1}),
        ("Fatal Python error: Illegal instruction\n", {}),
    ],
)
def test_counts_are_those_of_the_last_line(output, counts):
    assert machines.counted(output) == counts


def test_a_processor_whose_instructions_are_missing_is_said_and_is_no_failure(monkeypatch, tmp_path):
    monkeypatch.setattr(machines, "LOGS", tmp_path)
    ended = subprocess.CompletedProcess([], -signal.SIGILL, "", "")
    monkeypatch.setattr(machines.subprocess, "run", lambda *_, **__: ended)
    found = machines.run(Setting("new", Processor("SkylakeX")), ["tests/rows"], 0)
    assert not found.failed
    assert found.remark.startswith("not run: this processor lacks")


def test_features_that_numpy_does_not_have_are_not_switched_off(monkeypatch):
    said = {"features": "AVX2 AVX512_SKX X86_V4"}
    monkeypatch.setattr(machines, "probed", lambda *_: said)
    variables, _ = machines.played(Path("python"), Processor("Haswell", ("AVX512", "X86_V4")))
    assert variables["NPY_DISABLE_CPU_FEATURES"] == "AVX512_SKX X86_V4"
    assert variables["OPENBLAS_CORETYPE"] == "Haswell"
    said["features"] = "AVX2"
    with pytest.raises(LookupError, match="has none of AVX512"):
        machines.played(Path("python"), Processor("Haswell", ("AVX512", "X86_V4")))


@pytest.mark.parametrize("failed", [False, True])
def test_one_setting_that_failed_fails_the_command_and_its_tests_are_named(monkeypatch, tmp_path, capsys, failed):
    monkeypatch.setattr(machines, "LOGS", tmp_path)
    (tmp_path / "Nehalem.log").write_text("FAILED tests/test_x.py::test_y - assert\n")
    outcomes = {"native": Outcome({"passed": 5}), "Nehalem": Outcome({"failed": 1}, failed=failed)}
    monkeypatch.setattr(machines, "run", lambda setting, *_: outcomes[setting.name])
    assert machines.main(["--only", "native", "Nehalem"]) == int(failed)
    assert ("Nehalem: FAILED tests/test_x.py::test_y" in capsys.readouterr().out) == failed


def test_a_setting_that_does_not_exist_is_said(capsys):
    assert machines.main(["--only", "Z80"]) == 2
    assert "--only=Z80 names no setting" in capsys.readouterr().err
