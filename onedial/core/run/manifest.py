"""manifest.json: where a run comes from and what it came upon, with the version of the format that it is written in."""

from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from onedial.core.errors import InputError
from onedial.core.files import write_json
from onedial.core.plain_values import plain
from onedial.core.run import provenance
from onedial.core.run.files import read_json

FORMAT_VERSION = 2

FILE = "manifest.json"


@dataclass(frozen=True)
class Manifest:
    """What stands in manifest.json.

    Attributes:
        format_version: of the run's folder.
        program: which program wrote it, by its file's name.
        started: ISO 8601, UTC. resumed: time, commit and state of the checkout of each start after the first.
        finished: when its program had done all of its work; "" until then.
        command, commit, dirty, versions, machine: see `onedial.core.run.provenance`.
        stages: name, start, seconds, and whether it was completed, one entry for each time that a stage was begun.
        notes: what a user should know of: everything that was left out, counted, or warned of on the way.
        facts: whatever else the program recorded (model, device, seeds, ...); on disk beside the others.
    """

    program: str = ""
    started: str = ""
    finished: str = ""
    command: str = ""
    commit: str | None = None
    dirty: bool | None = None
    versions: dict[str, str | None] = field(default_factory=dict)
    machine: dict[str, Any] = field(default_factory=dict)
    stages: list[dict[str, Any]] = field(default_factory=list)
    resumed: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    format_version: int = FORMAT_VERSION

    @classmethod
    def begun_now(cls, program: str) -> "Manifest":
        """Of a run that begins here and now."""
        return cls(
            program=program,
            started=provenance.utc_now(),
            finished="",
            command=provenance.command_line(),
            versions=provenance.library_versions(),
            machine=provenance.machine(),
            **provenance.git_state(),
        )

    @classmethod
    def read(cls, folder: Path) -> "Manifest":
        """Of an existing run.

        Raises:
            InputError: missing, broken, or written in another format than this one.
        """
        content = read_json(folder / FILE)
        version = content.pop("format_version", None)
        if version != FORMAT_VERSION:
            raise InputError(
                f"{folder} is written in format {version}, and this version of the project reads format "
                f"{FORMAT_VERSION}; update it to read the run"
            )
        known = {name: content.pop(name) for name in _KNOWN if name in content}
        return cls(**known, facts=content, format_version=version)

    def write(self, folder: Path) -> None:
        """Write it, all or nothing; nan becomes null."""
        first = {"format_version": self.format_version} | {name: getattr(self, name) for name in _KNOWN}
        write_json(folder / FILE, plain(first | self.facts))

    def recording(self, **facts: Any) -> "Manifest":
        """With these facts, over those of the same name."""
        return replace(self, facts=self.facts | plain(facts))


_KNOWN = [each.name for each in fields(Manifest) if each.name not in ("facts", "format_version")]
