"""The runs of a folder, as they lie there: found by their files, named by their place below it, never by what a browser
asks for."""

import os
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from onedial.core import InputError, Run, did_you_mean, refuse_links_outwards
from onedial.show import captions_of, headline
from onedial.view.progress import log_lines, present_stage
from onedial.view.stored import as_table, is_table, stored_files

FINISHED, GOING_ON, INTERRUPTED, UNREADABLE, NO_RUN = "finished", "going on", "interrupted", "unreadable", "no run"
STATES = (FINISHED, GOING_ON, INTERRUPTED, UNREADABLE, NO_RUN)
"""Of a folder: its program has done all of its work; a process is writing it; it was interrupted and continues with
--resume; it is damaged, of another version, or holds a link that leads out; it is something else."""
DEEPEST = 5
"""Folders within each other that are searched."""
SWEEPS = ("steer_sweep", "judge_run")
_BESIDES = ("vectors", "figures", "wandb", "tensorboard")
"""Folders of a run in which no run is searched."""


@dataclass(frozen=True)
class Seen:
    """A folder below the one that is viewed.

    Attributes:
        key: its place below it, with / between names.
        run: what it holds; None where that cannot be read.
        state: one of `STATES`. sentence: what it says, or why it cannot be read.
    """

    key: str
    path: Path
    state: str
    sentence: str
    run: Run | None = None

    @cached_property
    def facts(self) -> dict[str, str]:
        """Program, model and beginning, as far as they are known."""
        if self.run is None:
            return {"program": "", "model": "", "begun": ""}
        manifest = self.run.manifest
        model = manifest.facts.get("model")
        named = model.get("name") if isinstance(model, Mapping) else self.run.config.get("model")
        named = ", ".join(named) if isinstance(named, list) else named
        begun = str(manifest.started).replace("T", " ").removesuffix("Z")
        return {"program": manifest.program, "model": str(named or ""), "begun": begun}

    @property
    def is_sweep(self) -> bool:
        """Whether the dial of a subject was turned in it."""
        return self.run is not None and self.facts["program"] in SWEEPS

    @cached_property
    def files(self) -> dict[str, Path]:
        """Name -> whatever it stores; see `onedial.view.stored`."""
        return stored_files(self.path)

    def table(self, name: str) -> pd.DataFrame:
        """One of its files as a table.

        Raises:
            InputError: there is none of this name, or it cannot be read as one.
        """
        return as_table(self.file(name))

    def file(self, name: str) -> Path:
        """One of its files.

        Raises:
            InputError: there is none of this name.
        """
        if name not in self.files:
            near = did_you_mean(name, list(self.files))
            raise InputError(f"{self.key} stores no {name!r}{near}; the page of its files lists them")
        return self.files[name]

    @cached_property
    def captions(self) -> dict[str, dict[str, str]]:
        """name -> {"title", "caption"} of its figures that are there.

        Raises:
            InputError: a figure holds more than a drawing.
        """
        if self.run is None:
            return {}
        drawn = {name: words for name, words in captions_of(self.run).items() if self._drawing(name).is_file()}
        for name in drawn:
            _check_drawing(self._drawing(name))
        return drawn

    def _drawing(self, name: str) -> Path:
        return self.path / "figures" / (f"{name}.svg" if re.fullmatch(r"[\w-]+", name) else "")


