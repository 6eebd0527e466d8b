"""What models were asked about themselves, as a log that `inspect view` opens: every single answer is a sample."""

from pathlib import Path

from onedial.asking.store import ANSWERS, Line, Store
from onedial.core.errors import InputError
from onedial.core.run.run import Run

try:
    from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, write_eval_log
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import Score
except ImportError:
    raise InputError("an Inspect log needs inspect_ai; run `pip install 'onedial[providers]'`") from None


def write_answer_log(run: Run, path: Path) -> tuple[int, int]:
    """Write every single answer of a run that asked models about themselves to a new file.

    A sample's score is the value on its instrument's scale, with margin, mass and probabilities; a text has none, nor
    has an answer that could not be read.

    Args:
        path: .eval (compressed) or .json.

    Returns:
        Samples, and how many of them have no score.

    Raises:
        InputError: the file's name ends otherwise, or nothing was asked yet.
    """
    if path.suffix not in (".eval", ".json"):
        raise InputError(f"{path}: an Inspect log ends in .eval or .json; give --out such a name")
    lines = [line for line in Store(run.path / ANSWERS).lines() if not line.get("error")]
    if not lines:
        raise InputError(f"{run.path} holds no answers yet; finish it with --resume, then export it")
    log = EvalLog(
        status="success",
        eval=EvalSpec(
            created=run.manifest.started,
            task="onedial ask",
            model=", ".join(dict.fromkeys(line["respondent"] for line in lines)),
            dataset=EvalDataset(name=str(run.path), samples=len(lines)),
            config=EvalConfig(),
            metadata={"commit": run.manifest.commit},
        ),
        samples=[_single(f"{line['occasion'] or 'asked'}-{number:06}", line) for number, line in enumerate(lines)],
    )
    write_eval_log(log, str(path))
    return len(lines), sum("value" not in line for line in lines)


def _single(name: str, line: Line) -> EvalSample:
    metadata: Line = {key: line[key] for key in ("margin", "mass", "probabilities") if key in line}
    scores = {line["instrument"]: Score(value=line["value"], metadata=metadata)} if "value" in line else None
    return EvalSample(
        id=name,
        epoch=1,
        input=line["prompt"],
        target="",
        output=ModelOutput.from_content(line["respondent"], line.get("raw_text", "")),
        scores=scores,
        metadata={
            **{key: line[key] for key in ("respondent", "instrument")},
            **{"test": line["occasion"], "seed": line["sample"]},
        },
    )
