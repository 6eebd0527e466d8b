"""README and docs/: Python is run, commands are given to their programs' parsers, and what is neither says so."""

import importlib.util
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from forks import run_program
from tiny_experiment import main_of

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"(?P<before>[^\n]*)\n+```(?P<language>[^\n]*)\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL)
NOT_RUN = re.compile(r"<!-- not run: .{10,} -->")
FOLLOWED_ELSEWHERE = ["architecture.md"]  # tests/test_recipes.py does what it says
PLAIN = ("text", "csv", "json", "yaml")


def blocks():
    """(page, number, language, text, what stands on the line before) of every fenced block."""
    for page in PAGES:
        text = "\n" + page.read_text(encoding="utf-8")
        for number, found in enumerate(BLOCK.finditer(text), start=1):
            yield page, number, found["language"].strip(), found["text"], found["before"].strip()


def named(*languages):
    return [
        pytest.param(text, id=f"{page.relative_to(ROOT)}:{number}")
        for page, number, language, text, before in blocks()
        if language in languages and page.name not in FOLLOWED_ELSEWHERE and not NOT_RUN.fullmatch(before)
    ]


def commands_of(text):
    """Each command on a line of its own, continued lines joined and remarks left out."""
    joined = re.sub(r"\\\n\s*", " ", text)
    return [words for line in joined.splitlines() if (words := shlex.split(line, comments=True))]


def test_every_block_says_what_it_is():
    for page, number, language, _, before in blocks():
        known = language in ("", "python", "console", "bash", *PLAIN) or NOT_RUN.fullmatch(before)
        assert known, f"{page.name}, block {number} is {language!r}: mark it as text, or as not run with a reason"


@pytest.mark.parametrize("text", named("", "console", "bash"))
def test_every_command_is_one_that_its_program_understands(text, monkeypatch):
    for words in commands_of(text):
        check_command(words, monkeypatch)


def check_command(words, monkeypatch):
    tool = Path(words[0]).name
    if tool == "make":
        targets = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1].split()
        assert {word for word in words[1:] if "=" not in word} <= set(targets), words
    elif tool == "sbatch":
        script = next(word for word in words if word.endswith(".sh"))
        place = words.index(script)
        check_program(ROOT / "experiments" / "steer_sweep.py", words[place + 2 :], monkeypatch)
    elif tool in ("python", "accelerate", "torchrun"):
        place = next(index for index, word in enumerate(words) if word.endswith(".py") or word == "-m")
        if words[place] == "-m":
            parts = words[place + 1].split(".")
            assert parts[0] == "pytest" or ROOT.joinpath(*parts).with_suffix(".py").is_file(), words
        else:
            check_program(ROOT / words[place], words[place + 1 :], monkeypatch)
    else:
        assert tool in ("source", "grep", "pip", "wandb", "tail", "hf", "export", "cd"), f"{words}: mark it as text"


def check_program(program, arguments, monkeypatch):
    """Its own parser takes the arguments; three dots stand for anything."""
    assert program.is_file(), program
    given = [
        "1" if word in ("...", "…") else word
        for place, word in enumerate(arguments)
        if word not in ("...", "…") or (0 < place < len(arguments) - 1 and arguments[place - 1].startswith("--"))
    ]
    module = sys.modules[main_of(program).__module__] if program.parent.name == "experiments" else None
    parse = getattr(module, "parse_options", None)
    if parse is not None:
        monkeypatch.setattr(sys, "argv", [str(program), *given])
        try:
            parse()
        except SystemExit as ended:
            pytest.fail(f"{program.name} refuses {given} ({ended})")


