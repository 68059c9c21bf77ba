"""Text tables of every dialect: what is a number is one, and nothing else is changed."""

import numpy as np
import pandas as pd
import pytest

from sidelight.cli._output import CommandError
from sidelight.cli._read import read_frame, read_table


def written(folder, content, name="a.csv", encoding="utf-8"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return path


def table(folder, content, **options):
    return read_table(written(folder, content, **options))


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_the_delimiter_is_found_though_entries_hold_others(mark, here):
    found = table(here, f'name{mark}size\n"a, b; c\td | e"{mark}1.5\nf{mark}2\n')
    assert found.frame["name"].tolist() == ["a, b; c\td | e", "f"]
    assert found.frame["size"].tolist() == [1.5, 2]


@pytest.mark.parametrize("mark", [";", "\t", "|"])
@pytest.mark.parametrize("heading", [True, False])
def test_decimal_commas_do_not_separate_columns(mark, heading, here):
    first = mark.join("abc") + "\n" if heading else ""
    found = table(here, first + f"1,5{mark}2,5{mark}1\n3,25{mark}1.234,5{mark}2\n").frame
    assert found.iloc[1].tolist() == ["3,25", "1.234,5", 2]
    assert len(found) == 2


def test_one_decimal_comma_in_each_line_does_not_separate_columns(here):
    assert list(table(here, "a|b\n1,5|2\n2,5|3\n").frame.columns) == ["a", "b"]


def test_points_for_thousands_stay_text_beside_decimal_commas_and_only_there(here):
    found = table(here, "a;b\n1,5;1.234\n2,5;999\n").frame
    assert found["b"].tolist() == ["1.234", "999"]
    assert table(here, "a;b\n1.5;1.234\n2.5;999\n").frame["b"].tolist() == [1.234, 999]


def test_codes_with_zeros_in_front_stay_text(here):
    found = table(here, "code,time,number,count\n007,08:15,00.5,10\n100,09:00,0.25,0\n").frame
    assert found["code"].tolist() == ["007", "100"]
    assert found["number"].tolist() == [0.5, 0.25]
    assert found["count"].tolist() == [10, 0]


def test_long_codes_keep_every_digit(here):
    found = table(here, "code,x\n12345678901234567890123,1\n1,2\n").frame
    assert found["code"].astype(str).tolist() == ["12345678901234567890123", "1"]
    gaps = table(here, "code,x\n12345678901234567890123,1\n,2\n7,3\n").frame
    assert gaps["code"].dropna().astype(str).tolist() == ["12345678901234567890123", "7"]
    assert table(here, "size,x\n1e30,1\n2,2\n").frame["size"].tolist() == [1e30, 2]


def test_numbers_are_exact(here):
    values = np.random.default_rng(0).normal(size=200) * 10.0 ** np.arange(-100, 100)
    pd.DataFrame({"a": values}).to_csv(here / "a.csv")
    np.testing.assert_array_equal(read_frame(here / "a.csv")["a"], values)


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ("utf-8", "UTF-8"), ("utf-8-sig", "UTF-8"), ("utf-16", "UTF-16"), ("utf-16-le", "UTF-16"),
        ("utf-16-be", "UTF-16"), ("cp1252", "Windows-1252"), ("latin-1", "Windows-1252"),
    ],
)  # fmt: skip
def test_every_usual_encoding_is_recognised(encoding, said, here):
    found = table(here, "straße;größe\nMünchen;1,5\nKöln;2,5\n", encoding=encoding)
    assert list(found.frame.columns) == ["straße", "größe"]
    assert found.frame["straße"].tolist() == ["München", "Köln"]
    assert found.kind == f"CSV separated by semicolons, {said}"
    assert any("not UTF-8" in remark for remark in found.remarks) == (said == "Windows-1252")


def test_bytes_that_windows_does_not_know_are_latin_1(here):
    assert table(here, b"a,b\n\x81,1\n").kind == "CSV separated by commas, Latin-1"


def test_comment_lines_are_left_out_and_lines_keep_their_numbers(here):
    found = table(here, "# made by hand\n# in May\na,b\n1,2\n# a break\n3,4\n")
    assert found.frame["a"].tolist() == [1, 3]
    assert found.remarks == ("3 comment lines are left out.",)
    with pytest.raises(CommandError, match="line 5 has 3 entries"):
        table(here, "# made by hand\na,b\n1,2\n# a break\n3,4,5\n")


@pytest.mark.parametrize("row", ["1,2,3", "chr1,2,3"])
def test_a_comment_with_the_names_of_the_columns_is_the_heading(row, here):
    found = table(here, f"# notes\n#chrom, start, end\n{row}\n{row}\n").frame
    assert list(found.columns) == ["chrom", "start", "end"]
    assert len(found) == 2


def test_a_colour_is_no_comment(here):
    assert table(here, "colour,x\n#ff0000,1\n#00ff00,2\n").frame["colour"].tolist() == ["#ff0000", "#00ff00"]


