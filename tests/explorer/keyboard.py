"""The keyboard of somebody who has no mouse: Tab, arrows, Enter, Space and letters, with the focus always in sight."""

from opened import PAGE

__all__ = ["Keyboard"]

_NAME = (
    "((e) => (e.getAttribute('aria-label') || (e.tagName === 'SELECT' ? [...(e.closest('label')?.childNodes ?? [])]"
    ".filter((n) => n.nodeType === 3).map((n) => n.data).join('') : e.closest('label')?.textContent) || e.textContent"
    " || '').replace(/\\s+/g, ' ').trim())"
)
_SEEN = """((e) => {
  const box = e.getBoundingClientRect(), ring = getComputedStyle(e.matches('.rows') ? e.closest('.table-scroll') : e);
  return { outlined: ring.outlineStyle !== 'none' && parseFloat(ring.outlineWidth) >= 2,
    inside: box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth };
})(document.activeElement)"""
_MOST = 150  # presses of Tab that go around the page
SHIFT = 8


class Keyboard:
    """Keys for a page, and what has the focus; every element that Tab reaches must show it, in the page's order."""

    def __init__(self, page):
        self.page = page

    @property
    def at(self):
        """The name of what has the focus; empty for nothing."""
        return self.page.evaluate(f"document.activeElement === document.body ? '' : {_NAME}(document.activeElement)")

    def tab(self):
        self.page.evaluate("window.left = document.activeElement")
        self.page.key("Tab")
        name = self.at
        if name:
            seen = self.page.evaluate(_SEEN)
            assert seen["outlined"], f"no outline shows that {name!r} has the focus"
            assert seen["inside"], f"{name!r} has the focus out of sight"
            order = "!left.isConnected || left === document.body || left.compareDocumentPosition(here) & 4"
            around = "here === document.querySelector('.skip')"
            assert self.page.evaluate(f"((here) => !!({order} || {around}))(document.activeElement)"), (
                f"Tab goes back to {name!r}"
            )
        return name

    def to(self, name, within=None):
        """Tab until an element of this name has the focus; of those in an element of the page, if it is named."""
        passed = []
        for _ in range(_MOST):
            passed.append(self.tab())
            around = "document" if within is None else f"document.getElementById('{within}')"
            if passed[-1] == name and self.page.evaluate(f"{around}.contains(document.activeElement)"):
                return
        raise AssertionError(f"Tab never reaches {name!r}, but {passed}")

    def press(self, name, within=None, key="Enter"):
        self.to(name, within)
        self.key(key)

    def key(self, *keys, shift=False):
        for key in keys:
            self.page.key(key, modifiers=SHIFT if shift else 0)

    def choose(self, name, value, within=None):
        """An option of a menu by arrow keys."""
        self.to(name, within)
        self.key("Home")
        for _ in range(60):
            if self.page.evaluate("document.activeElement.selectedOptions[0].text") == value:
                return
            self.key("ArrowDown")
        raise AssertionError(f"{name!r} has no option {value!r}")

    def write(self, text):
        for letter in text:
            self.key(letter)

    def wait(self, expression, seconds=90):
        self.page.wait_until(expression.replace("PAGE", PAGE), seconds)
