"""The explorer as a widget in JupyterLab, photographed in Chromium (needs jupyterlab)."""

from __future__ import annotations

import importlib.util
import json
import sys
import tempfile
import time
from pathlib import Path

from canvas import FOLDER
from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "report"))
sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "explorer"))
from chromium import find_chromium
from jupyterlab_page import HOSTS, PAGE, Lab

EXAMPLE = Path(__file__).parents[2] / "examples" / "explorer.ipynb"


def explorer_notebook() -> None:
    if find_chromium() is None or importlib.util.find_spec("jupyterlab") is None:
        print("explorer_notebook: needs Chromium and jupyterlab, the picture stays as it is")
        return
    notebook = json.loads(EXAMPLE.read_text())
    notebook["cells"] = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"][:3]
    notebook["cells"][2] |= {"source": "page.selection"}
    with tempfile.TemporaryDirectory() as name, Lab(Path(name), json.dumps(notebook), 1240, 1240) as lab:
        lab.evaluate("jupyterapp.shell.collapseLeft(), jupyterapp.shell.collapseRight(), undefined")
        lab.run_cell(0)
        lab.printed(0)
        lab.run_cell(1)
        lab.wait_until(f"{HOSTS}.length === 1")
        lab.evaluate(f"{PAGE}.select([...Array(6).keys()], 'replace')")
        lab.wait_until(f"{HOSTS}[0].shadowRoot.querySelectorAll('#selection .pictures').length > 0")
        lab.run_cell(2)
        lab.printed(2)
        lab.move_to(*lab.place(3))
        lab.wait_until(f"{PAGE}.here !== null && !{PAGE}.asking")
        time.sleep(2)
        lab.evaluate("document.querySelectorAll('.Toastify').forEach((notice) => notice.remove())")
        shot = Path(name) / "shot.png"
        lab.screenshot(shot)
        Image.open(shot).convert("RGB").crop((42, 92, 1200, 1200)).save(FOLDER / "explorer_notebook.png", optimize=True)


FIGURES = {"explorer_notebook": explorer_notebook}