@pytest.mark.slow
@pytest.mark.embedded_model
@pytest.mark.parametrize(
    "page", sorted({page for page, _, language, _, _ in blocks() if language == "python"}), ids=lambda page: page.name
)
def test_the_python_of_a_page_runs_from_top_to_bottom(page, tmp_path, monkeypatch):
    """About half a minute a page, since most load the embedded model."""
    if page.name in FOLLOWED_ELSEWHERE:
        return
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tests").symlink_to(ROOT / "tests")  # where the stored run is
    namespace = {"__name__": "page"}
    for own, number, language, text, before in blocks():
        if own == page and language == "python" and not NOT_RUN.fullmatch(before):
            exec(compile(text, f"{page.name}, block {number}", "exec"), namespace)


def test_numbers_that_name_a_result_are_those_of_the_result():
    done = run_program(ROOT / "scripts" / "check_numbers.py")
    assert done.returncode == 0, done.stdout + done.stderr
    right, of = map(int, re.findall(r"\d+", done.stdout.splitlines()[-1])[:2])
    assert right == of > 0


def test_a_number_that_is_not_that_of_its_result_is_told(tmp_path):
    result, page = tmp_path / "r.json", tmp_path / "page.md"
    result.write_text('{"signal": {"estimate": 0.1514, "share": 0.29}}')
    page.write_text(
        f"kappa .15<!-- = {result} signal.estimate --> of 29%<!-- = {result} signal.share -->\n"
        f"and .16<!-- = {result} signal.estimate -->\n"
    )
    script = ROOT / "scripts" / "check_numbers.py"
    done = run_program(script, page)
    assert done.returncode == 1
    assert "page.md, line 2: .16 is said" in done.stdout
    assert done.stdout.splitlines()[-1] == "2 of 3 numbers are those of their results"


def test_a_table_that_names_its_result_is_held_to_it_cell_by_cell(tmp_path):
    (tmp_path / "r.csv").write_text("who,rate,low,high\nann,.254,.1,.4\nbob,.5,.3,.7\n")
    rows = f"<!-- rows = {tmp_path / 'r.csv'} who; yes rate = rate; share [95%] = rate, low, high -->\n"
    table = (
        "| who | yes rate | share [95%] |\n| --- | --- | --- |\n| ann | .25 | 25% [.10, .40] |\n| `bob` | .6 | - |\n"
    )
    (tmp_path / "page.md").write_text("Told.\n\n" + rows + table)
    script = ROOT / "scripts" / "check_numbers.py"
    done = run_program(script, tmp_path / "page.md")
    assert done.returncode == 1
    assert "page.md, line 7: .6 is said" in done.stdout
    assert done.stdout.splitlines()[-1] == "4 of 5 numbers are those of their results"
    (tmp_path / "page.md").write_text(rows.replace("yes rate =", "no such =") + table)
    done = run_program(script, tmp_path / "page.md")
    assert done.returncode == 2
    assert "no heading 'no such' in the table below; it has who, yes rate, share [95%]" in done.stderr


def test_a_row_may_be_named_by_two_columns_and_an_empty_cell_says_what_the_one_above_says(tmp_path):
    (tmp_path / "r.csv").write_text("panel,what,found\nsmall,size,.05\nsmall,power,.9\nlarge,size,.04\n")
    rows = f"<!-- rows = {tmp_path / 'r.csv'} panel, what; found = found -->\n"
    table = "| panel | what | found |\n| --- | --- | --- |\n| small | size | 5% |\n|  | power | 90% |\n"
    script = ROOT / "scripts" / "check_numbers.py"
    for said, code in (("4%", 0), ("90%", 1)):
        (tmp_path / "page.md").write_text(rows + table + f"| large | size | {said} |\n")
        done = run_program(script, tmp_path / "page.md")
        assert done.returncode == code, done.stdout + done.stderr
        assert done.stdout.splitlines()[-1] == f"{3 - code} of 3 numbers are those of their results"


