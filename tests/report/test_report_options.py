"""The arguments of ``report.write`` are one value inside."""

import dataclasses
import inspect

from sidelight import report
from sidelight.report._options import ReportOptions


def test_options_are_the_arguments_of_write_with_their_defaults():
    arguments = inspect.signature(report.write).parameters
    fields = {field.name: field.default for field in dataclasses.fields(ReportOptions)}
    assert list(fields) == [name for name in arguments if name not in ("model", "path", "sections")]
    assert fields == {name: arguments[name].default for name in fields}