class RunFolder:
    """A folder of runs, looked at anew whenever it is asked."""

    def __init__(self, folder: Path) -> None:
        self.path = folder.resolve()
        self._is_run = Run.is_at(self.path)
        self._base = self.path.parent if self._is_run else self.path

    def seen(self) -> list[Seen]:
        """Every run and whatever else lies beside them, newest first, what is no run last."""
        found = [look_at(path, path.relative_to(self._base).as_posix()) for path in self._candidates()]
        found.sort(key=lambda each: each.key)
        found.sort(key=lambda each: each.facts["begun"], reverse=True)
        return found

    def one(self, key: str) -> Seen:
        """The run of this name.

        Raises:
            InputError: there is none, or it is no run.
        """
        for path in self._candidates():
            if path.relative_to(self._base).as_posix() == key:
                seen = look_at(path, key)
                if seen.run is None:
                    raise InputError(f"{key}: {seen.sentence}")
                return seen
        raise InputError(f"{self.path} holds no run {key!r}; the list of runs says which there are")

    def _candidates(self) -> Iterator[Path]:
        for place, folders, files in os.walk(self.path):
            path = Path(place)
            depth = len(path.relative_to(self.path).parts)
            links = [name for name in folders if (path / name).is_symlink()]
            is_run = "manifest.json" in files or "config.yaml" in files
            folders[:] = sorted(
                name
                for name in folders
                if name not in links
                and not name.startswith(".")
                and depth < DEEPEST
                and not (is_run and name in _BESIDES)
            )
            if is_run or (depth == 1 and not self._is_run and not _has_run_below(path)):
                yield path
            if not is_run:
                yield from (path / name for name in links)


def look_at(path: Path, key: str) -> Seen:
    """What lies in a folder; whatever is wrong with it becomes its sentence."""
    if path.is_symlink():
        return Seen(key, path, NO_RUN, f"a link to {os.readlink(path)}, which is not followed; give that folder itself")
    if not Run.is_at(path):
        begun = "it has not yet written its configuration" if (path / "manifest.json").is_file() else ""
        return Seen(key, path, NO_RUN, begun or "no run of this project")
    try:
        refuse_links_outwards(path)
        run = Run.open(path)
        program = run.manifest.program
        state = GOING_ON if Run.is_held(path) else FINISHED if _is_finished(run) else INTERRUPTED
        so_far = (log_lines(run) or ["begun"])[-1].partition("Z ")[2]
        return Seen(key, path, state, _sentence(run, program) if state == FINISHED else so_far, run)
    except (InputError, OSError, AttributeError, KeyError, TypeError, ValueError) as error:
        said = (
            str(error) if isinstance(error, InputError) else f"its files do not fit together ({type(error).__name__})"
        )
        return Seen(key, path, UNREADABLE, said)


def _is_finished(run: Run) -> bool:
    manifest = run.manifest
    if manifest.finished is not None:
        return bool(manifest.finished)
    return bool(manifest.stages) and bool(manifest.stages[-1]["completed"]) and present_stage(run) is None


def _sentence(run: Run, program: str) -> str:
    """What the program recorded as its sentence, in the manifest or beside its numbers; else what it stores."""
    if isinstance(said := run.manifest.facts.get("sentence"), str):
        return headline(said)
    for name in ("verdict.json", "summary.json", "comparison.json"):
        stored = run.read_json(name) if run.has(name) else {}
        for said in (stored.get("sentence"), stored.get("verdict"), stored.get("sentences")):
            if isinstance(said, str):
                return headline(said)
            if isinstance(said, list) and said:
                return str(said[0])
    n = sum(is_table(path) for path in stored_files(run.path).values())
    return f"{program}: {n} tables, {len(captions_of(run))} figures"


def _has_run_below(folder: Path) -> bool:
    return any(next(folder.rglob(name), None) is not None for name in ("manifest.json", "config.yaml"))


def _check_drawing(file: Path) -> None:
    """Raise InputError where an SVG holds anything that acts or asks for something elsewhere."""
    try:
        for element in ElementTree.parse(file).iter():
            tag = str(element.tag).rpartition("}")[2].lower()
            links = [value for name, value in element.attrib.items() if name.rpartition("}")[2].lower() == "href"]
            acts = any(name.lower().startswith("on") for name in element.attrib)
            if tag in _ACTING or acts or any(not link.startswith(("#", "data:image/")) for link in links):
                raise InputError(f"{file} holds more than a drawing (<{tag}>), and is not shown; make the report again")
    except ElementTree.ParseError as error:
        raise InputError(f"{file} is no SVG ({error}); make the report again") from error


_ACTING = ("script", "foreignobject", "iframe", "meta", "link", "form", "a", "set", "animate")
