"""A name that is nearly right is answered with the one that was meant."""

import pytest


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["embd", "flowers.csv"], "embed"),
        (["embed", "flowers.csv", "--colr", "kind"], "--colour"),
        (["transform", "m", "flowers.csv", "--out", "z.csv", "--mising", "drop"], "--missing"),
    ],
)
@pytest.mark.parametrize("json", [False, True])
def test_commands_and_options(arguments, meant, json, run, table):
    done = run(*arguments, *(["--json"] if json else []))
    assert done.code == 2
    assert meant in (done.answer["error"] if json else done.err)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["embed", "flowers.csv", "--method", "tnse"], "did you mean tsne?"),
        (["embed", "flowers.csv", "--set", "perplexty=5"], "did you mean perplexity?"),
        (["embed", "flowers.csv", "--colour", "knid"], "did you mean kind?"),
        (["embed", "flowers.csv", "--given", "knid"], "did you mean kind?"),
        (["embed", "flower.csv"], "did you mean flowers.csv?"),
    ],
)
def test_methods_settings_columns_and_files(arguments, sentence, run, table):
    done = run(*arguments)
    assert done.code == 1
    assert sentence in done.err
    assert done.err.count("\n") == 1
