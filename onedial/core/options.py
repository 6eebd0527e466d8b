"""The options of a program, declared once: a frozen dataclass, whose fields say what each stands for and may be.

@dataclass(frozen=True, kw_only=True)
class Dice(RunOptions, group="dice"):
    sides: int = option(6, "of every die", at_least=2)
    loaded: float | None = option(None, "share of sixes", at_least=0, at_most=1, excludes=("sides",))

Command line, `--config` file, `--help`, the run's config.yaml and what makes two runs the same run come from it. A
class inherits the options of others, under their headings. Whoever makes the object, in Python too, gets the same
checks (`Options.__post_init__`). The command line is read by cyclopts.
"""

import ast
import importlib
import importlib.metadata
import inspect
import math
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from itertools import pairwise
from pathlib import Path
from textwrap import fill
from types import NoneType
from typing import Annotated, Any, ClassVar, Self, get_args, get_origin

from onedial.core.command_line import EXIT_CODES
from onedial.core.errors import InputError
from onedial.core.plugins import load_installed_plugins, load_plugin
from onedial.core.suggestions import did_you_mean

_KEY = "option"
NOT_FROM_FILE = ("out", "resume", "config")
"""Options of one start, which a file of options does not decide."""


@dataclass(frozen=True)
class Declared:
    """What is declared of an option besides its name, type and default; the parameters of `option`."""

    help: str
    choices: Iterable[str] | None = None
    at_least: float | None = None
    at_most: float | None = None
    above: float | None = None
    below: float | None = None
    excludes: Sequence[str] = ()
    needs: Mapping[str, Any] | Sequence[str] = ()
    check: Callable[[Any], str | None] | None = None
    repeated: bool = False
    metavar: str | None = None
    also: Sequence[str] = ()
    leading_hyphen: bool = False
    stored: bool = True
    may_change: bool = False

    def fault(self, value: Any) -> str | None:
        """Say what to give instead of this value; None where it may be."""
        for number in value if isinstance(value, tuple) else (value,):
            if isinstance(number, int | float) and not isinstance(number, bool) and not self._within(number):
                return f"give a number {self.bounds()}"
        if self.choices is not None:
            known = list(self.choices)
            for name in value if isinstance(value, tuple | list) else (value,):
                if name not in known:
                    near = did_you_mean(str(name), known) or ";"
                    return f"{str(name)!r} is not known{near} choose among {', '.join(known)}"
        return self.check(value) if self.check is not None else None

    def _within(self, number: float) -> bool:
        return math.isfinite(number) and (
            (self.at_least is None or number >= self.at_least)
            and (self.at_most is None or number <= self.at_most)
            and (self.above is None or number > self.above)
            and (self.below is None or number < self.below)
        )

    def bounds(self) -> str:
        """Say where a number must lie."""
        low = f"from {self.at_least:g}" if self.at_least is not None else ""
        low = f"above {self.above:g}" if self.above is not None else low
        high = f"to {self.at_most:g}" if self.at_most is not None else ""
        high = f"below {self.below:g}" if self.below is not None else high
        if low and high:
            return f"{low} {high}" if low.startswith("from") and high.startswith("to") else f"{low} and {high}"
        return f"{low} on" if low.startswith("from") else low or high or "that is finite"


def option(default: Any, help: str, *, positional: bool = False, **declared: Any) -> Any:
    """Declare a field of a program's options.

    Args:
        default: its value where none is given; `...` where one must be.
        help: what it is, without its name, default and choices, which the help adds.
        positional: given without its name, in its place.
        choices: the values, or of a tuple each value, that it may have.
        at_least, at_most, above, below: bounds of a number, or of each number of a tuple.
        excludes: options that may not be given beside it.
        needs: options that must be given beside it, or the values that they must have.
        check: given the value, says what to give instead, or None.
        repeated: of a tuple: given once for each value, which may hold a comma; else commas part its values.
        metavar: stands for the value in the help.
        also: further names.
        leading_hyphen: its value may begin with one, as -1,1 does.
        stored: False where it changes no result, such as where a run lies: it stands in no configuration.
        may_change: whether a run may go on with another value, since nothing that is done rests on it.
    """
    metadata = {_KEY: Declared(help, **declared)}
    if default is ...:
        return field(metadata=metadata, kw_only=not positional)
    return field(default=default, metadata=metadata, kw_only=not positional)


