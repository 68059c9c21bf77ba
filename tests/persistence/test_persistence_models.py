"""The library's own models return from their files with the same answers, to the bit."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.manifold import Isomap

from sidelight import KernelInformationEmbedding, TwoWayEmbedding, load, save

X = np.random.default_rng(1).normal(size=(60, 4))
QUICK = {"max_iter": 20, "perplexity": 8.0, "random_state": 0}

MODELS = {
    "default": (KernelInformationEmbedding(**QUICK), X),
    "float32": (KernelInformationEmbedding(**QUICK), X.astype(np.float32)),
    "cosine": (KernelInformationEmbedding(metric="cosine", **QUICK), X),
    "one bandwidth": (KernelInformationEmbedding(bandwidth="loo", latent_kernel="student", **QUICK), X),
    "array as start": (KernelInformationEmbedding(init=X[:, :2] / 10, **QUICK), X),
    "two-way": (TwoWayEmbedding(Isomap(n_neighbors=8)), X),
    "two-way, nothing said": (TwoWayEmbedding(), X),
}
ANSWERS = ("transform", "denoise", "score_samples")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_gives_the_same_answers_to_the_bit(name, file):
    """Bytes may be compared: a file or a pickle holds the arrays themselves, and the same calls follow."""
    prototype, rows = MODELS[name]
    model = clone(prototype).fit(rows)
    save(model, file)
    back = load(file)
    Z = model.embedding_
    for answer in ANSWERS:
        assert getattr(back, answer)(rows).tobytes() == getattr(model, answer)(rows).tobytes(), answer
    for answer in ("inverse_transform", "predictive_variance", "latent_log_density"):
        assert getattr(back, answer)(Z).tobytes() == getattr(model, answer)(Z).tobytes(), answer
    assert back.embedding_.dtype == Z.dtype
    assert back.sample(5, random_state=3).tobytes() == model.sample(5, random_state=3).tobytes()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_parameters_history_and_names_are_kept_and_callback_and_seconds_are_not(file):
    model = KernelInformationEmbedding(callback=lambda state: False, **QUICK)
    model.set_output(transform="pandas").fit(pd.DataFrame(X, columns=list("abcd")))
    save(model, file)
    back = load(file)
    assert back.get_params() == {**model.get_params(), "callback": None}
    assert model.history_[0].keys() - back.history_[0].keys() == {"seconds"}
    assert back.history_ == [{k: v for k, v in record.items() if k != "seconds"} for record in model.history_]
    assert back.feature_names_in_.tolist() == list("abcd")
    assert isinstance(back.transform(pd.DataFrame(X, columns=list("abcd"))), pd.DataFrame)


def test_a_foreign_estimator_is_described_and_its_state_left_out(file):
    save(TwoWayEmbedding(Isomap(n_neighbors=8)).fit(X), file)
    back = load(file)
    assert not hasattr(back, "estimator_")
    assert "Isomap(n_neighbors=8)" in back.estimator_description_
    assert b"nbrs_" not in file.read_bytes()
