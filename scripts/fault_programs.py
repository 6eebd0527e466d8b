"""Every program that writes a run, small enough to be broken off many times, for fault_battery.py."""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from recorded_disk import Recording

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "helpers"))

from forks import start_program  # noqa: E402

PATIENCE_SECONDS = 1800
NEED_A_SWEEP = {"judge_run", "dial_profile", "compare_runs"}


class Going:
    """A program that runs, and what it says on both channels."""

    def __init__(self, command: list[str]) -> None:
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        # The last bits depend on the number of threads, and it would be measured each time.
        environment = os.environ | {"OMP_NUM_THREADS": "1", "COLUMNS": "200"}
        self.process = start_program(*command, log=self._said, env=environment)

    def end(self) -> tuple[int, str]:
        """Wait for it; exit code and everything that was said."""
        code = self.process.wait(PATIENCE_SECONDS)
        with self._said as said:
            said.seek(0)
            return code, said.read().decode(errors="replace")


@dataclass
class Program:
    """A program as the battery calls it.

    Attributes:
        command: everything but `--out` and `--resume`; `{run}` stands for the run's folder where it is no option.
        seconds: that the unbroken run took. recording: of what it did to the disk.
    """

    name: str
    command: list[str]
    resumes: bool = True
    parts: str | None = None
    vectors: str | None = None
    seconds: float = 0.0
    recording: Recording | None = None
    prepare: Callable[[Path], None] = field(default=lambda folder: None)

    def arguments(self, folder: Path, resume: bool) -> list[str]:
        """The command line for this folder."""
        filled = [part.replace("{run}", str(folder)) for part in self.command]
        if not self.resumes:
            return filled
        return [*filled, "--out", str(folder), *(["--resume"] if resume else [])]

    def start(self, folder: Path, resume: bool = True, through: tuple[object, ...] = ()) -> Going:
        """The program as a process.

        Args:
            through: a script that runs it, with what that one needs before the program's name.
        """
        if not folder.exists():
            self.prepare(folder)
        return Going([*map(str, through), *self.arguments(folder, resume)])

    def finish(self, folder: Path, resume: bool = True, through: tuple[object, ...] = ()) -> tuple[int, str]:
        """Run to the end; exit code and everything that was said."""
        return self.start(folder, resume, through).end()


@dataclass(frozen=True)
class Subject:
    """Who is asked, and what.

    Attributes:
        model: a name or a folder. asked: options for the questions, the panel and the wording.
        layers: two of its layers, with a comma between them.
    """

    model: str
    asked: tuple[str, ...]
    layers: str

    @property
    def first_layer(self) -> str:
        return self.layers.partition(",")[0]


def embedded(model: str) -> Subject:
    """A model in the box, and the questions in the box."""
    return Subject(model, (), "20,22")


def tiny(place: Path) -> Subject:
    """A model of random weights with questions and a panel of the tests' own: seconds instead of minutes."""
    from tiny_experiment import as_arguments, write_experiment
    from tiny_models import save_outspoken

    written = write_experiment(place / "tiny", n=120, n_targets=8)
    save_outspoken(written["model"], "llama", 1, max_position_embeddings=8192)  # a questionnaire is long
    asked = {name: written[name] for name in ("questions", "panel", "prompt")}
    return Subject(str(written["model"]), tuple(as_arguments(asked)), "1,3")


def programs(subject: Subject, n_questions: int, place: Path) -> dict[str, Program]:
    """By name; those of `NEED_A_SWEEP` read the run `swept` in the same place."""
    respondents, swept = place / "respondents.yaml", place / "swept"
    respondents.write_text(
        f"models: [{{model: {subject.model}, name: subject, family: battery}}]\nframings: [neutral, cautious]\n",
        encoding="utf-8",
    )
    questionnaire = place / "scale.csv"
    questionnaire.write_text("text,keyed\nI solve what I begin.,1\nI give up early.,-1\n", encoding="utf-8")

    def judged_run(folder: Path) -> None:
        shutil.copytree(swept, folder)

    def another_run(folder: Path) -> None:
        shutil.copytree(swept, place / "another", dirs_exist_ok=True)

    common, model, layer = ["--n-questions", str(n_questions)], ["--model", subject.model], subject.first_layer
    questions = [each for each in subject.asked if each.startswith("--questions")]
    of_subject = [*model, *subject.asked, *common]

    def program(name: str, options: str, given: list[str], file: str | None = None, **more: object) -> Program:
        return Program(name, [f"experiments/{file or name}.py", *given, *options.split()], **more)  # type: ignore[arg-type]

    return {
        each.name: each
        for each in (
            program("steer_sweep", "--controls 1", of_subject, parts="sweep", vectors="vectors"),
            program(
                "multiverse",
                f"--layer {subject.layers} --resamples 1 --wordings neutral --replicates 19",
                of_subject,
                parts="turns/wording-0",
                vectors="vectors/wording-0",
            ),
            program(
                "panel",
                "",
                ["collect", "--respondents", str(respondents), *questions, *common],
                parts="measurements",
            ),
            program("fit_factor", "--deep --replicates 9 --sensitivity-replicates 0", ["embedded"], file="study_panel"),
            program("study_panel", "--replicates 9", ["embedded"]),
            program("score_confidence", "--confidence --replicates 19", ["embedded"], file="study_panel"),
            program("score_self_prediction", "--replicates 19", ["tests/reference/self_execution"]),
            program("place", "--next 6", ["embedded", *model]),
            program("judge_run", "", ["{run}"], resumes=False, prepare=judged_run),
            program("compare_runs", "", [str(swept), str(place / "another")], prepare=another_run),
            program(
                "compare_dials",
                f"--layer {layer} --dials interventions,cut --method mean_difference --operator add --together 0 "
                "--facts 8 --passages 2",
                of_subject,
            ),
            program(
                "dial_profile",
                "--n-questions 8 --controls 2 --replicates 99 --yes-rates .2,.8",
                [str(swept)],
                parts="answers",
            ),
            program(
                "ask_battery",
                "--instruments pairs,pressure,correction,beliefs --n-questions 8 --n-each 4 --samples 1 "
                "--replicates 99",
                model,
            ),
            program(
                "ask_questionnaire",
                f"--questionnaire {questionnaire} --administrations 2 --replicates 49",
                model,
                parts="ratings",
            ),
            program("ask_self_prediction", "--n-questions 4", model),
            program(
                "score_written",
                "--n-questions 8 --samples 2 --instruments P(True) --replicates 99",
                model,
                parts="written",
            ),
            program(
                "train_probes",
                f"--layer {subject.layers} --method ridge --shuffles 1 --replicates 49 --facts 120 --nulls 9 "
                f"--n-pushed 10 --controls 2 --store {place / 'store'}",
                [*model, *subject.asked, "--n-questions", "160" if subject.first_layer == "20" else "120"],
            ),
        )
    }