def test_excels_separator_line_is_obeyed(here):
    found = table(here, "sep=;\na;b\n1,5;2\n2,5;3\n").frame
    assert list(found.columns) == ["a", "b"]
    assert len(found) == 2


def test_names_of_rows_without_a_heading_become_a_column(here):
    found = table(here, '"mpg","cyl"\n"Mazda, red",21,6\n"Fiat",32.4,4\n').frame
    assert list(found.columns) == ["rownames", "mpg", "cyl"]
    assert found["mpg"].tolist() == [21, 32.4]


@pytest.mark.parametrize("heading", ["a;b", "a;b;"])
def test_a_delimiter_at_the_end_of_each_line_makes_no_column(heading, here):
    found = table(here, f"{heading}\n1;2;\n3;4;\n")
    assert list(found.frame.columns) == ["a", "b"]
    assert found.frame["a"].tolist() == [1, 3]
    assert found.remarks == ()


def test_single_quotation_marks_are_recognised(here):
    found = table(here, "'a','b'\n'x, y',1\n'z',2\n").frame
    assert list(found.columns) == ["a", "b"]
    assert found["a"].tolist() == ["x, y", "z"]


def test_columns_between_spaces_are_read_from_plain_text_files(here):
    found = table(here, "a   b\n1.5  2\n3    4\n", name="a.txt")
    assert found.frame["b"].tolist() == [2, 4]
    assert found.kind == "text separated by spaces, UTF-8"


def test_one_column_is_a_table_and_its_words_stay_together(here):
    assert table(here, "name\nred rose\nlily\n").frame["name"].tolist() == ["red rose", "lily"]


def test_names_that_occur_twice_or_not_at_all_are_numbered(here):
    assert list(table(here, ",a,a\n1,2,3\n").frame.columns) == ["Unnamed: 0", "a", "a.1"]


def test_an_empty_first_name_between_tabs_is_kept(here):
    assert list(table(here, "\ta\nx\t1\ny\t2\n", name="a.tsv").frame.columns) == ["Unnamed: 0", "a"]


def test_old_line_ends_are_read(here):
    assert table(here, "a,b\r1,2\r3,4\r").frame["b"].tolist() == [2, 4]


def test_a_short_line_is_said_and_its_entries_are_missing(here):
    found = table(here, "a,b,c\n1,2,3\n4,5\n")
    assert found.remarks == ("Line 3 has fewer entries than there are columns; the rest of it is missing.",)
    assert np.isnan(found.frame["c"][1])
    two = table(here, "a,b,c\n1\n4,5\n1,2,3\n").remarks
    assert two == (
        "2 lines (the first is line 2) have fewer entries than there are columns; the rest of them is missing.",
    )


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"\n\n", "its first line is empty, and so are all others"),
        (
            b"a,b\n1,2\n1,2,3,4\n",
            "line 3 has 4 entries, and the table has 2 columns; put entries that hold the separator",
        ),
        (b"a,b\n1,2,3,4\n1,2,3,4\n", "line 2 has 4 entries, and the table has 2 columns"),
        (b'a,b\n"x\ny",2\n3,4,5\n', "line 4 has 3 entries"),
        (b'a,b\n1,"2\n3,4\n', r'a quotation mark \("\) is opened and never closed'),
        (b"a,b\n\0\0\0\0\0\0,1\n", "it holds zero bytes, so it is not text"),
        (
            "a,b\n1,2\n".encode("utf-16")[:-1],
            "it begins as UTF-16 text and goes on as something else; save it as UTF-8",
        ),
        (b"\xef\xbb\xbfa,b\n\xff,1\n", "it begins as UTF-8 text and goes on as something else; save it as UTF-8"),
    ],
)
def test_broken_text_gets_one_sentence(content, sentence, here):
    with pytest.raises(CommandError, match=rf"a\.csv: not a readable CSV file \({sentence}"):
        table(here, content)


def test_none_is_a_level_among_words_and_missing_beside_numbers_and_truth_values(here):
    lines = ["bags,n,t", "None,None,None", "Driver,2.5,True", "Both,1e3,False", "None,,True", ",4,true"]
    frame = table(here, "\n".join(lines)).frame
    assert frame["bags"].tolist()[:4] == ["None", "Driver", "Both", "None"]
    assert frame["bags"].isna().tolist() == [False, False, False, False, True]
    np.testing.assert_array_equal(frame["n"], [np.nan, 2.5, 1000, np.nan, 4])
    assert frame["t"].isna().tolist() == [True, False, False, False, False]
    assert frame["t"].tolist()[1:] == [True, False, True, True]
    words = table(here, "w,x\nNone,1\nNone,2\n").frame
    assert words["w"].tolist() == ["None", "None"]


def test_the_usual_texts_for_nothing_are_missing(here):
    frame = table(here, "a,b\nNA,1\nx,n/a\n#N/A,2\nnull,NaN\ny,3\n").frame
    assert frame["a"].isna().tolist() == [True, False, True, True, False]
    np.testing.assert_array_equal(frame["b"], [1, np.nan, 2, np.nan, 3])
