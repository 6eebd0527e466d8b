"""Numbers of the pages against stored results: what is held, what is told, and what is written anew."""

import importlib
import sys
from pathlib import Path

import pytest
from tiny_experiment import ROOT

from onedial.core.command_line import run_command


@pytest.fixture(scope="module")
def script():
    return importlib.import_module("check_numbers")


@pytest.fixture
def check(script, tmp_path, monkeypatch, capsys):
    """Check a page, given what its numbers repeat; the stored files stand beside both."""
    monkeypatch.setattr(sys.modules["stored_values"], "REFERENCE", tmp_path)

    def run(text, numbers, *arguments):
        page = tmp_path / "page.md"
        page.write_text(text)
        (tmp_path / "page.yaml").write_text(numbers)
        monkeypatch.setattr(sys, "argv", list(map(str, ["check", page, "--numbers", tmp_path, *arguments])))
        return run_command(script.main), *capsys.readouterr()

    return run


@pytest.fixture
def store(tmp_path):
    def write(name, text):
        (tmp_path / name).write_text(text)

    return write


def test_a_number_that_is_not_that_of_its_result_is_told(check, store):
    store("r.json", '{"signal": {"estimate": 0.1514, "share": 0.29}}')
    numbers = (
        "- phrase: kappa {} of {}%\n  is: [r.json signal.estimate, r.json signal.share]\n"
        "- phrase: and {} later\n  is: r.json signal.estimate\n"
    )
    code, out, _ = check("Kappa: kappa .15 of 29%,\nand .16 later", numbers)
    assert code == 1
    assert "page.md, line 2: .16 is said, but r.json holds 0.1514 for signal.estimate" in out
    assert out.splitlines()[-1] == "2 of 3 numbers are those of their results"


@pytest.mark.parametrize(
    "text",
    [
        "The mean kappa\n  is\n.15 (all)",
        "The **mean kappa** is **.15** (all)",
        "The [mean kappa](method.md#s) is `.15` (all)",
    ],
    ids=["reflowed", "emphasised", "linked"],
)
def test_a_phrase_is_found_however_it_is_set(check, store, text):
    store("r.json", '{"signal": 0.1514}')
    assert check(text, "- phrase: the mean kappa is {}\n  is: r.json signal\n")[0] == 1
    code, out, _ = check(text, "- phrase: The mean kappa is {}\n  is: r.json signal\n")
    assert (code, out) == (0, "1 of 1 numbers are those of their results\n")


def test_a_phrase_that_is_gone_and_one_that_stands_there_twice_are_told_by_name(check, store):
    store("r.json", '{"signal": 0.1514, "gain": 0.2}')
    numbers = (
        "- phrase: the gain is {}\n  is: r.json gain\n"
        "- phrase: kappa is {}\n  is: r.json signal\n"
        "- phrase: gone by {}\n  is: r.json gain\n"
    )
    code, out, _ = check("Here kappa is .15\nand there kappa is .15; gone by .2", numbers)
    assert code == 1
    assert out.splitlines() == [
        "page.md: no sentence says 'the gain is {}' (page.yaml)",
        "page.md: 2 sentences say 'kappa is {}' (lines 1, 2); take more words (page.yaml)",
        "1 of 1 numbers are those of their results",
        "2 entries could not be held to their pages",
    ]


def test_a_phrase_that_overlaps_itself_stands_there_twice(check, store):
    store("r.json", '{"one": 1, "two": 2}')
    code, out, _ = check("from 1 to 2 to 2", "- phrase: '{} to {}'\n  is: [r.json one, r.json two]\n")
    assert code == 1
    assert "2 sentences say '{} to {}' (lines 1, 1)" in out


@pytest.mark.parametrize("said", ["again .15", "gain .15.2", "gain .15th"])
def test_a_phrase_is_no_part_of_a_word_or_of_a_longer_number(check, store, said):
    store("r.json", '{"gain": 0.15}')
    code, out, _ = check(f"a {said} b", "- phrase: gain {}\n  is: r.json gain\n")
    assert code == 1
    assert "no sentence says 'gain {}'" in out


def test_a_number_at_the_beginning_of_a_phrase_is_read_whole(check, store):
    store("r.json", '{"loss": -0.5, "n": 1200}')
    numbers = "- phrase: '{} lost'\n  is: r.json loss\n- phrase: '{} asked'\n  is: r.json n\n"
    assert check("−.5 lost; 1,200 asked", numbers)[0] == 0


