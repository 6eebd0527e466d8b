"""Options come from command line, config file and defaults, in this order, and a config file is checked like them."""

import argparse
import errno
import os

import pytest
import yaml

from onedial.core import (
    InputError,
    add_run_options,
    configuration_hash,
    configuration_of,
    first_difference,
    natural,
    parse_run_options,
    program_parser,
    run_command,
)


def parser():
    made = program_parser("A program.\n")
    made.add_argument("--layer", default="auto")
    made.add_argument("--magnitudes")
    made.add_argument("--closed-book", action=argparse.BooleanOptionalAction, default=True)
    made.add_argument("--keep", action="store_true")
    made.add_argument("--n", type=natural, default=3)
    add_run_options(made)
    return made


def parsed(*arguments, **more):
    return parse_run_options(parser(), list(arguments), lists=["--magnitudes"], **more)


@pytest.fixture
def config(tmp_path):
    def write(**values):
        (tmp_path / "config.yaml").write_text(yaml.safe_dump(values))
        return str(tmp_path / "config.yaml")

    return write


def test_the_command_line_goes_before_the_file_and_the_file_before_defaults(config):
    file = config(layer=7, n=9, magnitudes=[-1, 0.5])
    options = parsed("--config", file, "--n", "4")
    assert (options.layer, options.n, options.magnitudes, options.seed) == ("7", 4, "-1,0.5", 0)


def test_switches_of_a_file_can_be_off_and_names_may_have_hyphens(config):
    off = parsed("--config", config(**{"closed-book": False, "keep": False}))
    on = parsed("--config", config(keep=True))
    assert (off.closed_book, off.keep) == (False, False)
    assert (on.closed_book, on.keep) == (True, True)


def test_where_to_write_and_whether_to_go_on_are_not_taken_from_a_file(config):
    options = parsed("--config", config(out="elsewhere", resume=True, layer=None))
    assert (options.out, options.resume, options.layer) == (None, False, "auto")


def test_a_list_may_begin_with_a_minus_sign():
    assert parsed("--magnitudes", "-1,1").magnitudes == "-1,1"


def test_a_file_that_names_no_option_is_refused(config):
    file = config(site="resid_post", layer=3)
    with pytest.raises(InputError, match="names 'site', which is no option"):
        parsed("--config", file)


@pytest.mark.parametrize(
    ("text", "said"),
    [(None, "there is no config file"), ("a: [1", "is not YAML"), ("- 1", "holds no options")],
)
def test_a_file_that_is_none_is_refused_in_one_sentence(tmp_path, text, said):
    file = tmp_path / "config.yaml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(InputError, match=said):
        parsed("--config", str(file))


@pytest.mark.parametrize("arguments", [["--seed", "-1"], ["--lay", "3"], ["--n", "two"]])
def test_negative_seeds_and_abbreviated_options_end_with_exit_code_2(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        parsed(*arguments)
    assert ended.value.code == 2
    assert "Traceback" not in capsys.readouterr().err


def test_what_only_one_start_is_about_is_not_stored():
    stored = configuration_of(parsed("--config", "", "--n", "5"))
    assert "config" not in stored
    assert stored["n"] == 5


def test_a_difference_is_named_by_the_first_key_and_nested_ones_by_dots():
    stored = {"layer": 1, "model": {"name": "a", "dtype": "float32"}, "out": "x"}
    assert first_difference(stored, stored | {"out": "y"}) is None
    given = stored | {"model": {"name": "a", "dtype": "bfloat16"}}
    assert first_difference(stored, given) == ("model.dtype", "float32", "bfloat16")
    assert first_difference(stored, stored | {"contrast": "answer"}) == ("contrast", "not set", "answer")
    assert configuration_hash(stored) != configuration_hash(given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--sed", "1"], "error: --sed is no option; did you mean --seed?"),
        (["--nothing-like-it"], "error: --nothing-like-it is no option; --help lists what can be given"),
        (["--seed", "x"], "error: argument --seed: "),
    ],
)
def test_a_wrong_option_is_refused_in_one_sentence(given, said, capsys):
    made = program_parser("What it does.")
    add_run_options(made)
    with pytest.raises(SystemExit) as ended:
        made.parse_args(given)
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert told.startswith(said)
    assert told.count("\n") == 1


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_disk_a_quota_or_a_limit_that_is_reached_is_told_with_a_remedy(capsys, number):
    def full():
        raise OSError(number, os.strerror(number), "runs/mine")

    assert run_command(full) == 2
    said = capsys.readouterr().err
    assert os.strerror(number) in said
    assert "choose another folder with --out" in said
