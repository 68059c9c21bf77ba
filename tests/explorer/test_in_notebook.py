"""The widget in JupyterLab, with a real kernel and Chromium: what is selected in the page reaches Python, and back."""

import importlib.util
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))
from chromium import Page, find_chromium

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
HOSTS = "[...document.querySelectorAll('div')].filter((d) => d.shadowRoot?.getElementById('stage')?.dataset.ready)"
PAGE = f"{HOSTS}[0].shadowRoot.getElementById('stage').page"


def notebook():
    cells = [
        {"cell_type": "code", "id": f"c{k}", "metadata": {}, "source": text.strip(), "outputs": [], "execution_count": None}
        for k, text in enumerate(CELLS)
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return json.dumps({"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5})


class Lab(Page):
    """JupyterLab with the notebook open."""

    def __init__(self, folder):
        super().__init__(folder / "profile", width=1400, height=1000)
        self.folder = folder

    def __enter__(self):
        (self.folder / "one.ipynb").write_text(notebook())
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        token = secrets.token_hex(8)
        command = [
            sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}", "--ip=127.0.0.1",
            f"--IdentityProvider.token={token}", "--expose-app-in-browser", f"--ServerApp.root_dir={self.folder}",
        ]  # fmt: skip
        homes = {name: str(self.folder / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")}
        with (self.folder / "lab.txt").open("w") as log:
            settings = {"env": {**os.environ, **homes}, "start_new_session": True}
            self.server = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, **settings)
        try:
            self.wait_for(f"http://127.0.0.1:{port}/api?token={token}")
            super().__enter__()
            self.call("Page.navigate", url=f"http://127.0.0.1:{port}/lab/tree/one.ipynb?token={token}")
            self.wait_until("window.jupyterapp?.shell?.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'")
        except BaseException:
            self.end_server()
            raise
        return self

    def __exit__(self, *_):
        super().__exit__()
        self.end_server()

    def end_server(self):
        os.killpg(self.server.pid, signal.SIGTERM)  # its own group: the server and its kernels
        self.server.wait(20)

    def wait_for(self, address):
        for _ in range(600):
            try:
                return urllib.request.urlopen(address, timeout=2).read()
            except OSError:
                assert self.server.poll() is None, (self.folder / "lab.txt").read_text()[-2000:]
                time.sleep(0.1)
        raise TimeoutError("JupyterLab did not answer within a minute")

    def wait_until(self, expression, seconds=90):
        super().wait_until(expression, seconds)

    def run_cell(self, at):
        self.evaluate(
            f"(() => {{ const book = jupyterapp.shell.currentWidget.content; book.activeCellIndex = {at}; "
            "jupyterapp.commands.execute('notebook:run-cell'); })()"
        )

    def printed(self, at):
        cell = f"jupyterapp.shell.currentWidget.content.widgets[{at}]"
        self.wait_until(f"{cell}.model.outputs.length > 0")
        return self.evaluate(f"{cell}.model.outputs.get(0).toJSON().text")

    def mouse(self, kind, x, y):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)

    def place(self, row):
        return self.evaluate(
            f"(() => {{ const page = {PAGE}, box = page.byId('stage-overlay').getBoundingClientRect(), "
            f"[x, y] = page.scatter.placeOf({row}); return [box.x + x, box.y + y]; }})()"
        )

    def click(self, text):
        found = f"[...{HOSTS}[0].shadowRoot.querySelectorAll('button')].find((b) => b.textContent === '{text}' && !b.disabled)"
        self.wait_until(f"{found} !== undefined")
        self.evaluate(f"{found}.click()")


def test_selection_and_new_model_reach_python_through_jupyterlab(tmp_path):
    with Lab(tmp_path) as lab:
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
        lab.wait_until(f"{HOSTS}[0].shadowRoot.querySelectorAll('#selection .pictures').length > 0")  # the kernel answered
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