def test_a_table_that_shows_a_stored_one_is_held_to_it_cell_by_cell(check, store):
    store("r.csv", "who,rate,low,high\nann,.254,.1,.4\nbob,.5,.3,.7\n")
    table = (
        "| who | yes rate | share [95%] |\n| --- | --- | --- |\n| ann | .25 | 25% [.10, .40] |\n| `bob` | .6 | - |\n"
    )
    numbers = (
        "- table: who | yes rate\n  rows: r.csv who\n  columns:\n    yes rate: rate\n    share [95%]: rate, low, high\n"
    )
    code, out, _ = check("Told.\n\n" + table, numbers)
    assert code == 1
    assert "page.md, line 6: .6 is said" in out
    assert out.splitlines()[-1] == "4 of 5 numbers are those of their results"
    code, out, _ = check(table, numbers.replace("yes rate: rate", "no such: rate"))
    assert code == 1
    assert "no headings 'no such', of who, yes rate, share [95%] in the table 'who | yes rate'" in out
    code, out, _ = check(table, numbers.replace("rate, low, high", "low, high"))
    assert code == 1
    assert "line 3 has 3 numbers under 'share [95%]', but 2 values are named" in out


def test_tables_that_begin_alike_are_told_apart_by_their_section_or_by_all_their_headings(check, store):
    store("r.csv", "who,one,two\nann,.1,.2\n")
    first, second = ("| who | rate |{}\n| --- | --- |\n| ann | .{} |\n".format("", n) for n in (1, 2))
    page = f"# One\n\n{first}\n# Two\n\n{second}"
    entry = "- table: who\n  rows: r.csv who\n  columns: {rate: one}\n"
    code, out, _ = check(page, entry)
    assert code == 1
    assert "2 tables begin with 'who'; say under which heading" in out
    both = entry.replace("who\n  rows", "who\n  under: One\n  rows") + entry.replace("one}", "two}").replace(
        "who\n  rows", "who\n  under: Two\n  rows"
    )
    assert check(page, both)[:2] == (0, "2 of 2 numbers are those of their results\n")
    wider = first + "\n| who | rate | more |\n| --- | --- | --- |\n| ann | .2 | |\n"
    assert check(wider, entry.replace("who\n", "who | rate\n", 1))[0] == 0


def test_a_row_may_be_named_by_two_columns_and_an_empty_cell_says_what_the_one_above_says(check, store):
    store("r.csv", "panel,what,found\nsmall,size,.05\nsmall,power,.9\nlarge,size,.04\n")
    numbers = "- table: panel | what\n  rows: r.csv panel, what\n  columns:\n    found: found\n"
    table = "| panel | what | found |\n| --- | --- | --- |\n| small | size | 5% |\n|  | power | 90% |\n"
    for said, code in (("4%", 0), ("90%", 1)):
        found = check(table + f"| large | size | {said} |\n", numbers)
        assert found[0] == code
        assert found[1].splitlines()[-1] == f"{3 - code} of 3 numbers are those of their results"


def test_cells_name_their_values_one_by_one_and_none_holds_nothing(check, store):
    store("r.json", '{"size": 0.05, "power": 0.9, "mean": 0.5}')
    table = "| test | cases | found |\n| --- | --- | --- |\n| **sum** | few | .05 |\n| | many | .9 at 200 (mean .5) |\n"
    numbers = (
        "- table: test | cases\n  cells:\n    sum | few:\n      found: r.json size\n"
        "    sum | many:\n      found: [r.json power, none, r.json mean]\n"
    )
    assert check(table, numbers)[:2] == (0, "3 of 3 numbers are those of their results\n")
    code, out, _ = check(table.replace(".5)", ".6)"), numbers)
    assert code == 1
    assert "page.md, line 4: .6 is said" in out
    code, out, _ = check(table, numbers.replace("sum | many", "sum | all"))
    assert code == 1
    assert "no rows begin with 'sum | all' in the table 'test | cases'" in out


