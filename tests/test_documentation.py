"""README and docs/: Python is run, commands are parsed by their programs, links lead somewhere, numbers are stored."""

import doctest
import functools
import importlib
import importlib.util
import pkgutil
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from forks import run_program
from tiny_experiment import checked_once, main_of
from tiny_models import save_outspoken

from onedial.command import COMMANDS
from onedial.core.errors import InputError
from onedial.core.options import parse_options
from onedial.models.model import load_model

ROOT = Path(__file__).resolve().parent.parent
WITH_EXAMPLES = sorted(
    file
    for room in ("onedial", "probes", "steering")
    for file in (ROOT / room).rglob("*.py")
    if ">>> " in file.read_text(encoding="utf-8")
)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"(?P<before>[^\n]*)\n+```(?P<language>[^\n]*)\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL)
NOT_RUN = re.compile(r"<!-- not run: .{10,} -->")
PLAIN = ("text", "csv", "json", "yaml")
EMBEDDED = "smollm2-135m-instruct"
LAYER = re.compile(r"(layer=|layers=\[|(?:template|YN\x22)\), \[|\.read\(|\.at\(|import_vectors\(\{)\d+")


@functools.cache
def blocks():
    """(page, number, language, text, what stands on the line before) of every fenced block."""
    return [
        (page, number, result["language"].strip(), result["text"], result["before"].strip())
        for page in PAGES
        for number, result in enumerate(BLOCK.finditer("\n" + page.read_text(encoding="utf-8")), start=1)
    ]


def named(*languages):
    return [
        pytest.param(text, id=f"{page.relative_to(ROOT)}:{number}")
        for page, number, language, text, before in blocks()
        if language in languages and not NOT_RUN.fullmatch(before)
    ]


def commands_of(text):
    """Each command on a line of its own, continued lines joined and remarks left out."""
    joined = re.sub(r"\\\n\s*", " ", text)
    return [words for line in joined.splitlines() if (words := shlex.split(line, comments=True))]


