"""What each program understands, as dataclasses (`onedial.core.options`): groups that several share, and each's own."""

from onedial.studies.options.asked import (
    BatteryOptions,
    QuestionnaireOptions,
    ScoreOptions,
    SelfPredictionOptions,
    WrittenOptions,
)
from onedial.studies.options.collecting import (
    INSPECT_LOG,
    SAMPLE_JUDGED,
    CollectOptions,
    ExportOptions,
    ImportOptions,
    part_of,
)
from onedial.studies.options.dials import PARAPHRASES, DialOptions, MultiverseOptions
from onedial.studies.options.panel import StudyOptions
from onedial.studies.options.probes import STAGES, ProbeOptions
from onedial.studies.options.profile import ProfileOptions
from onedial.studies.options.shared import (
    PANELS,
    SUBJECT,
    AskedModels,
    PanelOptions,
    QuestionOptions,
    ReplicateOptions,
    SubjectOptions,
    TargetOptions,
    VerdictOptions,
    prompt_of,
)
from onedial.studies.options.sweep import SweepOptions

__all__ = [
    "PARAPHRASES",
    "PANELS",
    "SAMPLE_JUDGED",
    "STAGES",
    "SUBJECT",
    "AskedModels",
    "BatteryOptions",
    "CollectOptions",
    "ExportOptions",
    "INSPECT_LOG",
    "ImportOptions",
    "DialOptions",
    "MultiverseOptions",
    "PanelOptions",
    "ProbeOptions",
    "ProfileOptions",
    "QuestionOptions",
    "QuestionnaireOptions",
    "ReplicateOptions",
    "ScoreOptions",
    "SelfPredictionOptions",
    "StudyOptions",
    "SubjectOptions",
    "SweepOptions",
    "TargetOptions",
    "VerdictOptions",
    "WrittenOptions",
    "part_of",
    "prompt_of",
]
