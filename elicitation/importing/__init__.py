"""Other people's logs as panels: Inspect, lm-evaluation-harness, Every Eval Ever, HELM, plain tables."""

from elicitation.importing.asked import Asked
from elicitation.importing.formats import IMPORTERS, Importer, read_logs
from elicitation.importing.panel import ImportedPanel, panel_from_logs
from elicitation.importing.records import LogChoices, LogRecord, LogRun
from elicitation.importing.writing import write_imported

__all__ = [
    "IMPORTERS",
    "Asked",
    "ImportedPanel",
    "Importer",
    "LogChoices",
    "LogRecord",
    "LogRun",
    "panel_from_logs",
    "read_logs",
    "write_imported",
]
