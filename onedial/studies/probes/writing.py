"""The probes of the main labels, token by token while the model reasons: writing.csv, tokens_written.parquet."""

from onedial.asking.instruments import reasoned
from onedial.core.progress import progress_bar
from onedial.studies.probes.probes_study import Study
from probes.while_writing import TOKEN_COLUMNS, course_of, read_while_writing

AT_ONCE = 32
"""Questions that are answered, and kept, together."""


def writing_stage(study: Study) -> None:
    """Some questions of all topics, answered with reasons before the yes or no; what is kept is not written again."""
    if not study.options.n_reasoned:
        return
    layer = study.one_layer
    rows, fitted = study.rows(layer), study.probes_at(layer)[study.options.methods[0]]
    probes = {label: fitted[label] for label in study.main_labels}
    by_id = {question.id: question for question in study.questions}
    asked = [by_id[question] for question in study.spread_over_topics(study.options.n_reasoned)]
    parts = study.run.parts("written", TOKEN_COLUMNS, ["question_id", "place", "label"])
    done = parts.done("question_id")
    shares = [asked[first : first + AT_ONCE] for first in range(0, len(asked), AT_ONCE)]
    left = [share for share in shares if not any(question.id in done for question in share)]
    with progress_bar(sum(map(len, left)), "reasoned answers") as advance:
        for share in left:
            instrument = reasoned(study.template)
            parts.append(read_while_writing(study.model, share, probes, layer, rows, instrument, progress=advance))
    tokens = parts.read()
    study.run.write_table("tokens_written.parquet", tokens)
    course = course_of(tokens, n_bootstrap=study.options.replicates, seed=study.options.seed)
    study.run.write_table("writing.csv", course.assign(layer=layer))