def test_rows_are_counted_and_summed_up_where_a_page_says_something_of_several(tmp_path):
    (tmp_path / "r.csv").write_text(
        "who,drawn,push,kl\nann,True,inf,.1\nbob,True,.5,.3\neve,True,2,.7\nown,False,.1,0\n"
    )
    said = {"drawn=True count": "3", "drawn=True & push=inf count": "1", "drawn=True & push<3 max(push)": "2.0",
            "push>.4 mean(kl)": ".37", "who=own push": ".1"}  # fmt: skip
    page, script = tmp_path / "page.md", ROOT / "scripts" / "check_numbers.py"
    page.write_text("\n".join(f"{number}<!-- = {tmp_path / 'r.csv'} {key} -->" for key, number in said.items()))
    done = run_program(script, page)
    assert (done.returncode, done.stdout) == (0, "5 of 5 numbers are those of their results\n")
    page.write_text(f"3<!-- = {tmp_path / 'r.csv'} drawn=True push -->")
    done = run_program(script, page)
    assert done.returncode == 2
    assert "has 3 rows with drawn=True; it takes exactly one" in done.stderr


def test_a_rule_s_number_is_held_to_the_constant_of_its_module(tmp_path):
    (tmp_path / "rule.py").write_text("raise RuntimeError\nLEVEL: float = 0.05\nFEW, MANY = 5, 40 + 1\n")
    page, script = tmp_path / "page.md", ROOT / "scripts" / "check_numbers.py"
    page.write_text(f"At 5%<!-- = {tmp_path}/rule.py LEVEL -->, from 6<!-- = {tmp_path}/rule.py FEW --> on.\n")
    done = run_program(script, page)
    assert done.returncode == 1
    assert "6 is said, but" in done.stdout
    assert done.stdout.splitlines()[-1] == "1 of 2 numbers are those of their results"
    page.write_text(f"41<!-- = {tmp_path}/rule.py MANY -->")
    done = run_program(script, page)
    assert done.returncode == 2
    assert "has no 'MANY'" in done.stderr


def test_numbers_that_differ_are_written_as_those_before_them_were(tmp_path):
    (tmp_path / "r.csv").write_text("who,gain,rate,n\nann,-0.054,0.2538,12345\nbob,0.031,0.7,9\n")
    page, result = tmp_path / "page.md", tmp_path / "r.csv"
    page.write_text(
        f"Ann's .1<!-- = {result} who=ann rate --> (9%<!-- = {result} who=ann rate -->), "
        f"gain +0.1<!-- = {result} who=ann gain -->.\n\n"
        f"<!-- rows = {result} who; gain = gain; rate, of = rate, n -->\n"
        "| who | gain | rate, of |\n| --- | --- | --- |\n"
        f"| ann | +.20 | .25 of 1,000 |\n| **bob** | \u2212.01 | .50<!-- = {result} who=bob rate --> of 8 |\n"
    )
    told = page.read_text()
    script = ROOT / "scripts" / "check_numbers.py"
    assert run_program(script, page, "--write").returncode == 0
    shown = re.sub("<!--.*?-->", "", page.read_text())
    assert shown.startswith("Ann's .3 (25%), gain \u22120.1.\n")
    assert "| ann | \u2212.05 | .25 of 12,345 |\n| **bob** | +.03 | .70 of 9 |" in shown
    assert run_program(script, page).returncode == 0
    assert re.findall("<!--.*?-->", page.read_text()) == re.findall("<!--.*?-->", told)


@pytest.mark.slow
def test_the_site_is_built_without_a_warning_and_asks_for_nothing(tmp_path):
    pytest.importorskip("mkdocstrings")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", tmp_path / "site"]
    done = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for page in (tmp_path / "site").rglob("*.html"):
        asked = re.findall(r"""<(?:script|link|img|iframe)[^>]*?(?:src|href)=["'](https?://[^"']+)""", page.read_text())
        assert not asked, f"{page.name} asks for {asked}"
    assert "critical_magnitudes" in (tmp_path / "site" / "api" / "steering.html").read_text()
    if importlib.util.find_spec("latex2mathml") is not None:
        method = (tmp_path / "site" / "method.html").read_text()
        assert method.count("<math") > 50
        assert "arithmatex" not in method
