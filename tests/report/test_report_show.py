"""The report inside a notebook: a frame that holds the whole page and runs nothing else."""

import html
import re
import time

import numpy as np
import pytest
from chromium import Page, find_chromium

from sidelight import report


@pytest.mark.thorough
def test_the_frame_holds_the_page_that_write_would_write(model, views, columns, tmp_path):
    options = {"colours": columns, "image_shape": views.image_shape}
    shown = report.show(model, views.X, height=500, **options)
    written = report.write(model, tmp_path / "r.html", X=views.X, **options).read_text(encoding="utf-8")
    markup = shown._repr_html_()
    assert shown.page == written
    assert html.unescape(re.search(r'srcdoc="([^"]*)"', markup).group(1)) == written
    assert "height:500px" in markup
    assert 'sandbox="allow-scripts"' in markup
    assert len(repr(shown)) < 100


def test_many_rows_are_thinned(table_model):
    model, _ = table_model
    Z = np.random.default_rng(0).normal(size=(12_000, 2))
    assert "10,000 evenly spaced rows of 12,000 are shown." in report.show(model, embedding=Z).page


def enter_frame(page):
    """Go on in the sandboxed frame of a page, which is a target of its own."""
    for _ in range(200):
        attached = [e["params"] for e in page.events if e["method"] == "Target.attachedToTarget"]
        frames = [one["sessionId"] for one in attached if one["targetInfo"]["type"] == "iframe"]
        if frames:
            page.session = frames[0]
            page.call("Runtime.enable")
            return
        time.sleep(0.1)
        page.evaluate("1")  # so that events arrive
    raise AssertionError("there is no frame")


@pytest.mark.thorough
@pytest.mark.browser
@pytest.mark.skipif(find_chromium() is None, reason="no chromium on this machine")
def test_the_frame_draws_its_map(model, views, columns, tmp_path):
    shown = report.show(model, views.X, colours=columns, image_shape=views.image_shape)
    page_file = tmp_path / "notebook.html"
    page_file.write_text(f"<html data-ready='yes'><body>{shown._repr_html_()}</body></html>", encoding="utf-8")
    with Page(tmp_path / "profile") as page:
        page.call("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=False, flatten=True)
        page.open(page_file)
        enter_frame(page)
        page.wait_until("document.documentElement.dataset.ready === 'yes'")
        assert page.evaluate("document.querySelectorAll('#legend li').length") == 3
        assert page.complaints() == []
