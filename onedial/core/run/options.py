"""The options that every program which writes a run understands, said once.

Command line over `--config` file over defaults. The file's values go through the same parser as the command line's, so
that both are checked alike.
"""

import argparse
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from onedial.core.command_line import natural
from onedial.core.errors import InputError

NOT_STORED = frozenset({"config", "dry_run", "show_prompt"})
"""Options of one start, which a run's configuration does not hold."""
NOT_FROM_FILE = ("out", "resume")


def add_run_options(parser: argparse.ArgumentParser, *, seed: str = "of every draw", dry_run: str = "") -> None:
    """Add `--seed --out --resume --config`, `--tensorboard`, and `--wandb` and its names.

    Args:
        seed: what the seed is of, for the help. dry_run: what `--dry-run` prints, for the help; "" = no such option.
    """
    group = parser.add_argument_group("run")
    group.add_argument("--seed", type=natural, default=0, help=f"{seed} (%(default)s)")
    group.add_argument("--out", metavar="DIR", help="folder of the run (runs/<time>-<name>-<configuration>)")
    group.add_argument("--resume", action="store_true", help="continue an interrupted run")
    group.add_argument("--config", metavar="FILE", help="YAML file of options, for example a run's config.yaml")
    if dry_run:
        group.add_argument("--dry-run", action="store_true", help=f"{dry_run}, and stop")
    group = parser.add_argument_group("watching elsewhere")
    group.add_argument("--tensorboard", action="store_true", help="write events that TensorBoard reads, below the run")
    group.add_argument(
        "--wandb", choices=("off", "offline", "online"), default="off", help="mirror the run to Weights & Biases"
    )
    group.add_argument("--wandb-project", metavar="NAME", help="W&B project ($WANDB_PROJECT, else onedial)")
    group.add_argument("--wandb-entity", metavar="NAME", help="W&B team or user ($WANDB_ENTITY, else your own)")
    group.add_argument("--wandb-group", metavar="NAME", help="file the W&B run with others of this group")
    group.add_argument("--wandb-tags", metavar="A,B", help="tags of the W&B run")
    group.add_argument("--wandb-name", metavar="NAME", help="name of the W&B run (that of the run's folder)")


def parse_run_options(
    parser: argparse.ArgumentParser,
    arguments: Sequence[str] | None = None,
    *,
    lists: Collection[str] = (),
) -> argparse.Namespace:
    """The options, from command line, `--config` file and defaults.

    Args:
        arguments: by default those of this process.
        lists: options whose value may begin with a minus sign, such as `--magnitudes -1,-0.5`.

    Raises:
        InputError: the config file cannot be used.
    """
    given = _joined(list(sys.argv[1:] if arguments is None else arguments), lists)
    file = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    file.add_argument("--config")
    named = file.parse_known_args(given)[0].config
    if named:
        values = read_config(named, {action.dest for action in parser._actions} - {"help", "version"})
        positional = {action.dest for action in parser._actions if not action.option_strings}
        parser.set_defaults(**{name: values.pop(name) for name in positional & values.keys()})
        given = [*config_arguments(values, parser), *given]
    return parser.parse_args(given)


def configuration_of(options: argparse.Namespace) -> dict[str, Any]:
    """The options that make the run's configuration."""
    return {name: value for name, value in vars(options).items() if name not in NOT_STORED}


def read_config(path: str, known: Collection[str]) -> dict[str, Any]:
    """Options from a YAML file, by their names with underscores; the file may write - for _.

    Raises:
        InputError: no such file, no YAML, an unknown option.
    """
    import yaml

    from onedial.core.files import parsed_yaml

    if not Path(path).is_file():
        raise InputError(f"there is no config file {path}; check the path")
    try:
        found = parsed_yaml(Path(path).read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not YAML; write lines like 'layer: auto'") from error
    if not isinstance(found, dict):
        raise InputError(f"{path} holds no options; write lines like 'layer: auto'")
    values = {}
    for key, value in found.items():
        name = str(key).replace("-", "_")
        if name not in known:
            raise InputError(f"{path} names {key!r}, which is no option; --help lists them")
        if name not in NOT_FROM_FILE and value is not None:
            values[name] = value
    return values


def config_arguments(values: Mapping[str, Any], parser: argparse.ArgumentParser) -> list[str]:
    """Options as the command line would have them; false leaves an option out, or takes its `--no-` form."""
    known = {string for action in parser._actions for string in action.option_strings}
    arguments = []
    for name, value in values.items():
        option = f"--{name.replace('_', '-')}"
        if value is False:
            arguments += [negated] if (negated := f"--no-{option[2:]}") in known else []
        elif value is True:
            arguments.append(option)
        else:
            text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
            arguments.append(f"{option}={text}")
    return arguments


def _joined(arguments: list[str], lists: Collection[str]) -> list[str]:
    """`--magnitudes -1,1` as `--magnitudes=-1,1`, for a list that begins with a minus sign looks like an option."""
    for name in lists:
        if name in arguments[:-1]:
            place = arguments.index(name)
            arguments[place : place + 2] = [f"{name}={arguments[place + 1]}"]
    return arguments
