"""The runs of a folder, as they lie there: found by their files, named by their place below it, never by what a browser
asks for."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from onedial.core.errors import InputError
from onedial.core.files import refuse_links_outwards
from onedial.core.run.run import Run
from onedial.core.suggestions import did_you_mean
from onedial.show.columns import headline
from onedial.view.progress import log_lines
from onedial.view.tables import PARTS

FINISHED, GOING_ON, INTERRUPTED, UNREADABLE, NO_RUN = "finished", "going on", "interrupted", "unreadable", "no run"
STATES = (GOING_ON, INTERRUPTED, UNREADABLE, FINISHED, NO_RUN)
"""Of a folder: a process is writing it; it was broken off and continues with --resume; it is damaged, of another
version, or holds a link that leads out; its program has done all of its work; it is something else."""
DEEPEST = 5
"""Folders within each other that are searched."""
_BESIDES = ("vectors", "figures", "wandb", "tensorboard")
"""Folders of a run in which no run is searched."""


@dataclass(frozen=True)
class Seen:
    """A folder below the one that is viewed.

    Attributes:
        key: its place below it, with / between names.
        run: what it holds; None where that cannot be read.
        state: one of `STATES`. sentence: what it says, or why it cannot be read.
        program, model, begun: as far as they are known.
    """

    key: str
    path: Path
    state: str
    sentence: str
    run: Run | None = None
    program: str = ""
    model: str = ""
    begun: str = ""

    @cached_property
    def files(self) -> dict[str, Path]:
        """Name below the folder -> file, or the folder of a table that grows in parts.

        Hidden files, links, runs within the run and its report, which has a page of its own, are left out.
        """
        by_name = {}
        for place, folders, files in os.walk(self.path):
            path = Path(place)
            if path != self.path and "config.yaml" in files:
                folders[:] = []
                continue
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            if any(path.glob(PARTS)):
                by_name[path.relative_to(self.path).as_posix()] = path
                files = [name for name in files if not Path(name).match(PARTS)]
            for file in sorted(path / name for name in files if not name.startswith(".") and name != "report.html"):
                if not file.is_symlink():
                    by_name[file.relative_to(self.path).as_posix()] = file
        return by_name

    def file(self, name: str) -> Path:
        """One of its files.

        Raises:
            InputError: there is none of this name.
        """
        if name not in self.files:
            near = did_you_mean(name, list(self.files))
            raise InputError(f"{self.key} stores no {name!r}{near}; the page of its files lists them")
        return self.files[name]


class RunFolder:
    """A folder of runs, looked at anew whenever it is asked."""

    def __init__(self, folder: Path) -> None:
        self.path = folder.resolve()
        self._is_run = Run.is_at(self.path)
        self._base = self.path.parent if self._is_run else self.path

    def seen(self) -> list[Seen]:
        """Every run and whatever else lies beside them, newest first, what is no run last."""
        seen = [look_at(path, self._key(path)) for path in sorted(self._candidates())]
        return sorted(seen, key=lambda each: each.begun, reverse=True)

    def one(self, key: str) -> Seen:
        """The run of this key.

        Raises:
            InputError: the folder holds none of this name, or it cannot be read.
        """
        for path in self._candidates():
            if self._key(path) == key:
                seen = look_at(path, key)
                if seen.run is None:
                    raise InputError(f"{key}: {seen.sentence}")
                return seen
        raise InputError(f"{self.path} holds no run {key!r}; the list of runs says which there are")

    def _key(self, path: Path) -> str:
        return path.relative_to(self._base).as_posix()

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
        manifest = run.manifest
        state = GOING_ON if Run.is_held(path) else FINISHED if manifest.finished else INTERRUPTED
        if state == FINISHED:
            sentence = headline(str(manifest.facts.get("sentence") or f"{manifest.program} has done its work"))
        else:
            sentence = (log_lines(run) or ["begun"])[-1].partition("Z ")[2]
        model = manifest.facts.get("model")
        named = model.get("name") if isinstance(model, dict) else run.config.get("model")
        begun = str(manifest.started).replace("T", " ").removesuffix("Z")
        return Seen(key, path, state, sentence, run, manifest.program, str(named or ""), begun)
    except InputError as error:
        return Seen(key, path, UNREADABLE, str(error))
    except (OSError, AttributeError, KeyError, TypeError, ValueError) as error:
        return Seen(key, path, UNREADABLE, f"its files do not fit together ({type(error).__name__})")


def _has_run_below(folder: Path) -> bool:
    return any(next(folder.rglob(name), None) is not None for name in ("manifest.json", "config.yaml"))
