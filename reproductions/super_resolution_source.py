"""S0 figs. 6.4 to 6.6 in the source's setting: raw pixels, no residuals, three-way weights without factors."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from reproductions.harness import Outcome
from reproductions.super_resolution import (
    LARGE,
    PATCHES,
    SMALL,
    TESTED_ON,
    TRAINED_ON,
    bsds_pairs,
    cut,
    draw_patches_and_picture,
    named_picture,
    psnr,
)
from sidelight.gated import BiasedAutoencoder, GatedAutoencoder, Manifield

TITLE = "Super-resolution as in the source"
SOURCE = "S0 (Memisevic 2007), section 6.3.2, figs. 6.4 to 6.6"
GATED, FIELD, BICUBIC = "gated auto-encoder", "manifield", "bicubic"
UNITS, CROP = 20, 15
UPDATES = {GATED: 1500, FIELD: 2000}
SETTINGS: dict[str, Any] = {"optimizer": "adam", "learning_rate": 1e-3, "random_state": 0}


def run() -> Outcome:
    torch.set_num_threads(1)
    patches, rows = _patches()
    pictures, example = _pictures()
    outcome = Outcome(
        f"Patches: {PATCHES:,} of {LARGE} × {LARGE} pixels from one picture, raw; a gated auto-encoder with {UNITS} "
        f"hidden units learns them given their {SMALL} × {SMALL} ones, and projects the enlarged patch of another "
        "picture. Pictures: a manifield of 5 × 5 patches, biased auto-encoder with three hidden layers of 50 (sigmoid, "
        f"linear, sigmoid), predictor with 50, the error of overlapping means, crops of {CROP} × {CROP}; BSDS, 40 to "
        "train on, 20 to test, reduced and enlarged twice (the source: Corel, factor not given). Not given: training "
        f"(Adam, {UPDATES[GATED]:,} and {UPDATES[FIELD]:,} updates), enlargement (bicubic).",
        draw_patches_and_picture(rows, example),
        f"Above: patches of {SMALL} × {SMALL}, as they are, enlarged, by the gated auto-encoder, and the truth. "
        "Below: a part of a held-out picture: bicubic, manifield, truth.",
    )
    for where, found, name in (("patches", patches, GATED), ("pictures", pictures, FIELD)):
        outcome.note(f"source's setting: {where}, PSNR (dB), {name}", found[name], "a picture")
        outcome.note(f"{where}, PSNR (dB), {BICUBIC}", found[BICUBIC], "-")
    outcome.notes.append(
        "By default (see above) the gated model is trained on first guesses and the manifield learns what bicubic "
        "enlargement misses."
    )
    return outcome


def _patches() -> tuple[dict[str, float], list[Any]]:
    X, Y, _ = cut(named_picture(TRAINED_ON), PATCHES, 0)
    X_new, Y_new, first = cut(named_picture(TESTED_ON), 1000, 1)
    model = GatedAutoencoder(UNITS, max_iter=UPDATES[GATED], **SETTINGS).fit(X, Y)
    found = model.predict(X_new, first)
    chosen = np.argsort(-Y_new.std(axis=1))[[0, 40, 120, 250]]
    parts = [(X_new, SMALL), (first, LARGE), (found, LARGE), (Y_new, LARGE)]
    rows = [[part[row].reshape(size, size) for part, size in parts] for row in chosen]
    return {GATED: psnr(found, Y_new), BICUBIC: psnr(first, Y_new)}, rows


def _pictures() -> tuple[dict[str, float], list[Any]]:
    (X, Y), (blurred, truth) = bsds_pairs()
    code: dict[str, Any] = {"n_components": 50, "hidden": (50,), "activation": "sigmoid", "predictor": (50,)}
    model = BiasedAutoencoder(**code, batch_size=20, max_iter=UPDATES[FIELD], **SETTINGS)
    found = Manifield(model, 5, "grid", alone=0.0, crop=CROP).fit(X, Y).predict(blurred)
    gains = [psnr(a, b) - psnr(c, b) for a, b, c in zip(found, truth, blurred, strict=True)]
    middle, part = int(np.argsort(gains)[len(gains) // 2]), (slice(100, 220), slice(150, 330))
    means = {
        name: float(np.mean([psnr(a, b) for a, b in zip(parts, truth, strict=True)]))
        for name, parts in ((FIELD, found), (BICUBIC, blurred))
    }
    return means, [parts[middle][part] for parts in (blurred, found, truth)]
