"""Write an imported panel as files that `load_panel` and `load_questions` read."""

import json
from pathlib import Path
from typing import Any

from onedial.asking.elicited import ELICITATION_FILE
from onedial.core.files import write_json, write_text
from onedial.core.run.files import write_csv
from onedial.panels.formats.imported_panel import ImportedPanel
from onedial.panels.panel_files import RESPONDENTS_FILE, load_panel
from onedial.panels.questions.question_files import load_questions

PANEL_FILE, QUESTIONS_FILE, REPORT_FILE = "panel.csv", "questions.jsonl", "import_report.json"
_INTEGERS = ("said_yes", "answered_correctly")


def write_imported(imported: ImportedPanel, folder: Path) -> None:
    """Write questions.jsonl, respondents.csv, import_report.json, where there is a confidence elicitation.yaml with its
    scale, and, last, panel.csv; then read them again.

    Args:
        folder: is made where it is not there; files of these names are written over.

    Raises:
        InputError: the logs hold what cannot be read back as a panel or as questions.

    >>> import tempfile
    >>> import pandas as pd
    >>> from onedial.panels import panel_from_logs, read_logs
    >>> folder = tempfile.TemporaryDirectory()
    >>> rows = pd.DataFrame({"model": ["m"], "question": ["Who wrote Emma?"], "raw_text": ["Yes"]})
    >>> rows.to_csv(Path(folder.name) / "log.csv", index=False)
    >>> runs = read_logs(Path(folder.name) / "log.csv")
    >>> write_imported(panel_from_logs(runs, "yes-no"), Path(folder.name) / "panel")
    >>> sorted(path.name for path in (Path(folder.name) / "panel").iterdir())
    ['import_report.json', 'panel.csv', 'questions.jsonl', 'respondents.csv']
    """
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for question in imported.questions:
        fields: dict[str, Any] = {"id": question.id, "question": question.text}
        if question.options:
            fields |= {"options": list(question.options), "answer": "".join(question.answers[:1])}
        else:
            fields["answers"] = list(question.answers)
        fields |= {"topic": question.topic} if question.topic else {}
        fields |= {"grading": question.grading} if question.grading != "text" else {}
        lines.append(json.dumps(fields, ensure_ascii=False) + "\n")
    write_text(folder / QUESTIONS_FILE, "".join(lines))
    write_json(folder / REPORT_FILE, imported.report)
    panel = imported.panel.assign(**{column: imported.panel[column].astype("Int64") for column in _INTEGERS})
    if panel["confidence"].notna().any():
        write_text(folder / ELICITATION_FILE, "top: 1   # a confidence is a share of what stands for certain\n")
    for name, table in ((RESPONDENTS_FILE, imported.respondents), (PANEL_FILE, panel)):
        write_csv(folder / name, table, float_format="%.8g")
    load_panel(folder / PANEL_FILE)
    load_questions(folder / QUESTIONS_FILE)
