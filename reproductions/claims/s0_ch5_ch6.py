"""Claims of S0 chapters 5 and 6, by reproduction."""

from __future__ import annotations

from reproductions.claims.claim import Claim

CLAIMS: dict[str, tuple[Claim, ...]] = {
    "shifts_source": (
        Claim(
            "fig. 5.2",
            "The flow of a shifted picture is inferred and applied to another picture.",
            '"consistently"',
            "flow right {source's setting: shifts: flow right, worst of five seeds}; average precision "
            "{source's setting: shifts: average precision of the transferred picture, worst} (worst of five seeds)",
            "see the next line",
        ),
        Claim(
            "fig. 5.3",
            "10 mapping units find a factorial code of 25 transformations.",
            '"can be seen"',
            "flow right {source's setting: factorial shifts: flow right, median of five seeds} (median of five seeds), "
            "{source's setting: factorial shifts: flow right, worst of five seeds} (worst)",
            "see the next line",
            because="the code is factorial, but some arrows are wrong with every seed. With mean-field negatives (next "
            "line) almost none are wrong.",
        ),
    ),
    "shifts": (
        Claim(
            "figs. 5.2, 5.3",
            "The same with mean-field negatives and Adam, and on faces.",
            "no such data",
            "-",
            "flow right {shifts: flow right, worst of five seeds} (whole), "
            "{factorial shifts: flow right, worst of five seeds} (halves), worst of five seeds",
            "no claim",
            "this setting is ours.",
        ),
    ),
    "digit_fields": (
        Claim(
            "fig. 5.7",
            "Nearest neighbours have the right class with the learned distance, unlike with the Euclidean distance.",
            '"clearly better" (a picture)',
            "{source's setting (arg max of outputs): right classes among the five nearest of 300} "
            "of the five nearest right (Euclidean {Euclidean: right classes among the five nearest of 300})",
            "{ours (means of outputs): right classes among the five nearest of 300}",
            because="trained with mean-field negatives; the source samples them.",
        ),
        Claim(
            "fig. 5.8",
            "Weights between pixels at the edge are small.",
            "a picture",
            "squared weights of edge pixels over inner ones: "
            "{fig. 5.8: squared weight between edge pixels over that of inner ones}",
            "the same",
        ),
    ),
    "gated_patches": (
        Claim(
            "fig. 5.5",
            "Weights of video patches are local.",
            published="not run (its videos are not public)",
            default="{video: squared weights within 4 pixels of the input pixel} within 4 pixels (random "
            "{the same, random weights between components})",
            because="on our two clips.",
        ),
        Claim(
            "fig. 5.5",
            "Weights of video patches form oriented edge filters.",
            published="not run (its videos are not public)",
            default="one direction in a filter {video: one direction in a filter (0 to 1)} (random "
            "{the same, random weights})",
            verdict="does not hold",
            because="on our two clips the filters are hardly more oriented than random weights.",
        ),
        Claim(
            "fig. 5.6",
            "The inferred flow is the global motion of the patch.",
            published="not run (its videos are not public)",
            default="correlation with the best shift {video: mean arrow and best shift of moving pairs, correlation}",
            verdict="holds with luck",
            because="the correlation on test frames is moderate. The source shows a chosen pair.",
        ),
    ),
    "usps_distance": (
        Claim(
            "fig. 5.10",
            "The learned distance is far better than the Euclidean one on transformed digits.",
            published="error {error, learned distance, originals only, k = 1} (Euclidean "
            "{the same, Euclidean distance})",
            default="the same",
            because="trained with mean-field negatives; the source samples them.",
        ),
        Claim(
            "fig. 5.10",
            "Transformed digits among the training cases help the Euclidean distance, but hardly the learned distance.",
            published="{learned, originals and copies, k = 1} (Euclidean {Euclidean, originals and copies, k = 1})",
            default="the same",
        ),
    ),
    "canvas": (
        Claim(
            "figs. 5.11 to 5.13",
            "A canvas effect, learned from one pair of pictures, is applied to another picture: somewhat regular.",
            published="of what 15 Gibbs steps add, "
            "{drawn from the target alone: share of the weave in what was added} is weave (of the true effect "
            "{the same, true effect})",
            default="the transformation of the pair applied to the other picture: PSNR "
            "{camera: PSNR of the field, dB} dB (linear filter {camera: PSNR of the linear filter})",
            because="the canvas effect is made by us, so that the true result is known. The source uses some hundred "
            "steps.",
        ),
    ),
    "sine_manifield": (
        Claim(
            "fig. 6.3",
            "The biased auto-encoder beats the independent predictor.",
            "7.98 against 28.21",
            "{period 50: error, averages only} against {period 50: error, independent} (period 50)",
            "{period 50: error} (period 50)",
            because="the source does not give the period. With 12 frames its loss gives "
            "{period 12: error, averages only} against {period 12: error, independent}. Most of the gain comes from "
            "the context: without the auto-encoder the error is {period 50: error, without the auto-encoder}.",
        ),
    ),
    "super_resolution_source": (
        Claim(
            "fig. 6.4",
            "The gated auto-encoder fills in fine detail.",
            published="PSNR {source's setting: patches, PSNR (dB), gated auto-encoder} dB (bicubic "
            "{patches, PSNR (dB), bicubic})",
            default="see the next lines",
            because="it adds detail, but the error is no smaller than that of bicubic enlargement.",
        ),
        Claim(
            "figs. 6.5, 6.6",
            "The manifield produces pictures of high resolution.",
            published="PSNR {source's setting: pictures, PSNR (dB), manifield} dB (bicubic "
            "{pictures, PSNR (dB), bicubic})",
            default="see the next lines",
            verdict="does not hold",
            because="trained on raw pixels it blurs. The source gives neither the training nor the enlargement factor, "
            "and its pictures are not public.",
        ),
    ),
    "super_resolution": (
        Claim(
            "figs. 6.4 to 6.6",
            "The same by our defaults.",
            "a picture",
            "-",
            "patches {patches 8x8 to 32x32, PSNR (dB), gated auto-encoder} dB, pictures "
            "{pictures, PSNR, biased manifield, against bicubic} dB, above bicubic on "
            "{test pictures (of 20) on which the manifield's PSNR is above bicubic's} of 20",
            "no claim",
            "trained on first guesses, or on the residual of bicubic enlargement. PSNR of a linear regression of "
            "patches: {patches, PSNR, linear regression}; of the pictures without the auto-encoder: "
            "{pictures, PSNR, without the auto-encoder}.",
        ),
    ),
}