@dataclass(frozen=True, kw_only=True)
class Options:
    """What every program understands. `group` is the heading of a class's own options in the help."""

    group: ClassVar[str] = "Options"
    plugin: tuple[Path, ...] = option(
        (), "your own Python file that adds a direction, instrument, baseline, ...", metavar="FILE[,FILE]"
    )

    def __init_subclass__(cls, group: str | None = None) -> None:
        cls.group = group or cls.__dict__.get("group", "Options")

    def __post_init__(self) -> None:
        check_options(self)
        self.check()

    def check(self) -> None:
        """Raise InputError for what the declarations cannot say; cheap, and without a model."""

    def settled(self) -> Self:
        """Fill in what other options or files decide; asked for once, by `parse_options`."""
        return self


@dataclass(frozen=True, kw_only=True)
class RunOptions(Options, group="run"):
    """What every program that writes a run understands."""

    seed: int = option(0, "of every draw", at_least=0)
    out: Path | None = option(
        None, "folder of the run (runs/<time>-<name>-<configuration>)", metavar="DIR", stored=False
    )
    resume: bool = option(False, "continue an interrupted run", stored=False)
    config: Path | None = option(
        None, "YAML file of options, such as a run's config.yaml; others go before it", metavar="FILE", stored=False
    )
    wandb: str = option("off", "mirror the run to Weights & Biases", choices=("off", "offline", "online"), stored=False)


@dataclass(frozen=True, kw_only=True)
class DryRunOptions(Options, group="run"):
    """For programs that take long or cost money."""

    dry_run: bool = option(False, "predict operations, memory, time or money, and stop", stored=False)


# ---- checks ----------------------------------------------------------------------------------------------------------


def declared(options: type[Options] | Options) -> dict[str, tuple[Field[Any], Declared]]:
    """Name -> field and what is declared of it."""
    return {each.name: (each, each.metadata[_KEY]) for each in fields(options)}


def flag(name: str) -> str:
    """Write the name of an option as on the command line."""
    return f"--{name.replace('_', '-').rstrip('-')}"


def check_options(options: Options) -> None:
    """Raise InputError for a value out of bounds or unknown, and for options that do not go together."""
    known = declared(options)
    for name, (spec, declaration) in known.items():
        value = getattr(options, name)
        if value is None or value == spec.default:
            continue
        shown = name.upper() if not spec.kw_only else flag(name)
        if remedy := declaration.fault(value):
            text = ",".join(map(str, value)) if isinstance(value, tuple | list) else value
            raise InputError(f"{shown} {text}: {remedy}")
        for other in declaration.excludes:
            if getattr(options, other) != known[other][0].default:
                raise InputError(f"{shown} and {_shown(known, other)} exclude each other; leave one of them out")
        wanted = declaration.needs if isinstance(declaration.needs, Mapping) else dict.fromkeys(declaration.needs)
        for other, needed in wanted.items():
            value_of_other = getattr(options, other)
            if value_of_other == known[other][0].default if needed is None else value_of_other != needed:
                beside = _shown(known, other) + ("" if needed is None else f" {needed}")
                raise InputError(f"{shown} goes with {beside}; give that as well, or leave {shown} out")


def _shown(known: Mapping[str, tuple[Field[Any], Declared]], name: str) -> str:
    return flag(name) if known[name][0].kw_only else name.upper()


class KeysOf:
    """Choices that are the keys of dictionaries, read from their source where their module is not loaded.

    So an option's choices, its help and its check all read the one dictionary that a new entry is put into, and a
    start waits for nothing: a plugin that puts something in has loaded the module.

    Args:
        parts: MODULE:NAME of a dictionary or tuple, or a further choice.

    >>> "rotate" in KeysOf("steering.operators:OPERATORS")
    True
    """

    def __init__(self, *parts: str) -> None:
        self._parts = parts

    def __iter__(self) -> Iterator[str]:
        for part in self._parts:
            module, is_dictionary, name = part.partition(":")
            yield from _keys(module, name) if is_dictionary else [part]

    def __contains__(self, value: object) -> bool:
        return value in list(self)


def _keys(module: str, name: str) -> list[str]:
    written = _written_keys(module, name) if module not in sys.modules else None
    return list(getattr(importlib.import_module(module), name)) if written is None else written


def _written_keys(module: str, name: str) -> list[str] | None:
    """Read the keys as they stand in the source; None where more than words stands there."""
    place = Path(__file__).parents[2].joinpath(*module.split("."))
    source = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    for node in ast.parse(source.read_text("utf-8")).body:
        names = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if name in [getattr(each, "id", None) for each in names]:
            value = getattr(node, "value", None)
            entries = value.keys if isinstance(value, ast.Dict) else getattr(value, "elts", [None])
            words = [str(entry.value) for entry in entries if isinstance(entry, ast.Constant)]
            return words if len(words) == len(entries) else None
    return None


# ---- from the command line -------------------------------------------------------------------------------------------


