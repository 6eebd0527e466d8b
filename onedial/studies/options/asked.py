"""Declare the options of programs that ask models about themselves."""

from dataclasses import dataclass
from pathlib import Path

from onedial.core.errors import InputError
from onedial.core.options import KeysOf, RunOptions, option
from onedial.studies.options.shared import AskedModels, ColumnOptions, EngineOptions, ReplicateOptions

QUESTIONS = "a name or a file with accepted answers"


@dataclass(frozen=True, kw_only=True)
class AskedOptions(AskedModels, ReplicateOptions, RunOptions):
    """What each of them understands."""


@dataclass(frozen=True, kw_only=True)
class BatteryOptions(ColumnOptions, EngineOptions, AskedOptions, group="battery"):
    """All that the battery understands."""

    vector: Path | None = option(
        None, "a .safetensors file that a run has saved: steer the model", metavar="FILE", needs=("magnitudes",)
    )
    magnitudes: tuple[float, ...] = option(
        (),
        "settings of the vector, such as -0.1,0,0.1",
        leading_hyphen=True,
        needs=("vector",),
        check=lambda given: "give each of them once" if len(set(given)) < len(given) else None,
    )
    instruments: tuple[str, ...] = option((), "only these (all)", choices=KeysOf("onedial.selfreport.battery:BATTERY"))
    questions: str = option("embedded", QUESTIONS)
    n_questions: int = option(40, "questions, drawn by topic and level", at_least=1)
    samples: int = option(3, "of each answer that is corrected", at_least=1)
    n_each: int = option(
        6, "comparisons of each question", at_least=2, check=lambda n: "give an even number" if n % 2 else None
    )

    def check(self) -> None:
        """A vector belongs to one model, and a question is compared with others."""
        super().check()
        if self.vector and len(self.model) > 1:
            raise InputError(f"a vector belongs to one model, and --model names {len(self.model)}; give the one")
        if self.n_each >= self.n_questions:
            raise InputError(f"--n-each {self.n_each}: give an even number below the {self.n_questions} questions")


@dataclass(frozen=True, kw_only=True)
class QuestionnaireOptions(AskedOptions, group="questionnaire"):
    """All that a questionnaire understands."""

    questionnaire: str = option("ipip", "ipip, or a CSV file with text and keyed")
    administrations: int = option(3, "passes per condition", at_least=1)
    follow_ups: str = option("all", "ask again, in three wordings", choices=("all", "none"))


@dataclass(frozen=True, kw_only=True)
class SelfPredictionOptions(AskedOptions, group="self-prediction"):
    """All that the tests of self-prediction understand."""

    n_questions: int = option(40, "words, requests, questions", at_least=1)
    families: Path | None = option(None, "CSV of model and family: siblings as controls", metavar="FILE")
    tuned: bool = option(False, "also fine-tune each model on each one's lists (LoRA)")


@dataclass(frozen=True, kw_only=True)
class ScoreOptions(RunOptions, group="scores"):
    """What is scored of answers that are there."""

    folder: Path = option(..., "of the raw answers", positional=True)
    replicates: int = option(4999, "of intervals and tests", at_least=1)


@dataclass(frozen=True, kw_only=True)
class WrittenOptions(ColumnOptions, EngineOptions, AskedOptions, group="written answers"):
    """All that the scores of written answers understand."""

    questions: str = option("embedded", QUESTIONS)
    n_questions: int = option(200, "drawn by topic and level", at_least=1)
    samples: int = option(5, "of each answer at temperature 1", at_least=0)
    instruments: tuple[str, ...] = option(
        ("can you answer", "confidence in numbers", "P(IK)", "P(True)"),
        "self-reports to set beside them, or none",
        choices=KeysOf("onedial.selfreport.ask.self_reports:SELF_REPORTS", "none"),
    )
    same_meaning: str | None = option(
        None,
        "compare samples by meaning: a model of natural language inference, or any other as a judge",
        metavar="MODEL",
    )