def addresses_of(page):
    """The addresses of a page's headings, as MkDocs and GitHub make them."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return {
        re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading.lower()).strip())
        for heading in re.findall(r"^#+ +(.+)$", text, re.MULTILINE)
    }


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"], ids=lambda page: page.name)
def test_every_link_leads_to_a_file_and_to_a_heading(page):
    for link in re.findall(r"\]\(([^()\s]+)\)", page.read_text(encoding="utf-8")):
        if link.startswith(("http://", "https://")):
            continue
        path, _, heading = link.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), link
        assert not heading or heading in addresses_of(file), link


def test_every_name_of_ours_on_a_page_is_there():
    for page in PAGES:
        for name in re.findall(r"`((?:onedial|steering|probes)(?:\.\w+)+)`", page.read_text(encoding="utf-8")):
            assert pkgutil.resolve_name(name) is not None, (page.name, name)


def test_every_block_says_what_it_is():
    for page, number, language, _, before in blocks():
        known = language in ("", "python", "console", "bash", *PLAIN) or NOT_RUN.fullmatch(before)
        assert known, f"{page.name}, block {number} is {language!r}: mark it as text, or as not run with a reason"


@pytest.mark.parametrize("text", named("", "console", "bash"))
def test_every_command_is_one_that_its_program_understands(text):
    for words in commands_of(text):
        check_command(words)


def check_command(words):
    tool = Path(words[0]).name
    if tool == "onedial":
        name = next(" ".join(words[1:end]) for end in (3, 2) if " ".join(words[1:end]) in COMMANDS)
        program, *part = COMMANDS[name][0].split()
        check_program(ROOT / "experiments" / f"{program}.py", [*part, *words[1 + len(name.split()) :]])
    elif tool == "make":
        targets = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1].split()
        assert {word for word in words[1:] if "=" not in word} <= set(targets), words
    elif tool == "sbatch":
        script = next(word for word in words if word.endswith(".sh"))
        place = words.index(script)
        check_program(ROOT / "experiments" / "steer_sweep.py", words[place + 2 :])
    elif tool in ("python", "accelerate", "torchrun"):
        place = next(index for index, word in enumerate(words) if word.endswith(".py") or word == "-m")
        if words[place] == "-m":
            parts = words[place + 1].split(".")
            assert parts[0] == "pytest" or ROOT.joinpath(*parts).with_suffix(".py").is_file(), words
        else:
            check_program(ROOT / words[place], words[place + 1 :])
    else:
        known = ("source", "git", "grep", "pip", "wandb", "tail", "hf", "export", "cd")
        assert tool in known, f"{words}: mark it as text"


def check_program(program, arguments):
    """Its own parser takes the arguments; three dots stand for anything."""
    assert program.is_file(), program
    given = [
        "1" if word in ("...", "…") else word
        for place, word in enumerate(arguments)
        if word not in ("...", "…") or (0 < place < len(arguments) - 1 and arguments[place - 1].startswith("--"))
    ]
    if program.parent.name == "experiments":
        main = main_of(program)
        if hasattr(main, "parts"):
            main, given = main.parts[given[0]], given[1:]
        try:
            parse_options(main.options, main.documentation, given)
        except InputError as refused:
            if not any(where in str(refused) for where in ("there is no ", "that is taken", "is no folder")):
                pytest.fail(f"{program.name} refuses {given} ({refused})")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Stands for the embedded model: few layers, random weights, and it says yes as well as no."""
    folder = tmp_path_factory.mktemp("model") / "small"
    save_outspoken(folder, "llama", max_position_embeddings=4096)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("onedial.models.model.check_fast_paths", checked_once)
        yield folder


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.name, marks=[pytest.mark.long] if page.name == "index.md" else [])
        for page in sorted({page for page, _, language, _, _ in blocks() if language == "python"})
    ],
)
def test_the_python_of_a_page_runs_from_top_to_bottom(page, small, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tests").symlink_to(ROOT / "tests")  # where the stored run is
    namespace = {"__name__": "page"}
    for page_of_block, number, language, text, before in blocks():
        if page_of_block == page and language == "python" and not NOT_RUN.fullmatch(before):
            tiny = LAYER.sub(r"\g<1>2", text.replace(EMBEDDED, str(small)))
            exec(compile(tiny, f"{page.name}, block {number}", "exec"), namespace)


@functools.cache
def small_model(folder):
    return load_model(folder)


class ExamplesOf(doctest.DocTestFinder):
    """A function that is wrapped is found too: where it says that it is from."""

    def _from_module(self, module, thing):
        return getattr(thing, "__module__", None) == module.__name__ or super()._from_module(module, thing)


@pytest.mark.parametrize("file", WITH_EXAMPLES, ids=lambda file: str(file.relative_to(ROOT)))
def test_the_examples_of_a_module_give_what_they_say(file, small):
    module = importlib.import_module(".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"))
    result = ExamplesOf(exclude_empty=True).find(module)
    assert any(test.examples for test in result), "no example is where doctest looks for it"
    output = []
    for test in result:
        test.globs["small_model"] = small_model
        for example in test.examples:  # the model is the same small one for all
            tiny = example.source.replace(f'load_model("{EMBEDDED}"', f'small_model("{small}"')
            example.source = LAYER.sub(r"\g<1>2", tiny) if f'load_model("{EMBEDDED}"' in test.docstring else tiny
        doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=output.append)
    assert not output, "".join(output)


def test_the_numbers_of_the_pages_are_those_of_the_stored_results():
    done = run_program(ROOT / "scripts" / "check_numbers.py")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.launched
def test_the_site_is_built_without_a_warning_and_asks_for_nothing(tmp_path):
    pytest.importorskip("mkdocstrings")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", tmp_path / "site"]
    done = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for page in (tmp_path / "site").rglob("*.html"):
        asked = re.findall(r"""<(?:script|link|img|iframe)[^>]*?(?:src|href)=["'](https?://[^"']+)""", page.read_text())
        assert not asked, f"{page.name} asks for {asked}"
    assert not (tmp_path / "site" / "numbers").exists()
    assert "random_vector" in (tmp_path / "site" / "api" / "steering.html").read_text()
    if importlib.util.find_spec("latex2mathml") is not None:
        method = (tmp_path / "site" / "method.html").read_text()
        assert method.count("<math") > 50
        assert "arithmatex" not in method
