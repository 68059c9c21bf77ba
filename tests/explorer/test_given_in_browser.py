"""What is given, as controls in Chromium: a slider of numbers, a dial of angles, by pointer and by keyboard."""

import json

import numpy as np
import pytest

pytest.importorskip("starlette", reason="needs the extra explore")
pytest.importorskip("uvicorn", reason="needs the extra explore")
from opened import PAGE, Opened, find_chromium

from sidelight import KernelInformationEmbedding
from sidelight.explorer._explorer import Explorer, Setting
from sidelight.explorer._table import table_of
from sidelight.information.conditioning import Conditioning

pytestmark = [
    pytest.mark.browser,
    pytest.mark.thorough,
    pytest.mark.skipif(find_chromium() is None, reason="no chromium on this machine (apt-get install chromium)"),
]


@pytest.fixture(scope="module")
def dated():
    """Rows that move with a number and with an hour of the day, and a model that was given both."""
    rng = np.random.default_rng(0)
    age, hour = rng.uniform(20, 60, 120), rng.uniform(0, 24, 120)
    X = rng.normal(size=(120, 4))
    X[:, 0] += 0.1 * age
    X[:, 1] += 2 * np.sin(2 * np.pi * hour / 24)
    given = {"age": age, "hour": hour}
    model = KernelInformationEmbedding(
        random_state=0, max_iter=40, tol=1e-3, conditioning=Conditioning(types={"hour": 24.0})
    )
    return X, given, model.fit(X, given=given)


def decoded(page, model):
    page.wait_until(f"{PAGE}.here !== null && !{PAGE}.asking")
    given = {name: [value] for name, value in page.evaluate(f"{PAGE}.given").items()}
    own = model.inverse_transform([page.evaluate(f"{PAGE}.place")], given=given)[0]
    np.testing.assert_allclose(page.evaluate(f"{PAGE}.here.values"), own, atol=1e-6)
    return {name: value for name, (value,) in given.items()}


def test_a_slider_and_a_dial_keep_the_focus_and_what_is_decoded_follows(dated, tmp_path):
    X, given, model = dated
    table = table_of(model, X, given=given)
    with Opened(tmp_path / "profile", Explorer(model, table, (), Setting("Dated", tmp_path))) as page:
        page.hover(5)
        assert page.evaluate(f"{PAGE}.given") is None
        page.evaluate("document.querySelector('#controls input[type=range]').focus()")
        seen = []
        for _ in range(3):
            page.key("ArrowRight")
            seen.append(decoded(page, model)["age"])
        assert np.all(np.diff(seen) > 0)
        assert page.evaluate("document.activeElement.type") == "range"

        x, y, width, height = page.evaluate(
            "(({x, y, width, height}) => [x, y, width, height])"
            "(document.querySelector('.dial').getBoundingClientRect())"
        )
        page.mouse("mousePressed", x + width - 3, y + height / 2)
        page.mouse("mouseReleased", x + width - 3, y + height / 2)  # a quarter around, clockwise from the top
        assert decoded(page, model)["hour"] == pytest.approx(6, abs=0.3)
        page.evaluate("document.querySelector('.dial').focus()")
        page.key("Home")
        page.key("ArrowLeft")
        assert decoded(page, model)["hour"] == pytest.approx(24 - 24 / 72)
        assert page.evaluate("document.activeElement.getAttribute('role')") == "slider"
        assert float(page.evaluate("document.activeElement.getAttribute('aria-valuenow')")) == pytest.approx(
            23.67, 0.01
        )

        page.evaluate(f"{PAGE}.select([3, 4], 'replace')")
        page.click("Show as given above")
        page.wait_until("document.getElementById('selection').innerText.includes('→')")
        before = page.text("selection")
        page.evaluate("document.querySelector('.dial').focus()")
        for _ in range(3):
            page.key("PageUp")
        page.wait_until(f"document.getElementById('selection').innerText !== {json.dumps(before)}")
        page.wait_until("document.getElementById('selection').innerText.includes('→')")
        page.evaluate("[...document.querySelectorAll('#controls button')].at(-1).click()")
        page.wait_until(f"{PAGE}.given === null")
        assert [one for one in page.complaints() if "WebGL" not in str(one)] == []
