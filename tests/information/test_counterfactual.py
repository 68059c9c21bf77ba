"""``counterfactual`` with what the rows are now: change, residual, standard deviations; ``adapt`` to a new category."""

import warnings
from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

import sidelight
from sidelight import KernelInformationEmbedding
from sidelight.base.warnings import DesignWarning

TYPES = np.array([[0.0, 0, 0, 0, 0, 0], [6, 0, 0, 0, 0, 0], [0, 6, 0, 0, 0, 0], [6, 6, 0, 0, 0, 0]])
COMMON = np.array([0.0, 0, 3, 0, 0, 0])


def effect_of(types):
    """Change of each type: common, and a part that is linear in its content."""
    return COMMON + 0.4 * TYPES[types][:, [2, 3, 4, 0, 1, 5]]


def cells(n=60, left_out=None, seed=0, noise=0.5):
    """Rows of four types under two conditions, their types and conditions; a type may be missing in the second."""
    rng = np.random.default_rng(seed)
    types, condition = np.tile(np.arange(4), 2 * n // 4), np.repeat([0, 1], 2 * n // 4 * 2)
    X = TYPES[types] + noise * rng.normal(size=(len(types), 6)) + condition[:, None] * effect_of(types)
    kept = np.ones(len(X), dtype=bool) if left_out is None else (types != left_out) | (condition == 0)
    return X[kept], types[kept], np.array(["now", "then"])[condition[kept]]


def fitted(left_out=None, **options):
    X, types, condition = cells(left_out=left_out)
    return KernelInformationEmbedding(max_iter=60, tol=1e-3, **options).fit(X, given=condition), X, types, condition


@pytest.fixture(scope="module")
def model():
    return fitted()


@pytest.mark.filterwarnings("ignore::sidelight.base.warnings.ExtrapolationWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
class TestChange:
    def test_rows_that_stay_what_they_are_stay_as_they_are(self, model):
        found, X, _, condition = model
        same = found.counterfactual(X, given=condition, given_now=condition, residual=1.0)
        np.testing.assert_allclose(same, X, atol=1e-9 * np.abs(X).max())

    def test_a_residual_of_zero_is_the_mean_of_rows_there(self, model):
        found, X, types, condition = model
        rows = np.flatnonzero(condition == "now")
        shown = found.counterfactual(X[rows], given="then", given_now="now", residual=0.0)
        wrong = shown - (TYPES[types[rows]] + effect_of(types[rows]))
        assert np.sqrt(np.mean(wrong**2)) < 0.35

    def test_that_nothing_is_kept_of_rows_is_said_unless_it_is_asked_for(self, model):
        found, X, _, condition = copy(model[0]), *model[1:]
        rows = np.flatnonzero(condition == "now")
        found.change_ = replace(found.change_, kept=0.0)
        with pytest.warns(DesignWarning, match=r"residual=auto keeps nothing of the rows.*change_\.kept is 0"):
            shown = found.counterfactual(X[rows], given="then", given_now="now")
        with warnings.catch_warnings():
            warnings.simplefilter("error", DesignWarning)
            mean = found.counterfactual(X[rows], given="then", given_now="now", residual=0.0)
            model[0].counterfactual(X[rows], given="then", given_now="now")
        np.testing.assert_array_equal(shown, mean)

    def test_made_up_rows_spread_as_real_ones(self, model):
        found, X, types, condition = model
        rows = (condition == "now") & (types == 3)
        shown = found.counterfactual(X[rows], given="then", given_now="now")
        real = X[(condition == "then") & (types == 3)]
        assert 0.8 < np.sqrt(shown.var(axis=0).sum() / real.var(axis=0).sum()) < 1.25

    def test_the_change_of_a_type_that_was_left_out_is_that_of_its_content(self):
        found, X, types, condition = fitted(left_out=3)
        rows = (types == 3) & (condition == "now")
        change = (found.counterfactual(X[rows], given="then", given_now="now") - X[rows]).mean(axis=0)
        overall = (found.corrected(X[rows], given="now", to="then") - X[rows]).mean(axis=0)
        true = effect_of(np.array([3]))[0]
        assert np.linalg.norm(change - true) < 0.7 * np.linalg.norm(overall - true)
        assert np.linalg.norm(change - true) < 0.25 * np.linalg.norm(true)

    def test_ninety_percent_intervals_hold_most_entries_of_new_rows(self, model):
        found, _, _, _ = model
        X, types, condition = cells(seed=1)
        rows = np.flatnonzero(condition == "now")
        shown, std = found.counterfactual(X[rows], given="then", given_now="now", residual=0.0, return_std=True)
        truth = X[[np.flatnonzero((condition == "then") & (types == types[row]))[row % 15] for row in rows]]
        assert 0.84 < np.mean(np.abs(shown - truth) < 1.645 * std) < 0.97

    def test_rows_of_which_now_is_missing_are_shown_as_without_it(self, model):
        found, X, _, _ = model
        mixed = found.counterfactual(X[:4], given="then", given_now=["now", None, "now", None])
        np.testing.assert_allclose(mixed[1::2], found.counterfactual(X[1:4:2], given="then"), rtol=1e-12)
        np.testing.assert_allclose(mixed[::2], found.counterfactual(X[:4:2], given="then", given_now="now"), rtol=1e-12)

    def test_one_by_one_equals_batch(self, model):
        found, X, _, condition = model
        together = found.counterfactual(X[:9], given="then", given_now=condition[:9], return_std=True)
        alone = [
            found.counterfactual(X[i : i + 1], given="then", given_now=condition[i : i + 1], return_std=True)
            for i in range(9)
        ]
        for which in (0, 1):
            one = np.concatenate([pair[which] for pair in alone])
            np.testing.assert_allclose(one, together[which], rtol=1e-12, atol=1e-12 * np.abs(X).max())

    @pytest.mark.thorough
    def test_same_bytes_with_one_and_two_threads(self):
        found = []
        for threads in (1, 2):
            with threadpool_limits(threads):
                model, X, _, condition = fitted(n_jobs=threads)
                parts = model.counterfactual(X, given="then", given_now=condition, return_std=True)
                found.append(b"".join(part.tobytes() for part in parts))
        assert found[0] == found[1]

    def test_saved_models_answer_the_same(self, model, tmp_path):
        found, X, _, condition = model
        sidelight.save(found, tmp_path / "m.sidelight")
        again = sidelight.load(tmp_path / "m.sidelight")
        asked = {"given": "then", "given_now": condition, "return_std": True}
        for one, other in zip(found.counterfactual(X, **asked), again.counterfactual(X, **asked), strict=True):
            assert one.tobytes() == other.tobytes()

    def test_objects_that_look_unlike_lend_nothing_of_themselves(self):
        rng = np.random.default_rng(0)
        turn, group = np.tile(np.linspace(0, 2 * np.pi, 60, endpoint=False), 2), np.repeat([0, 1], 60)
        waves = np.column_stack([np.cos(k * turn) for k in range(1, 7)] + [np.sin(k * turn) for k in range(1, 7)])
        own = [np.kron(np.eye(2)[g], rng.normal(size=(12, 10))) for g in (0, 1)]
        X = np.stack([wave @ own[g] for wave, g in zip(waves, group, strict=True)])
        found = KernelInformationEmbedding(max_iter=60, tol=1e-3).fit(X, given=group)
        assert found.change_.kept < 0.5

    def test_many_rows_are_answered_from_a_sample_of_them(self, model, monkeypatch):
        monkeypatch.setattr("sidelight.information._change._ROWS", 80)
        found, X, types, condition = fitted()
        assert found.change_.content.shape[0] == found.change_.local.shape[0] == len(X)
        rows = (condition == "now") & (types == 3)
        one, other = (m.counterfactual(X[rows], given="then", given_now="now") for m in (found, model[0]))
        assert np.linalg.norm(one.mean(axis=0) - other.mean(axis=0)) < 0.2 * np.linalg.norm(
            effect_of(types[:1] * 0 + 3)
        )

    def test_sparse_rows_keep_what_the_basis_does_not_hold(self):
        from scipy.sparse import csr_array

        rng = np.random.default_rng(0)
        counts = rng.poisson(0.5, size=(80, 120)).astype(float)
        group = np.repeat(["a", "b"], 40)
        counts[group == "b", :10] += 2.0
        found = KernelInformationEmbedding(max_iter=20, tol=1e-2).fit(csr_array(counts), given=group)
        same = found.counterfactual(csr_array(counts), given=group, given_now=group, residual=1.0)
        np.testing.assert_allclose(same, counts, atol=1e-9)

    @pytest.mark.parametrize("kind", ["number", "product"])
    def test_numbers_and_the_product_of_kernels_have_it_too(self, kind):
        X, types, condition = cells(n=40)
        given = condition if kind == "product" else (condition == "then") + 0.1 * types
        conditioning = "product" if kind == "product" else "auto"
        found = KernelInformationEmbedding(max_iter=20, tol=1e-2, conditioning=conditioning).fit(X, given=given)
        rows, std = found.counterfactual(X, given=given[-1], given_now=given, return_std=True)
        assert np.isfinite(rows).all()
        assert (std > 0).all()

    @pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
    def test_chosen_columns_are_those_of_the_whole(self, form):
        X, _, condition = cells(n=40)
        found = KernelInformationEmbedding(max_iter=10, tol=1e-1).fit(form(X), given=condition)
        asked = {"given": "then", "given_now": condition, "residual": 0.5, "return_std": True}
        whole, some = found.counterfactual(form(X), **asked), found.counterfactual(form(X), columns=[4, 1], **asked)
        for one, part in zip(whole, some, strict=True):
            np.testing.assert_allclose(part, one[:, [4, 1]], rtol=1e-12, atol=1e-12)
        with pytest.raises(ValueError, match="columns=9 is outside the 6 columns"):
            found.counterfactual(form(X), given="then", columns=9)

    @pytest.mark.parametrize(
        ("asked", "sentence"),
        [
            ({"residual": 0.5}, "residual=0.5 needs the current values of the rows"),
            ({"residual": 2.0, "given_now": "now"}, "residual=2.0 is not a share"),
            ({"residual": "some", "given_now": "now"}, "residual=some is not a share"),
            ({"residual": "row"}, "residual=row needs the current values of the rows"),
            ({"residual": "row", "given_now": "now", "return_std": True}, "residual=row has no standard deviations"),
            ({"given_now": "never"}, "never"),
        ],
    )
    def test_wrong_arguments_get_a_sentence(self, model, asked, sentence):
        with pytest.raises(ValueError, match=sentence):
            model[0].counterfactual(model[1], given="then", **asked)

    def test_a_row_that_is_kept_changes_in_what_the_new_category_has(self):
        rng = np.random.default_rng(0)
        kind = np.tile(np.arange(4), 30)
        faces = rng.normal(size=(4, 150))[kind] + 0.3 * rng.normal(size=(120, 10)) @ rng.normal(size=(10, 150))
        worn = np.repeat(["bare", "worn"], 60)
        pattern = 3.0 * rng.normal(size=(120, 20)) * (worn == "worn")[:, None]  # each wearer's own
        X = faces + np.pad(pattern + 2.0 * (worn == "worn")[:, None], ((0, 0), (130, 0)))
        found = KernelInformationEmbedding(max_iter=20, tol=1e-2).fit(X, given=worn)
        shown = found.counterfactual(X[:60], given="worn", given_now="bare", residual="row")
        change = np.sqrt(np.mean((shown - X[:60]) ** 2, axis=0))
        assert change[:130].mean() < 0.15 * change[130:].mean()
        assert np.allclose(change[130:].mean(), np.sqrt(np.mean(X[60:, 130:] ** 2)), rtol=0.3)
        one = found.counterfactual(X[7:8], given="worn", given_now="bare", residual="row")
        np.testing.assert_allclose(one[0], shown[7], rtol=1e-9, atol=1e-9)
        same = found.counterfactual(X[:3], given="bare", given_now="bare", residual="row")
        np.testing.assert_allclose(same, X[:3], atol=1e-9)

    def test_a_row_is_kept_for_categories_only(self):
        X, types, _ = cells(n=40)
        found = KernelInformationEmbedding(max_iter=5, tol=1e-1).fit(X, given=types + 0.5)
        with pytest.raises(ValueError, match="residual=row compares categories"):
            found.counterfactual(X, given=1.0, given_now=types + 0.5, residual="row")

    def test_models_of_an_older_version_say_that_they_have_no_change(self, model):
        from copy import copy

        old = copy(model[0])
        old.change_ = None
        assert old.counterfactual(model[1][:2], given="then").shape == (2, 6)
        with pytest.raises(ValueError, match="needs the change model, which models saved by an older version lack"):
            old.counterfactual(model[1][:2], given="then", given_now="now")


@pytest.mark.filterwarnings("ignore::sidelight.base.warnings.ExtrapolationWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
class TestAdapt:
    OFFSET = np.array([0.0, 0, -3, 2, 0, 1])

    def new_rows(self, types):
        return TYPES[types] + 0.5 * np.random.default_rng(5).normal(size=(len(types), 6)) + self.OFFSET

    @pytest.mark.parametrize("types", [[0, 1, 2, 3] * 3, [1] * 8])
    def test_the_offset_of_a_new_category_is_found_from_a_few_rows(self, model, types):
        found, X, _, _ = model
        wider = found.adapt(self.new_rows(np.array(types)), given="later")
        moved = wider.corrected(self.new_rows(np.array(types)), given="later", to="now").mean(axis=0)
        assert np.linalg.norm(moved - TYPES[types].mean(axis=0)) < 1.2  # the offset is 3.7 long
        assert "later" not in found.given_.columns[0].categories
        np.testing.assert_array_equal(wider.embedding_, found.embedding_)
        np.testing.assert_allclose(wider.transform(X[:5], given="now"), found.transform(X[:5], given="now"), rtol=1e-12)
        assert wider.adapted_[0].startswith(f"given = 'later': its offset is from {len(types)} rows")

    def test_it_has_every_method_and_is_saved(self, model, tmp_path):
        found, X, _, _ = model
        new = self.new_rows(np.arange(4))
        wider = found.adapt(new, given="later").adapt(new - 1.0, given="last")
        rows, std = wider.counterfactual(X[:3], given="later", given_now="now", return_std=True)
        assert np.isfinite(std).all()
        sidelight.save(wider, tmp_path / "m.sidelight")
        again = sidelight.load(tmp_path / "m.sidelight")
        assert again.adapted_ == wider.adapted_
        assert again.counterfactual(X[:3], given="later", given_now="now").tobytes() == rows.tobytes()
        assert again.inverse_transform(again.embedding_[:3], given="last").shape == (3, 6)
        wider.fit(X[:40], given=np.repeat(["a", "b"], 20))
        assert not hasattr(wider, "adapted_")

    @pytest.mark.parametrize(
        ("value", "sentence"), [("now", "given=now was in the fit"), (3, "is not of the type"), (None, "not one cat")]
    )
    def test_what_cannot_be_added_gets_a_sentence(self, model, value, sentence):
        with pytest.raises(ValueError, match=sentence):
            model[0].adapt(model[1][:3], given=value)

    def test_rows_that_a_category_was_added_with_say_what_is_usual_in_it(self, model):
        """The category has no rows in the fit; its overlap was 0 everywhere."""
        found, X, _, _ = model
        types = np.arange(24) % 2  # types 2 and 3 were not seen in it
        wider = found.adapt(self.new_rows(types), given="later")
        usual = wider.overlap(X[:48], given="later")
        known = np.isin(np.arange(48) % 4, [0, 1])
        assert np.median(usual[known]) > 0.1
        assert np.median(usual[~known]) < 0.01
        np.testing.assert_array_equal(wider.overlap(X[:9], given="then"), found.overlap(X[:9], given="then"))
        again = wider.adapt(X[:5] - 1.0, given="last")
        np.testing.assert_array_equal(again.overlap(X[:48], given="later"), usual)
        assert np.isnan(again.overlap(X[:2], given="last")).all()  # fewer than ten rows

    def test_kinds_of_given_that_have_no_new_category_get_a_sentence(self):
        X, types, condition = cells(n=40)
        fit = KernelInformationEmbedding(max_iter=10, tol=1e-1).fit
        with pytest.raises(
            ValueError, match="'given' cannot be adapted: it is a number, and only categories can be added"
        ):
            fit(X, given=(condition == "then") + 0.1 * types).adapt(X[:3], given=0.7)


@pytest.fixture(scope="module")
def crossed():
    """Rows of four types in two batches and two conditions, one of the four combinations in few rows."""
    rng, n = np.random.default_rng(4), 144
    types, batch = np.arange(n) % 4, np.repeat(["a", "b"], n // 2)
    condition = np.where(rng.random(n) < np.where(batch == "a", 0.5, 0.2), "then", "now")
    X = TYPES[types] + 0.4 * rng.normal(size=(n, 6)) + (batch == "b")[:, None] * COMMON
    X += (condition == "then")[:, None] * TestAdaptWithColumns.STIMULUS
    given = {"batch": batch, "condition": condition}
    return KernelInformationEmbedding(max_iter=40, tol=1e-2).fit(X, given=given), X, given


@pytest.mark.filterwarnings("ignore::sidelight.base.warnings.ExtrapolationWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
class TestAdaptWithColumns:
    STIMULUS, OFFSET = np.array([0.0, 0, 0, 2, -2, 0]), np.array([0.0, 0, -3, 2, 0, 1])

    def test_the_offset_holds_with_every_value_of_the_other_columns(self, crossed, tmp_path):
        """The new batch was seen in one condition; what it looks like in the other is the sum of both effects."""
        found, X, given = crossed
        new = TYPES[np.arange(16) % 4] + 0.4 * np.random.default_rng(6).normal(size=(16, 6)) + self.OFFSET
        wider = found.adapt(new, given={"batch": "c", "condition": "now"})
        assert wider.adapted_[0].startswith(
            "batch = 'c': its offset is from 16 rows, the same with every value of 'condition'; its spread"
        )
        same = {"batch": "a", "condition": "now"}
        moved = wider.corrected(new, given={"batch": "c", "condition": "now"}, to=same)
        assert np.linalg.norm((moved - TYPES[np.arange(16) % 4]).mean(axis=0)) < 0.8  # the offset is 3.7 long
        there = wider.corrected(
            new + self.STIMULUS, given={"batch": "c", "condition": "then"}, to=same
        )  # no row of the new batch was seen in it
        assert np.linalg.norm((there - TYPES[np.arange(16) % 4]).mean(axis=0)) < 0.9
        shown = wider.counterfactual(X[:8], given={"batch": "c", "condition": "then"}, given_now=_first(given, 8))
        assert np.abs(shown - TYPES[np.arange(8) % 4] - self.OFFSET - self.STIMULUS).mean() < 0.8
        np.testing.assert_allclose(wider.transform(X, given=given), found.transform(X, given=given), rtol=1e-12)
        sidelight.save(wider, tmp_path / "m.sidelight")
        again = sidelight.load(tmp_path / "m.sidelight").adapt(new[:4], given={"batch": "a", "condition": "last"})
        np.testing.assert_array_equal(again.corrected(new, given={"batch": "c", "condition": "now"}, to=same), moved)
        assert "the same with every value of 'batch'" in again.adapted_[1]

    @pytest.mark.parametrize(
        ("given", "sentence"),
        [
            ({"batch": "a", "condition": "now"}, "given='batch', 'condition' were all in the fit"),
            ({"batch": "c", "condition": "last"}, "given='batch', 'condition' are all new, so that their effects"),
            ({"batch": ["c", "d", "c"], "condition": "now"}, "given=2 categories of 'batch' is not one category"),
        ],
    )
    def test_what_cannot_be_added_gets_a_sentence(self, crossed, given, sentence):
        with pytest.raises(ValueError, match=sentence):
            crossed[0].adapt(crossed[1][:3], given=given)


@pytest.fixture(scope="module")
def numbered():
    """The columns of ``given`` in an order in which the feature of a new category is in the middle."""
    A, B = TestAdaptWithNumbers.rows(60, np.zeros(6), 1), TestAdaptWithNumbers.rows(60, COMMON, 2)
    X, number = np.concatenate([A[0], B[0]]), np.concatenate([A[2], B[2]])
    given = {"batch": np.repeat(["a", "b"], 60), "score": number}
    return KernelInformationEmbedding(max_iter=40, tol=1e-2).fit(X, given=given), X, given


@pytest.mark.filterwarnings("ignore::sidelight.base.warnings.ExtrapolationWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
class TestAdaptWithNumbers:
    SLOPE, OFFSET = np.array([0.0, 0, 0, 1, 2, 0]), np.array([0.0, 0, -3, 2, 0, 1])

    @classmethod
    def rows(cls, n, offset, seed):
        """Rows of four types with an offset and the effect of a number."""
        rng = np.random.default_rng(seed)
        types, number = np.arange(n) % 4, rng.normal(size=n)
        X = TYPES[types] + 0.5 * rng.normal(size=(n, 6)) + offset + number[:, None] * cls.SLOPE
        return X, types, number

    def test_the_offset_is_that_of_rows_less_the_effect_of_their_numbers(self, numbered, tmp_path):
        found, X, given = numbered
        new, types, number = self.rows(16, self.OFFSET, 3)
        wider = found.adapt(new, given={"batch": "c", "score": number})
        own, goal = {"batch": "c", "score": number}, {"batch": "a", "score": 0.0}
        moved = wider.corrected(new, given=own, to=goal)
        assert np.linalg.norm((moved - TYPES[types]).mean(axis=0)) < 0.8  # the offset is 3.7 long
        np.testing.assert_allclose(wider.transform(X, given=given), found.transform(X, given=given), rtol=1e-12)
        shown = wider.counterfactual(X[:8], given={"batch": "c", "score": 0.0}, given_now=_first(given, 8))
        assert np.abs(shown - TYPES[np.arange(8) % 4] - self.OFFSET).mean() < 0.8
        sidelight.save(wider, tmp_path / "m.sidelight")
        again = sidelight.load(tmp_path / "m.sidelight").adapt(new[:3], given={"batch": "d", "score": number[:3]})
        np.testing.assert_array_equal(again.corrected(new, given=own, to=goal), moved)

    @pytest.mark.parametrize(
        ("given", "sentence"),
        [
            ("c", "given=c is one value, and the model was given 2 columns"),
            (None, "given=NoneType is not one category. Give batch, score by name"),
            ({"batch": ["c", "d", "c"], "score": 0.0}, "given=2 categories of 'batch' is not one category"),
            ({"batch": "b", "score": 0.0}, "given=b was in the fit"),
            ({"batch": "c", "score": [0.0, np.nan, 1.0]}, "given=a missing entry does not say which effect"),
        ],
    )
    def test_what_cannot_be_added_gets_a_sentence(self, numbered, given, sentence):
        with pytest.raises(ValueError, match=sentence):
            numbered[0].adapt(numbered[1][:3], given=given)


def _first(given, n):
    return {name: entries[:n] for name, entries in given.items()}