def test_rows_are_counted_and_summed_up_where_a_page_says_something_of_several(check, store):
    store("r.csv", "who,drawn,push,kl\nann,True,inf,.1\nbob,True,.5,.3\neve,True,2,.7\nown,False,.1,0\n")
    said = {"drawn=True count": "3", "drawn=True & push=inf count": "1", "drawn=True & push<3 max(push)": "2.0",
            "push>.4 mean(kl)": ".37", "who=own push": ".1"}  # fmt: skip
    page = "\n".join(f"case {case}: {number}" for case, number in zip("abcde", said.values(), strict=True))
    numbers = "".join(
        f"- phrase: 'case {case}: {{}}'\n  is: r.csv {key}\n" for case, key in zip("abcde", said, strict=True)
    )
    assert check(page, numbers)[:2] == (0, "5 of 5 numbers are those of their results\n")
    code, _, err = check("case a: 3", "- phrase: 'case a: {}'\n  is: r.csv drawn=True push\n")
    assert code == 2
    assert "has 3 rows with drawn=True; it takes exactly one" in err


def test_a_rule_s_number_is_held_to_the_constant_of_its_module(check, store):
    store("rule.py", "raise RuntimeError\nLEVEL: float = 0.05\nFEW, MANY = 5, 40 + 1\n")
    numbers = "- phrase: At {}%, from {} on\n  is: [rule.py LEVEL, rule.py FEW]\n"
    code, out, _ = check("At 5%, from 6 on.", numbers)
    assert code == 1
    assert "6 is said, but" in out
    assert out.splitlines()[-1] == "1 of 2 numbers are those of their results"
    code, _, err = check("At 5%, from 6 on.", numbers.replace("FEW", "MANY"))
    assert code == 2
    assert "has no 'MANY'" in err


def test_numbers_that_differ_are_written_as_those_before_them_were(check, store, tmp_path):
    store("r.csv", "who,gain,rate,n\nann,-0.054,0.2538,12345\nbob,0.031,0.7,9\n")
    page = (
        "Ann's .1 (9%), gain +0.1.\n\n"
        "| who | gain | rate, of |\n| --- | --- | --- |\n"
        "| ann | +.20 | .25 of 1,000 |\n| **bob** | \u2212.01 | .50 of 8 |\n"
    )
    numbers = (
        "- phrase: Ann's {} ({}%), gain {}\n  is: [r.csv who=ann rate, r.csv who=ann rate, r.csv who=ann gain]\n"
        "- table: who | gain\n  rows: r.csv who\n  columns:\n    gain: gain\n    rate, of: rate, n\n"
    )
    code, out, _ = check(page, numbers, "--write")
    assert (code, out.splitlines()[-1]) == (0, "the other 8 are written anew; read the sentences around them")
    written = (tmp_path / "page.md").read_text()
    assert written.startswith("Ann's .3 (25%), gain \u22120.1.\n")
    assert "| ann | \u2212.05 | .25 of 12,345 |\n| **bob** | +.03 | .70 of 9 |" in written
    assert (tmp_path / "page.yaml").read_text() == numbers
    assert check(written, numbers)[0] == 0


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ("- phrase: a {}\n  is: [r.json n\n", "page.yaml cannot be read"),
        ("phrase: a {}\n", "page.yaml cannot be read"),
        ("- phrase: a {}\n  from: r.json n\n", "page.yaml cannot be read"),
        ("- phrase: a {} b {}\n  is: r.json n\n", "page.yaml, entry 1: 1 values for the places of 'a {} b {}'"),
        ("- phrase: a {}\n  is: nowhere.json n\n", "there is no stored result nowhere.json"),
    ],
)
def test_a_file_of_numbers_that_cannot_be_read_is_refused_with_a_sentence(check, store, numbers, said):
    store("r.json", '{"n": 1}')
    code, _, err = check("a 1", numbers)
    assert code == 2
    assert said in err


def test_every_page_has_its_own_file_and_a_file_without_a_page_is_told(script, tmp_path):
    folder = Path("numbers")
    assert script.file_of(ROOT / "docs" / "how_to" / "wandb.md", folder) == folder / "how_to" / "wandb.yaml"
    assert script.file_of(ROOT / "README.md", folder) == folder / "README.yaml"
    (tmp_path / "how_to").mkdir()
    for name in ("README.yaml", "how_to/gone.yaml"):
        (tmp_path / name).touch()
    assert script.without_page(tmp_path, [ROOT / "README.md"]) == ["how_to/gone.yaml belongs to no page"]
