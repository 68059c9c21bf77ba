"""Chromium without a driver: the DevTools protocol over a WebSocket (RFC 6455), from the standard library."""

import base64
import itertools
import json
import os
import shutil
import socket
import struct
import subprocess
import time
from pathlib import Path
from urllib.parse import urlparse

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions"),
    *("--hide-scrollbars", "--mute-audio", "--disable-dev-shm-usage", "--remote-debugging-port=0"),
)


def find_chromium():
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class WebSocket:
    """Text frames of a client, enough for DevTools: no extensions, messages joined from their fragments."""

    def __init__(self, address, timeout=30):
        parts = urlparse(address)
        self.socket = socket.create_connection((parts.hostname, parts.port), timeout=timeout)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        answer = b""
        while not answer.endswith(b"\r\n\r\n"):
            answer += self._exactly(1)
        assert b" 101 " in answer.splitlines()[0], answer

    def _exactly(self, count):
        pieces = b""
        while len(pieces) < count:
            piece = self.socket.recv(count - len(pieces))
            if not piece:
                raise ConnectionError("Chromium closed the connection")
            pieces += piece
        return pieces

    def send(self, text):
        payload, mask = text.encode(), os.urandom(4)
        n = len(payload)
        if n < 126:
            length = struct.pack("!B", 0x80 | n)
        else:
            length = struct.pack("!BH", 0x80 | 126, n) if n < 65536 else struct.pack("!BQ", 0x80 | 127, n)
        masked = bytes(byte ^ mask[k % 4] for k, byte in enumerate(payload))
        self.socket.sendall(b"\x81" + length + mask + masked)

    def receive(self):
        message, final = b"", False
        while not final:
            first, second = self._exactly(2)
            length = second & 0x7F
            if length >= 126:
                length = struct.unpack("!H" if length == 126 else "!Q", self._exactly(2 if length == 126 else 8))[0]
            payload = self._exactly(length)
            if first & 0x0F in (0, 1):
                message, final = message + payload, bool(first & 0x80)
        return message.decode()


class Page:
    """A page in a browser of its own, which ends with the ``with`` block."""

    def __init__(self, profile, width=1280, height=900, dark=False):
        self.profile, self.size, self.dark = Path(profile), (width, height), dark

    def __enter__(self):
        command = [find_chromium(), *FLAGS, f"--user-data-dir={self.profile}", "about:blank"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            self._connect()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _connect(self):
        self.events, self.numbers, self.socket = [], itertools.count(1), None
        port, path = self._wait_for_port()
        self.session = None
        self.socket = WebSocket(f"ws://127.0.0.1:{port}{path}")
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        width, height = self.size
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if self.dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def _wait_for_port(self):
        written = self.profile / "DevToolsActivePort"
        for _ in range(300):
            if written.exists() and len(lines := written.read_text().split()) == 2:
                return lines
            assert self.process.poll() is None, "Chromium ended before it listened"
            time.sleep(0.1)
        raise TimeoutError("Chromium did not listen within 30 s")

    def __exit__(self, *_):
        if self.socket is not None:
            self.socket.socket.close()
        self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(timeout=10)

    def call(self, method, **parameters):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self.session is not None:
            message["sessionId"] = self.session
        self.socket.send(json.dumps(message))
        while True:
            answer = json.loads(self.socket.receive())
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def open(self, path):
        self.call("Page.navigate", url=Path(path).resolve().as_uri())
        self.wait_until("document.documentElement?.dataset.ready === 'yes'")

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def _holds(self, expression):
        try:
            return self.evaluate(expression)
        except AssertionError as error:
            if "execution context" in str(error):  # a page that is being loaded has none for a moment
                return False
            raise

    def wait_until(self, expression, seconds=20):
        end = time.monotonic() + seconds
        while not self._holds(expression):
            assert time.monotonic() < end, f"never came true: {expression}"
            time.sleep(0.05)

    def move_to(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def screenshot(self, path, whole=False):
        clip = {}
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            clip = {"clip": {**size, "scale": 1}, "captureBeyondViewport": True}
        Path(path).write_bytes(base64.b64decode(self.call("Page.captureScreenshot", **clip)["data"]))

    def complaints(self):
        """Errors and warnings of the console, exceptions, and log entries since the browser started."""
        kinds = {"Runtime.exceptionThrown", "Log.entryAdded"}
        loud = [e for e in self.events if e["method"] == "Runtime.consoleAPICalled" and e["params"]["type"] != "log"]
        return loud + [e for e in self.events if e["method"] in kinds]

    def requests(self):
        """Addresses that the page asked for, apart from the data it carries itself."""
        sent = [e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"]
        return [address for address in sent if not address.startswith("data:")]
