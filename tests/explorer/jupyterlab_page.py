"""JupyterLab in Chromium with one notebook open; figures of the docs use it too."""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.request

from chromium import Page

HOSTS = "[...document.querySelectorAll('div')].filter((d) => d.shadowRoot?.getElementById('stage')?.dataset.ready)"
PAGE = f"{HOSTS}[0].shadowRoot.getElementById('stage').page"


def notebook(texts):
    """A notebook of code cells, as JSON."""
    cells = [
        {
            "cell_type": "code",
            "id": f"c{k}",
            "metadata": {},
            "source": text.strip(),
            "outputs": [],
            "execution_count": None,
        }
        for k, text in enumerate(texts)
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return json.dumps({"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5})


class Lab(Page):
    """JupyterLab with the notebook open."""

    def __init__(self, folder, text, width=1400, height=1000):
        super().__init__(folder / "profile", width=width, height=height)
        self.folder, self.notebook = folder, text

    def __enter__(self):
        (self.folder / "map.ipynb").write_text(self.notebook)
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
            self.call("Page.navigate", url=f"http://127.0.0.1:{port}/lab/tree/map.ipynb?token={token}")
            self.wait_until(
                "window.jupyterapp?.shell?.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'"
            )
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
        buttons = f"[...{HOSTS}[0].shadowRoot.querySelectorAll('button')]"
        found = f"{buttons}.find((b) => b.textContent === '{text}' && !b.disabled)"
        self.wait_until(f"{found} !== undefined")
        self.evaluate(f"{found}.click()")
