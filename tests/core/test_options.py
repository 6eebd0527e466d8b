"""Options come from command line, config file and defaults, in this order, and all are checked by what is declared."""

import errno
import os
from dataclasses import dataclass, replace

import pytest
import yaml

from onedial.core.command_line import run_command
from onedial.core.errors import InputError
from onedial.core.options import RunOptions, configuration_of, option, parse_options
from onedial.core.plain_values import plain
from onedial.core.run.configuration import configuration_hash, first_difference


@dataclass(frozen=True, kw_only=True)
class Weather(RunOptions, group="weather"):
    """Options of every kind."""

    place: str = option("here", "where", positional=True)
    days: tuple[str, ...] = option((), "which", positional=True)
    layer: str = option("auto", "how high")
    magnitudes: str | None = option(None, "how much", leading_hyphen=True)
    numbers: tuple[float, ...] = option((), "which", at_least=-1, leading_hyphen=True)
    closed_book: bool = option(True, "without looking")
    keep: bool = option(False, "what was there")
    n: int = option(3, "how many", at_least=0, may_change=True)
    share: float = option(0.5, "of the sky", above=0, at_most=1)
    kind: str = option("rain", "of weather", choices=("rain", "snow"))
    kinds: tuple[str, ...] = option(("rain",), "several", choices=("rain", "snow", "rain, then snow"))
    named: tuple[str, ...] = option((), "names", repeated=True)
    chat: bool = option(False, "talk of it")
    loud: bool = option(False, "talk loudly", needs=("chat",))
    quiet: bool = option(False, "whisper", excludes=("loud",))
    newer: int = option(0, "a number", also=("old-name",))
    deep: int | None = option(None, "of snow", needs={"kind": "snow"})


def parsed(*arguments):
    return parse_options(Weather, "What it does.", list(arguments), "weather")


@pytest.fixture
def config(tmp_path):
    def write(**values):
        (tmp_path / "config.yaml").write_text(yaml.safe_dump(values))
        return str(tmp_path / "config.yaml")

    return write


def test_the_command_line_goes_before_the_file(config):
    """The command line goes before the file and the file before defaults."""
    file = config(
        layer=7, n=9, magnitudes="-1,0.5", numbers=[-1, 0.5], place="there", days=["mon", "tue"], kinds=["snow"]
    )
    options = parsed("--config", file, "--n", "4", "--kinds", "rain")
    assert (options.layer, options.n, options.magnitudes, options.seed) == ("7", 4, "-1,0.5", 0)
    assert (options.numbers, options.place, options.days, options.kinds) == (
        (-1, 0.5),
        "there",
        ("mon", "tue"),
        ("rain",),
    )
    assert parsed("elsewhere", "--config", file).place == "elsewhere"


def test_what_a_run_has_stored_gives_the_same_options_again(config):
    line = "there mon tue --no-closed-book --magnitudes -1,1 --numbers=-1,1 --kind snow --deep 3 --chat --loud --seed 7"
    given = parsed(*line.split(), "--kinds", "rain, then snow,rain", "--named", "a, b", "--named", "c")
    stored = plain(configuration_of(given))
    assert (stored["kinds"], stored["named"]) == (["rain, then snow", "rain"], ["a, b", "c"])
    assert replace(parsed("--config", config(**stored)), config=None) == given


def test_an_older_name_of_an_option_is_understood(config):
    """An older name of an option is understood on the line and in a file."""
    assert parsed("--old-name", "2").newer == parsed("--config", config(old_name=2)).newer == 2


def test_switches_of_a_file_can_be_off_and_names_may_have_hyphens(config):
    off = parsed("--config", config(**{"closed-book": False, "keep": False}))
    on = parsed("--config", config(keep=True))
    assert (off.closed_book, off.keep) == (False, False)
    assert (on.closed_book, on.keep) == (True, True)


def test_where_to_write_and_whether_to_go_on_are_not_taken_from_a_file(config):
    options = parsed("--config", config(out="elsewhere", resume=True, layer=None))
    assert (options.out, options.resume, options.layer) == (None, False, "auto")


def test_a_file_that_names_no_option_is_refused_with_the_nearest_one(config):
    with pytest.raises(InputError, match="names 'layr', which is no option; did you mean 'layer'"):
        parsed("--config", config(layr=3))


@pytest.mark.parametrize(
    ("text", "message"), [(None, "there is no config file"), ("a: [1", "is no YAML"), ("- 1", "holds no options")]
)
def test_a_file_that_is_none_is_refused_in_one_sentence(tmp_path, text, message):
    file = tmp_path / "config.yaml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(InputError, match=message):
        parsed("--config", str(file))


REFUSED = {
    "--seed -1": "--seed",
    "--seed x": "--seed",
    "--seed": "--seed",
    "--lay 3": "--lay",
    "--sed 1": "did you mean --seed",
    "--share 0": "--share",
    "--share 1.5": "--share",
    "--share nan": "--share",
    "--numbers 0,-2": "--numbers",
    "--numbers 0,x": "--numbers",
    "--kind hail": "rain, snow",
    "--kinds rain,snwo": "did you mean 'snow'",
    "--loud": "--chat",
    "--deep 3": "--kind snow",
    "--chat --loud --quiet": "--quiet and --loud",
    "--wandb sometimes": "offline",
    "--nothing-like-it": "--nothing-like-it",
}


@pytest.mark.parametrize(("given", "message"), REFUSED.items(), ids=list(REFUSED))
def test_a_value_that_cannot_be_is_refused_in_one_sentence_that_names_it(given, message):
    with pytest.raises(InputError) as refused:
        parsed(*given.split())
    assert message.lower() in str(refused.value).lower()
    assert "\n" not in str(refused.value)


def test_a_file_and_a_python_caller_are_checked_alike(config):
    with pytest.raises(InputError, match="--share"):
        parsed("--config", config(share=2))
    with pytest.raises(InputError, match="--share"):
        Weather(share=2)


def test_what_only_one_start_is_about_is_not_stored():
    stored = configuration_of(parsed("--n", "5"))
    assert not {"config", "mirror", "plugin", "out", "resume", "wandb"} & set(stored)
    assert stored["n"] == 5


def test_a_difference_is_named_by_the_first_key_and_nested_ones_by_dots():
    stored = {"layer": 1, "model": {"name": "a", "dtype": "float32"}, "budget": 1}
    assert first_difference(stored, stored | {"budget": 2}, may_change=["budget"]) is None
    given = stored | {"model": {"name": "a", "dtype": "bfloat16"}}
    assert first_difference(stored, given) == ("model.dtype", "float32", "bfloat16")
    assert first_difference(stored, stored | {"contrast": "answer"}) == ("contrast", "not set", "answer")
    assert configuration_hash(stored) == configuration_hash(dict(reversed(stored.items()))) != configuration_hash(given)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_disk_a_quota_or_a_limit_that_is_reached_is_told_with_a_remedy(capsys, number):
    def full():
        raise OSError(number, os.strerror(number), "runs/mine")

    assert run_command(full) == 2
    error = capsys.readouterr().err
    assert os.strerror(number) in error
    assert "choose another folder with --out" in error