def parse_options(
    options: type[Any],
    documentation: str | None = None,
    arguments: Sequence[str] | None = None,
    name: str | None = None,
) -> Any:
    """Read the options from command line over `--config` file over defaults, checked and settled.

    Args:
        arguments: by default those of this process. name: of the program; by default that of the process.

    Raises:
        InputError: something cannot be used, in one sentence. SystemExit: `--help` or `--version` was given.
    """
    from cyclopts import CycloptsError
    from cyclopts.config import Dict

    given = list(sys.argv[1:] if arguments is None else arguments)
    stored: dict[str, Any] = {}
    asked = bool({"-h", "--help", "--version"} & set(given))
    if not asked:
        load_installed_plugins()
        for file in _values_of("--config", given)[-1:] if "config" in declared(options) else []:
            stored = read_config(file, options)
        for text in _values_of("--plugin", given) or stored.get("plugin", []):
            for path in text.split(","):
                load_plugin(path)
    app, take = application(options, name or Path(sys.argv[0]).name, set(stored))
    named = {key: value for key, value in stored.items() if declared(options)[key][0].kw_only}
    app.config = (Dict(named, source="the file of options"),) if named else ()
    try:
        command, bound, _ = app.parse_args(given, print_error=False, exit_on_error=False, help_on_error=False)
    except CycloptsError as error:
        message = " ".join(str(error).split()).rstrip(".")
        raise InputError(f"{message}; --help lists what can be given") from error
    if command is not take:
        if not {"-h", "--help"}.isdisjoint(given):
            print(f"{(documentation or '').strip()}\n")  # as it stands, however wide the terminal is
        command(*bound.args, **bound.kwargs)
        if not {"-h", "--help"}.isdisjoint(given):
            print(EXIT_CODES)
        raise SystemExit(0)
    places = {key: _of_file(options, key, value) for key, value in stored.items() if key not in named}
    return options(**places | bound.arguments).settled()


def _of_file(options: type[Options], name: str, value: Any) -> Any:
    """Convert the value of a positional option in a file, which cyclopts does not read from there."""
    kind, many = _kind(declared(options)[name][0].type)
    return tuple(kind(each) for each in value) if many else kind(value)


def application(options: type[Options], name: str, stored: Collection[str] = ()) -> tuple[Any, Callable[..., None]]:
    """Make the cyclopts application that reads a program's options or prints their help; and what it calls.

    Args:
        stored: options that a file gives; a positional one among them may be left out.
    """
    from cyclopts import App, Group, Parameter

    headings = dict.fromkeys(cls.group for cls in options.__mro__ if issubclass(cls, Options) and cls is not Options)
    for last in (RunOptions.group, Options.group):
        headings[last] = headings.pop(last, None)
    groups = {title: Group(title, sort_key=place) for place, title in enumerate(headings)}

    def take(*_: Any, **__: Any) -> None:
        """Receive the values from cyclopts; the fields are its parameters."""

    parameters = []
    for spec, declaration in declared(options).values():
        default = None if spec.default is MISSING and spec.name in stored else spec.default
        parameters.append(
            inspect.Parameter(
                spec.name,
                inspect.Parameter.KEYWORD_ONLY if spec.kw_only else inspect.Parameter.POSITIONAL_ONLY,
                default=inspect.Parameter.empty if default is MISSING else default,
                annotation=Annotated[spec.type, _parameter(spec, declaration, groups[_home(options, spec.name).group])],
            )
        )
    take.__signature__ = inspect.Signature(sorted(parameters, key=lambda each: each.kind))  # type: ignore[attr-defined]
    app = App(
        name=name,
        help="",
        group_commands=Group("Commands", sort_key=len(groups)),
        help_format="plaintext",
        help_formatter=_once_wrapped(),
        version=f"onedial {version()}",
        result_action="return_value",
        default_parameter=Parameter(negative_iterable=(), negative_none=(), allow_repeating=True),
    )
    app.default(take)
    return app, take


def _once_wrapped() -> Any:
    """Writes plain help, each entry wrapped to the terminal's width once, its further lines indented."""
    from cyclopts.help.formatters.plain import PlainFormatter

    class Wrapped(PlainFormatter):
        def _print_plain(self, console: Any, text: str) -> None:
            first = text[: len(text) - len(text.lstrip())]
            lines = fill(" ".join(text.split()), console.width, initial_indent=first, subsequent_indent="    ")
            console.print(lines, highlight=False, markup=False, soft_wrap=True)

    return Wrapped()


def _home(options: type[Options], name: str) -> type[Options]:
    """Find the class that declares an option."""
    return next(cls for cls in options.__mro__ if name in inspect.get_annotations(cls))


