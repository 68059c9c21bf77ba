"""A browser with an explorer's page in it, driven by tests through the DevTools protocol."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))
import chromium
from chromium import Page, find_chromium

from sidelight.explorer.serving import serve

__all__ = ["PAGE", "Opened", "chromium", "find_chromium"]

PAGE = "document.getElementById('stage').page"
NUMBERS = {"Tab": 9, "Enter": 13, " ": 32, "End": 35, "Home": 36} | {
    f"Arrow{way}": 37 + k for k, way in enumerate(("Left", "Up", "Right", "Down"))
}
"""Key codes without which Chromium does nothing of its own: menus, radio buttons and sliders follow arrow keys."""


class Opened(Page):
    """A browser with an explorer's page in it."""

    def __init__(self, profile, explorer, **options):
        super().__init__(profile, **options)
        self.explorer = explorer

    def __enter__(self):
        self.served = serve(self.explorer)
        try:
            super().__enter__()
            self.visit()
        except BaseException:
            self.served.close()
            raise
        return self

    def __exit__(self, *_):
        super().__exit__()
        self.served.close()

    def wait_until(self, expression, seconds=90):  # a busy machine draws slowly, above all without a graphics card
        super().wait_until(expression, seconds)

    def visit(self):
        self.call("Page.navigate", url=self.served.address)
        self.wait_until("document.documentElement?.dataset.ready === 'yes'")

    def place(self, row):
        corner = "document.getElementById('stage-overlay').getBoundingClientRect()"
        x, y = self.evaluate(f"{PAGE}.scatter.placeOf({row})")
        return self.evaluate(f"{corner}.x") + x, self.evaluate(f"{corner}.y") + y

    def hover(self, row):
        self.move_to(*self.place(row))
        self.wait_until(f"{PAGE}.row?.row === {row} && {PAGE}.here !== null && !{PAGE}.asking")
        return np.array(self.evaluate(f"{PAGE}.here.values"))

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1, **more)

    def draw(self, corners, tool="lasso"):
        self.evaluate(f"document.querySelector('[name=tool][value={tool}]').click()")
        self.mouse("mousePressed", *corners[0])
        for corner in corners[1:]:
            self.mouse("mouseMoved", *corner)
        self.mouse("mouseReleased", *corners[-1])
        return set(self.evaluate(f"[...{PAGE}.selected]"))

    def key(self, key, code="", modifiers=0):
        text = {"text": key} if len(key) == 1 else {}
        for kind in ("keyDown", "keyUp"):
            pressed = {"type": kind, "key": key, "code": code or key, "modifiers": modifiers}
            number = NUMBERS.get(key)
            if number:
                pressed |= {"windowsVirtualKeyCode": number}
            if key == "Enter":
                text = {"text": "\r"}
            self.call("Input.dispatchKeyEvent", **pressed, **(text if kind == "keyDown" else {}))

    def click(self, text):
        found = f"[...document.querySelectorAll('button')].find((b) => b.textContent === '{text}' && !b.disabled)"
        self.wait_until(f"{found} !== undefined")
        self.evaluate(f"{found}.click()")

    def text(self, name):
        return self.evaluate(f"document.getElementById('{name}').innerText")

    def call_browser(self, method, **parameters):
        """A call to the browser, not to the page."""
        own, self.session = self.session, None
        try:
            return self.call(method, **parameters)
        finally:
            self.session = own
