"""The section about how many dimensions the rows have: the spectrum of a Gram matrix, and how sure it is."""

from __future__ import annotations

from itertools import accumulate

from sidelight.base.capabilities import capabilities
from sidelight.plot._spectrum import Spectrum, spectrum_of

from ._context import Context
from ._section import Section, write_number

__all__ = ["spectrum_section"]

WIDTH, HEIGHT = 520, 200
LEFT, TOP, BOTTOM = 44, 14, 36


def spectrum_section(context: Context) -> Section | None:
    """The share of each latent axis as bars, their sum as a line, and what the certificate says."""
    if not capabilities(context.model).has_spectrum:
        return None
    found = spectrum_of(context.model)
    q = found.n_dimensions
    who = "One axis holds" if q == 1 else f"The first {q} axes hold"
    words = [f"{who} {100 * found.share:g} % of the variance.", "Bars: share of each axis; line: cumulative share."]
    certificate = context.model.certificate_
    if certificate is not None:
        words.append(
            f"No map with the same distances has more than {100 * abs(certificate['gap']):.2g} % more variance "
            f"(the distances are kept to {write_number(certificate['feasibility'])} of their mean square)."
        )
    return Section(
        "spectrum", "How many dimensions", _chart(found) + f'<p class="caption">{" ".join(words)}</p>', wide=False
    )


def _chart(found: Spectrum) -> str:
    shown = found.shown.tolist()
    step = (WIDTH - LEFT) / len(shown)
    centres = [LEFT + step * (k + 0.5) for k in range(len(shown))]
    parts = [
        f'<svg class="chart narrow" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="Share of each latent axis">'
    ]
    for level in (0.0, 0.5, 1.0):
        y = f"{_down(level):.1f}"
        parts.append(f'<line class="rule" x1="{LEFT}" x2="{WIDTH}" y1="{y}" y2="{y}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y}" dy="4" text-anchor="end">{level:g}</text>')
    for k, (x, share) in enumerate(zip(centres, shown, strict=True)):
        opacity = 1.0 if k < found.n_dimensions else 0.3
        parts.append(
            f'<rect class="s1" fill="currentColor" fill-opacity="{opacity}" x="{x - 0.36 * step:.1f}" '
            f'width="{0.72 * step:.1f}" y="{_down(share):.1f}" height="{_down(0.0) - _down(share):.1f}">'
            f"<title>axis {k + 1}: {write_number(share)}</title></rect>"
        )
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{k + 1}</text>')
    line = " ".join(f"{x:.1f},{_down(total):.1f}" for x, total in zip(centres, accumulate(shown), strict=True))
    parts.append(f'<polyline class="series s0" points="{line}"/>')
    parts.append(f'<text x="{(LEFT + WIDTH) / 2:.0f}" y="{HEIGHT - 2}" text-anchor="middle">latent axis</text></svg>')
    return f'<div class="scrolling">{"".join(parts)}</div>'


def _down(value: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - min(value, 1.0))