def _parameter(spec: Field[Any], declaration: Declared, group: Any) -> Any:
    """Say how cyclopts reads a field, and shows it."""
    from cyclopts import Parameter

    kind, many = _kind(spec.type)
    text = declaration.help
    if declaration.choices is not None:
        text += f"; {'among' if many else 'one of'} {', '.join(declaration.choices)}"
    if (bounds := declaration.bounds()) not in ("that is finite", "from 0 on", "from 1 on"):
        text += f"; {bounds}"
    if kind is not bool and spec.default not in (None, MISSING, (), ""):
        text += f" ({','.join(map(str, spec.default)) if isinstance(spec.default, tuple) else spec.default})"
    more: dict[str, Any] = {}
    if many and spec.kw_only:
        more = {"converter": _converter(kind, declaration), "n_tokens": 1}
    if kind is bool:
        more["negative"] = None if spec.default is True else ()
    if not spec.kw_only or declaration.metavar:
        more["metavar"] = declaration.metavar or spec.name.upper()
    if spec.kw_only:
        more["group"] = group
    return Parameter(
        help=text,
        alias=[f"--{name}" for name in declaration.also],
        show_default=False,
        allow_leading_hyphen=declaration.leading_hyphen,
        **more,
    )


def _kind(annotation: Any) -> tuple[Any, bool]:
    """Find the type of a value, and whether there are several of it.

    >>> _kind(tuple[int, ...]), _kind(str | None)
    ((<class 'int'>, True), (<class 'str'>, False))
    """
    if get_origin(annotation) is tuple:
        return get_args(annotation)[0], True
    alternatives = [each for each in get_args(annotation) if each is not NoneType]
    return _kind(alternatives[0]) if len(alternatives) == 1 else (annotation, False)


def _converter(kind: Any, declaration: Declared) -> Callable[[Any, Sequence[Any]], Any]:
    """Make the values of a tuple: of each text that was given, or of what commas part."""

    def convert(_: Any, tokens: Sequence[Any]) -> Any:
        texts = [token.value for token in tokens]
        names = texts if declaration.repeated else between_commas(",".join(texts), list(declaration.choices or ()))
        values = [kind(name) for name in names if name]
        return tuple(dict.fromkeys(values) if declaration.choices is not None else values)

    return convert


def between_commas(given: str, known: Sequence[str] = ()) -> list[str]:
    """Split at commas, but keep a known name whole that holds one itself.

    >>> between_commas("P(IK),stands by it, doubted", ["P(IK)", "stands by it, doubted"])
    ['P(IK)', 'stands by it, doubted']
    """
    pieces, names = [piece.strip() for piece in given.split(",")], []
    while pieces:
        joined = (n for n in range(len(pieces), 0, -1) if ", ".join(pieces[:n]) in known)
        n = next(joined, 1)
        names.append(", ".join(pieces[:n]))
        pieces = pieces[n:]
    return names


def _values_of(name: str, given: Sequence[str]) -> list[str]:
    """List what stands behind every `--name VALUE` and `--name=VALUE`."""
    apart = [value for word, value in pairwise(given) if word == name]
    return apart + [word.split("=", 1)[1] for word in given if word.startswith(f"{name}=")]


def version() -> str:
    """Return the version of this package."""
    try:
        return importlib.metadata.version("onedial")
    except importlib.metadata.PackageNotFoundError:
        return "(not installed: pip install -e .)"


# ---- files of options ------------------------------------------------------------------------------------------------


def configuration_of(options: Options) -> dict[str, Any]:
    """Collect the options that make a run's configuration."""
    return {
        name: getattr(options, name)
        for name, (spec, declaration) in declared(options).items()
        if declaration.stored and not (name == "plugin" and not options.plugin)
    }


def changeable(options: Options) -> set[str]:
    """List the options that may have another value when a run goes on."""
    return {name for name, (_, declaration) in declared(options).items() if declaration.may_change}


def read_config(path: str, options: type[Options]) -> dict[str, Any]:
    """Read options from a YAML file, by their names with underscores; the file may write - for _.

    Raises:
        InputError: no such file, no YAML, an unknown option.
    """
    from onedial.core.borders import read_yaml

    content = read_yaml(Path(path), "config file")
    if not isinstance(content, dict):
        raise InputError(f"{path} holds no options; write lines like 'layer: auto'")
    values, known = {}, declared(options)
    older = {other.replace("-", "_"): name for name, (_, declaration) in known.items() for other in declaration.also}
    for key, value in content.items():
        name = str(key).replace("-", "_")
        name = older.get(name, name)
        if name not in known:
            near = did_you_mean(name, known) or "; --help lists them"
            raise InputError(f"{path} names {key!r}, which is no option{near}")
        if name not in NOT_FROM_FILE and value is not None:
            values[name] = value
    return values
