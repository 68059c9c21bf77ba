"""The widget in JupyterLab, with a real kernel and Chromium: what is selected in the page reaches Python, and back."""

import importlib.util
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))
sys.path.insert(0, str(Path(__file__).parent))
from chromium import find_chromium
from jupyterlab_page import HOSTS, PAGE, Lab, notebook

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(find_chromium() is None, reason="no chromium on this machine (apt-get install chromium)"),
    pytest.mark.skipif(
        importlib.util.find_spec("jupyterlab") is None or importlib.util.find_spec("anywidget") is None,
        reason="needs the extra notebook and jupyterlab (pip install jupyterlab)",
    ),
]
FIT = """
from sidelight import KernelInformationEmbedding, datasets, explorer
views = datasets.turntable(12, size=8)
model = KernelInformationEmbedding(random_state=0, max_iter=60, tol=1e-3).fit(views.X)
page = explorer.widget(model, views.X, columns={"object": views.factors["object"]}, image_shape=views.image_shape)
heard = []
page.observe(lambda change: heard.append(change.new), "selection")
page
"""
CELLS = (
    FIT,
    "print('selected', page.selection, heard[-1] == page.selection)",
    "page.selection = [5, 9]",
    "print('maps', len(page.session.maps), page.model is not model, type(page.model).__name__)",
)


def test_selection_and_new_model_reach_python_through_jupyterlab(tmp_path):
    with Lab(tmp_path, notebook(CELLS)) as lab:
        lab.run_cell(0)
        lab.wait_until(f"{HOSTS}.length === 1")
        lab.evaluate(f"{PAGE}.byId('tools').querySelector('[value=box]').click()")
        lab.evaluate(f"{HOSTS}[0].scrollIntoView({{block: 'center'}})")
        time.sleep(0.5)  # scrolling settles
        x, y = lab.place(7)
        lab.mouse("mousePressed", x - 4, y - 4)
        lab.mouse("mouseMoved", x, y)
        lab.mouse("mouseMoved", x + 4, y + 4)
        lab.mouse("mouseReleased", x + 4, y + 4)
        lab.wait_until(f"{PAGE}.selected.has(7)")
        chosen = sorted(lab.evaluate(f"[...{PAGE}.selected]"))
        lab.wait_until(
            f"{HOSTS}[0].shadowRoot.querySelectorAll('#selection .pictures').length > 0"
        )  # the kernel answered
        lab.run_cell(1)
        assert lab.printed(1) == f"selected {chosen} True\n"
        lab.run_cell(2)
        lab.wait_until(f"{PAGE}.selected.size === 2 && {PAGE}.selected.has(5) && {PAGE}.selected.has(9)")
        lab.click("Factor out")
        lab.wait_until(f"{PAGE}.state.statements.length === 1")
        lab.click("Re-fit")
        lab.wait_until(f"{PAGE}.state.maps.length === 2")
        lab.run_cell(3)
        assert lab.printed(3) == "maps 2 True KernelInformationEmbedding\n"
        lab.screenshot(tmp_path / "lab.png")
        mine = [one for one in lab.complaints() if "sidelight" in str(one) or "blob:" in str(one)]
        assert mine == []
