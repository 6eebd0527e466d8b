"""Numbers of the pages against stored results: what is held, what is told, and what is written anew."""

import importlib
import sys

import pytest

from onedial.core.command_line import run_command


@pytest.fixture
def check(tmp_path, monkeypatch, capsys):
    """Check a page, given what its numbers repeat; the stored files stand beside both."""
    script = importlib.import_module("check_numbers")
    monkeypatch.setattr(sys.modules["stored_values"], "REFERENCE", tmp_path)
    (tmp_path / "r.json").write_text('{"signal": {"value": 0.1514, "share": 0.29}, "n": 1200, "loss": -0.5}')
    (tmp_path / "r.csv").write_text("who,kind,rate,low,high\nann,a,.254,.1,.4\nbob,b,.5,.3,.7\neve,b,,,\n")
    (tmp_path / "rule.py").write_text("raise RuntimeError\nLEVEL: float = 0.05\nFEW, MANY = 5, 40 + 1\n")

    def run(text, numbers, *arguments):
        page = tmp_path / "page.md"
        page.write_text(text)
        (tmp_path / "page.yaml").write_text(numbers)
        monkeypatch.setattr(sys, "argv", list(map(str, ["check", page, "--numbers", tmp_path, *arguments])))
        return run_command(script.main), *capsys.readouterr()

    return run


KAPPA = "- phrase: mean kappa is {}\n  is: r.json signal.value\n"


@pytest.mark.parametrize(
    ("text", "numbers", "wrong"),
    [
        ("The mean\n  kappa is .15 (all)", KAPPA, ""),
        ("The **mean kappa** is `.15`", KAPPA, ""),
        ("The [mean kappa](method.md#s) is .151", KAPPA, ""),
        ("The mean kappa is .16", KAPPA, ".16 is said, but r.json holds 0.1514"),
        ("The mean kappa is .15.2", KAPPA, "no sentences say"),
        ("The mean kappas .15", KAPPA, "no sentences say"),
        ("The mean kappa is .15, the mean kappa is .15", KAPPA, "2 sentences say"),
        ("29% of 1,200", "- phrase: '{}% of {}'\n  is: [r.json signal.share, r.json n]\n", ""),
        ("\u2212.5 lost", "- phrase: '{} lost'\n  is: r.json loss\n", ""),
        ("from 1 to 2 to 2", "- phrase: '{} to {}'\n  is: [r.json n, r.json n]\n", "2 sentences say"),
        ("At 5%, from 6 on.", "- phrase: At {}%, from {} on\n  is: [rule.py LEVEL, rule.py FEW]\n", "6 is said"),
        ("ann has .25", "- phrase: ann has {}\n  is: r.csv who=ann rate\n", ""),
        ("of 2 b", "- phrase: of {} b\n  is: r.csv kind=b count\n", ""),
        ("at most .7", "- phrase: at most {}\n  is: r.csv rate>0 max(high)\n", ""),
    ],
)
def test_a_number_in_a_sentence_is_the_stored_one_in_its_digits(check, text, numbers, wrong):
    code, out, _ = check(text, numbers)
    assert code == bool(wrong)
    assert wrong in out


TABLE = """- table: rates
  of: r.csv
  columns: {who: "{row}", "rate [95%]": "{rate:.2f} [{low:.0%}, {high:.1f}]"}
"""
WRITTEN = "\n| who | rate [95%] |\n| --- | --- |\n| ann | .25 [10%, .4] |\n| bob | .50 [30%, .7] |\n| eve |  |\n\n"


def test_a_table_is_written_from_its_result_and_held_to_it(check, tmp_path):
    page = "Said.\n\n<!-- rates -->\n{}<!-- end -->\n\nMore.\n"
    code, out, _ = check(page.format("| old |\n"), TABLE)
    assert code == 1
    assert "the table 'rates' is not that of its result" in out
    assert check(page.format(""), TABLE, "--write")[0] == 0
    assert (tmp_path / "page.md").read_text() == page.format(WRITTEN)
    assert check(page.format(WRITTEN), TABLE)[0] == 0
    assert "does not stand there once" in check("Said.\n", TABLE)[1]


@pytest.mark.parametrize(
    ("entry", "rows"),
    [
        ("of: r.csv\n  where: kind == 'b'\n  columns: {who: '{who}'}", ["bob", "eve"]),
        ("of: r.csv\n  rows: {bob: Bob, ann: Ann}\n  columns: {who: '{row}'}", ["Bob", "Ann"]),
        ("of: r.csv\n  by: kind\n  rows: [b]\n  columns: {who: '{who}'}", ["bob", "eve"]),
        ("of: {one: r.json}\n  columns: {who: '{row} {signal.value:+.2f} {loss:.1f}'}", ["one +.15 \u2212.5"]),
    ],
)
def test_rows_are_chosen_ordered_and_named(check, tmp_path, entry, rows):
    assert check("<!-- t -->\n<!-- end -->", f"- table: t\n  {entry}\n", "--write")[0] == 0
    assert (tmp_path / "page.md").read_text().splitlines()[4:-2] == [f"| {row} |" for row in rows]


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ("- phrase: a {}\n  is: [r.json n\n", "page.yaml cannot be read"),
        ("phrase: a {}\n", "page.yaml cannot be read"),
        ("- phrase: a {}\n  from: r.json n\n", "page.yaml cannot be read"),
        ("- phrase: a {} b {}\n  is: r.json n\n", "1 values for the places of 'a {} b {}'"),
        ("- phrase: a {}\n  is: nowhere.json n\n", "there is no stored result nowhere.json"),
        ("- phrase: a {}\n  is: rule.py MANY\n", "has no 'MANY'"),
        ("- phrase: a {}\n  is: r.csv kind=b rate\n", "has 2 rows with kind=b; it takes exactly one"),
        ("- table: t\n  of: r.csv\n  rows: [zoe]\n  columns: {a: '{row}'}\n", "r.csv has no row 'zoe'"),
        ("- table: t\n  of: r.csv\n  columns: {a: '{nobody}'}\n", "r.csv has no column 'nobody'"),
    ],
)
def test_what_names_nothing_is_refused_with_a_sentence(check, numbers, said):
    code, _, err = check("a 1\n<!-- t -->\n<!-- end -->", numbers)
    assert code == 2
    assert said in err


def test_a_file_of_numbers_without_a_page_is_told(tmp_path):
    script = importlib.import_module("check_numbers")
    (tmp_path / "gone.yaml").touch()
    (tmp_path / "README.yaml").touch()
    assert script.without_page(tmp_path, [script.ROOT / "README.md"]) == ["gone.yaml belongs to no page"]
