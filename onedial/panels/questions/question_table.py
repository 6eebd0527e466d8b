"""How people write questions, their options and their keys, told from the columns: files and folders may have any name.

    question    `ROLES` lists the names under which each part is found, in any case and spelling ("Correct Answer",
                correctAnswer); a question that is an object holds them itself ({"stem": ..., "choices": [...]})
    options     one column: a list; an object by label; {"text": [...], "label": [...]}; objects with a label and a
                text; text with | between, or lettered; a list that was written as text. Or a column for each
                (option_a, opa, choice1, A). Or the right answer and wrong ones. Or in the question: "(A) iron (B) wood"
    key         the option's label, its text, or its place from 0 or 1: whatever fits all rows of the column
    answers     a list, text with | between, a list that was written as text, {"text": [...]}, {"value": ..., "aliases":
                [...]}; of a worked solution what follows #### or is boxed last (graded as a number)

Options come in the order of their labels and are asked as lines "A) ...". Where the right answer is told from wrong
ones, the order is by a hash of question and option: the right one stands anywhere, and always in the same place. Where
a key can be read in two ways, which one was taken is said. Columns that look like options and are not understood are
refused, and so is code (HumanEval, MBPP): what a program does shows only when it runs, and nothing that a model wrote
is run here. A passage stays out, which is said.

What is written otherwise takes a function from a row to a question, and an entry of `layouts.LAYOUTS` in a plugin.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from onedial.asking.questions import Question, normalised_text, question_id
from onedial.asking.tables import Table, is_blank, listed, name_of, text_of
from onedial.core.errors import InputError
from onedial.core.notices import notice
from onedial.panels.columns import Columns, has_words, is_number, simple
from onedial.panels.grading.choice_grading import GRADERS
from onedial.panels.questions.cells import TRUTH, answers_of, clean_text, final_answer_of, is_empty, list_in_text
from onedial.panels.questions.options import (
    READINGS,
    Options,
    choice_question,
    key_of,
    options_in,
    options_of,
    options_within,
    right_places,
    stem_before,
)
from onedial.panels.questions.prompts import PROMPTS, bare_questions, say_what_may_be_shared

ROLES = {
    "question": (
        "question problem questions question_text question_stem stem query goal sentence ctx startphrase front ques "
        "instruction input prompt text"
    ),
    "id": "id question_id qid record_id unique_id uid",
    "answers": (
        "answers answer possible_answers best_answer correct_answers correct_answer right_answer gold_answer "
        "ground_truth target back ideal reference references expected_answer reference_answer gold_answers output "
        "solution"
    ),
    "aliases": "aliases answer_aliases correct_answers",
    "options": (
        "choices options mc1_targets endings answer_choices answer_options alternatives possible_choices target_scores "
        "candidates all_answers"
    ),
    "right": "correct_answer best_answer right_answer correct correct_answers answer",
    "wrong": "incorrect_answers wrong_answers distractors incorrect incorrect_options wrong",
    "topic": "topic subject category subject_name topic_name high_level_domain",
    "level": "level difficulty",
    "solution": "solution",
    "unknowable": "unknowable unanswerable unknown is_unanswerable is_unknown is_unknowable",
    "answerable": "answerable is_answerable",
    **{name: name for name in ("exact_answers", "grading", "wording_of")},
}
"""What a question has, and the names of columns that hold it (`onedial.panels.columns.simple`)."""
_NTH = r"(?:key|idx|index|id|letter|label|number|num|position)"
_KEY = re.compile(
    rf"(?:correct|right|gold)(?:_(?:answer|option|choice|alternative|ending)s?)?(?:_{_NTH})?(?:_s)?"
    rf"|(?:answer|ans)(?:_{_NTH})?|answers|cop|label|target|key"
)
_SURELY_A_KEY = re.compile(rf".+_{_NTH}|(?:correct|right|gold)_(?:option|choice|alternative|ending)s?|cop|gold")
_NO_OPTIONS = {"label", "correct", "key", "target", "gold", "ans", "answer", "answers"}
_COUNTS_FROM_0 = re.compile(r"(?:_|^)(?:index|idx|label|gold|cop)$")
"""Names of keys that count places, also where the options' columns are numbered from 1 (PIQA)."""
_FAMILY = re.compile(r"(option|choice|ending|alternative|answer|ans|opt|op|sol|)_?(\d{1,2}|[a-z])")
_OPTIONS_WITHOUT_A_KEY = ("option", "choice", "ending", "alternative", "sol")
_WRONG = re.compile(r"(?:(?:incorrect|wrong|false)(?:_(?:answer|option|choice))?|distractor)_?\d+")
_LIKE_OPTIONS = re.compile(
    r"option|choice|distractor|alternative|incorrect|wrong|candidate|targets$|^(?:opt?|answer)_?[a-e1-9]$|^[a-d]$"
)
_LIKE_KEYS = re.compile(r"correct|(?:^|_)(?:key|gold|label|cop)$|answer_?(?:key|idx|index|id)$")
_PASSAGES = (
    *("context", "passage", "article", "premise", "body", "narrative", "story", "document", "paragraph", "dialogue"),
    *("given_info", "background", "background_description", "hint", "image", "images", "audio"),
)
_LEVELS = {"easy": 1, "medium": 2, "hard": 3}
_TOPIC_IN_TEXT = re.compile(r"['\"]topic['\"]\s*:\s*['\"]([^'\"]+)['\"]")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_LIKE_ANSWERS = re.compile(r"ans(?:wer)?|truth|gold|target|label")
"""Where no answers are found, also columns of numbers that are called so are named."""
_REMARK = re.compile(r"\w\s+[(\[][^()\[\]]*[^\W\d]{2}[^()\[\]]*[)\]]")
_SEVERAL = re.compile(r"\w\s*;\s*\w|\w\s+(?:/|\|\||or|aka)\s+\w|\w[^\S\n]*\n\s*\w")
_ANSWERS = (answers_of, "give a list of texts, or one text with | between answers")
_TRUTH_OR_BLANK = "give true or false, or leave it blank"
_A_LIST = "give a list, an object by letter, or text with | between"


def read_questions(table: Table) -> tuple[list[Question], bool]:
    """Every row as a question, and whether the table gives their ids; raises InputError (`layouts.questions_of`)."""
    columns = Columns(_unnested(table), ROLES)
    if (name := columns.found.get("question")) is None:
        raise InputError(
            f"{table.path} has no column 'question'; it holds {listed(map(str, columns.frame.columns))}: "
            "rename the column that is meant, or add a layout (--plugin)"
        )
    if simple(name) == "instruction" and has_words(columns.frame.get("input", pd.Series(dtype=object))):
        raise InputError(f"{table.path} has an input to each instruction; join the two in a column `question`")
    if simple(name) not in ("question", "problem"):
        notice(f"{table.path}: the column {name!r} is taken for the questions' text")
    texts = columns.parse("question", _question_text, f"write the question as text, or remove the {table.unit}")
    if simple(name) in PROMPTS:
        texts, template = bare_questions(texts)
        if shared := [part for part in (template.before, template.after) if part]:
            notice(f"{table.path}: all prompts share {listed(shared)}, which is taken away")
        say_what_may_be_shared(str(table.path), texts)
    known: dict[str, list[Any]] = {"topic": _topics(columns), "level": _levels(columns)}
    known |= {part: columns.parse(part, *how) for part, how in _PARTS.items()}
    if "answerable" in columns.found and "unknowable" not in columns.found:
        known["unknowable"] = [not can for can in columns.parse("answerable", _answerable, _TRUTH_OR_BLANK)]
    if "id" in columns.found:
        known["id"] = columns.parse("id", name_of, "give every question an id (text or a number), or leave it out")
    texts, options = _options(columns, texts)
    questions = _open_questions(columns, texts, options)
    if options is not None:
        questions = _choices(columns, texts, options, questions)
    known["grading"] = [given or own.grading for given, own in zip(known["grading"], questions, strict=True)]
    _say_what_stays_out(columns, texts, any(own.answers for own in questions))
    rows = enumerate(questions)
    return [replace(own, **{part: cells[row] for part, cells in known.items()}) for row, own in rows], "id" in known


# ---- options ---------------------------------------------------------------------------------------------------------

Found = list[Options | None]


def _options(columns: Columns, texts: list[str]) -> tuple[list[str], Found | None]:
    """The questions without options within their texts, and the options of each; None where there are none."""
    for read in (_listed, _in_answers, _in_columns, _right_and_wrong):
        if (options := read(columns)) is not None:
            return _without_shown(columns, texts, options), options
    if names := columns.unread(_LIKE_OPTIONS):
        raise InputError(
            f"{columns.table.path} has columns that look like options, but are not understood ({listed(names)}): give "
            "`options` (a list, or text with | between) and `answer`, or leave these columns out to ask bare questions"
        )
    within = [found for found in map(options_within, texts) if found is not None]
    if len(within) == len(texts):
        stems, found = [stem for stem, _ in within], [own for _, own in within]
        keys = ([key_of(cell) for cell in columns.frame[name]] for name in _key_columns(columns))
        if any(right_places(own, found, None, None) for own in keys):
            return stems, list(found)
    return texts, None


def _without_shown(columns: Columns, texts: list[str], options: Found) -> list[str]:
    """The questions without options that their texts show as well, as they are asked with them once (AGIEval)."""
    bare = [text if own is None else stem_before(text, own) for text, own in zip(texts, options, strict=True)]
    if n_shown := sum(text != own for text, own in zip(texts, bare, strict=True)):
        notice(
            f"{columns.table.path}: {n_shown} of {len(texts)} questions show their options in their texts already; "
            "from there on the text is left out, and the options are asked once"
        )
    return bare


def _listed(columns: Columns) -> Found | None:
    """A column that holds the options of each question."""
    name = columns.found.get("options")
    if name is None or all(map(is_empty, columns.frame[name])):
        return None
    return _parsed(columns, name)


def _in_answers(columns: Columns) -> Found | None:
    """The same in a column of answers, where these are objects with a label or a truth, stand by label, or are lists
    of texts of which another column names one (ReClor, QuAIL)."""
    name = columns.found.get("answers")
    cells = [] if name is None else [list_in_text(cell) for cell in columns.frame[name] if not is_empty(cell)]
    by_label = all(isinstance(cell, dict) and not {"text", "value"} & cell.keys() for cell in cells)
    parted = all(
        isinstance(cell, list) and all(isinstance(each, dict) and len(each) > 1 for each in cell) for cell in cells
    )
    if not cells or name is None or not (by_label or parted or _are_keyed(columns, name, cells)):
        return None
    return _parsed(columns, name)


def _are_keyed(columns: Columns, name: str, lists: Sequence[Any]) -> bool:
    """Whether each list has several texts, and some column that is called like a key names one of each."""
    if len(lists) < len(columns.frame) or not all(isinstance(own, list) and len(own) > 1 for own in lists):
        return False
    if not all(isinstance(text, str) for own in lists for text in own):
        return False
    options = [options_in(own) for own in lists]
    keys = ([key_of(cell) for cell in columns.frame[key]] for key in _key_columns(columns) if key != name)
    return any(right_places(own, options, None, None) is not None for own in keys)


def _parsed(columns: Columns, name: str) -> Found:
    columns.read.add(name)
    found: Found = []
    for row, cell in enumerate(columns.frame[name]):
        try:
            found.append(None if is_empty(cell) else options_in(cell))
        except (ValueError, TypeError) as error:
            where = columns.table.where(row, name)
            raise InputError(f"{where} cannot be read as options ({error}); {_A_LIST}") from error
    return found


def _in_columns(columns: Columns) -> Found | None:
    """A column for each option, whose label is the end of its name."""
    families: dict[str, dict[str, str]] = defaultdict(dict)
    for name, column in columns.column.items():
        if (match := _FAMILY.fullmatch(name)) and column not in families[match[1]].values():
            families[match[1]][match[2]] = column
    for prefix, held in families.items():
        start = next((start for start in ("a", "0", "1") if start in held), None)
        labels = [] if start is None else [_after(start, place) for place in range(len(held))]
        members = {label: held[label] for label in labels if label in held}
        cells = [columns.table.parse(column, clean_text, "give an option as text") for column in members.values()]
        rows = zip(*cells, strict=True)
        options = [options_of([(*each, None) for each in zip(members, own, strict=True)]) for own in rows]
        if len(members) > 1 and (prefix in _OPTIONS_WITHOUT_A_KEY or _have_a_key(columns, prefix, members, options)):
            columns.read.update(members.values())
            columns.numbered = start == "1"
            return list(options)
    return None


def _have_a_key(columns: Columns, prefix: str, members: Mapping[str, str], options: Sequence[Options]) -> bool:
    """Whether some column is a key to these, which may be kept back; columns A and B may be respondents."""
    named = [
        column for name, column in columns.column.items() if _KEY.fullmatch(name) and column not in members.values()
    ]
    keys = [[key_of(cell) for cell in columns.frame[name]] for name in dict.fromkeys(named)]
    keys = [own for own in keys if any(key is not None for key in own)]
    if prefix or not keys:
        words = all(has_words(columns.frame[column]) for column in members.values())
        return bool(named) and (bool(prefix) or words)
    given = [{str(key).casefold() for key in own if key is not None} for own in keys]
    return any(own <= {label.casefold() for label in members} for own in given) or any(
        right_places(own, options, None, None) for own in keys
    )


def _right_and_wrong(columns: Columns) -> Found | None:
    """The right answer of each question, and wrong ones in a column or several."""
    one, right = columns.found.get("wrong"), columns.found.get("right")
    several = [column for name, column in sorted(columns.column.items()) if _WRONG.fullmatch(name)]
    if right in (None, one) or not (one or several):
        return None
    names = list(dict.fromkeys([one] if one else several))
    columns.read.update([*names, columns.found.get("aliases", "")])
    found: Found = []
    for row, own in enumerate(columns.parse("right", *_ANSWERS)):
        if not own:
            raise InputError(f"{columns.table.where(row, right)} is blank, beside wrong answers; give the right one")
        wrong: list[str] = []
        for name in names:
            try:
                wrong += _wrong_answers(columns.frame[name][row], bool(one))
            except ValueError as error:
                raise InputError(f"{columns.table.where(row, name)} {error}; {_ANSWERS[1]}") from error
        found.append(Options((own[0], *dict.fromkeys(text for text in wrong if text not in own)), right=0))
    return found


def _wrong_answers(cell: Any, are_several: bool) -> Sequence[str]:
    """The wrong answers of a cell; of a column of several at once they may stand with semicolons between."""
    found = () if is_empty(cell) else answers_of(cell)
    if not are_several or len(found) != 1 or not isinstance(cell, str):
        return found
    if "," in found[0] and ";" not in found[0]:
        raise ValueError(f"holds {found[0]!r}, which may be one answer or several")
    return [text.strip() for text in found[0].split(";") if text.strip()]


# ---- keys ------------------------------------------------------------------------------------------------------------


def _key_columns(columns: Columns) -> list[str]:
    """The columns that are called like a key, hold something, and were not read as something else."""
    named = sorted(filter(_KEY.fullmatch, columns.column), key=lambda name: not _SURELY_A_KEY.fullmatch(name))
    names = dict.fromkeys(columns.column[name] for name in named)
    left = [name for name in names if name not in columns.read or name == columns.found.get("answers")]
    return [name for name in left if any(key_of(cell) is not None for cell in columns.frame[name])]


def _choices(columns: Columns, texts: Sequence[str], options: Found, bare: Sequence[Question]) -> list[Question]:
    """The questions with their options, and the right one where it is told; those without options as they are."""
    rows = [row for row, own in enumerate(options) if own is not None]
    own = {row: options[row] or Options(()) for row in rows}
    if all(each.right is None for each in own.values()):
        rights = _rights(columns, rows, [own[row] for row in rows])
        own = {row: replace(own[row], right=right) for row, right in zip(rows, rights, strict=True)}
    else:
        own = {row: each.in_an_order_that_does_not_tell(texts[row]) for row, each in own.items()}
    if without := sum(each.right is None for each in own.values()):
        notice(f"{columns.table.path}: of {without} of {len(own)} questions the right option is not told")
    made = {
        row: choice_question(texts[row], each.texts, each.right, where=columns.table.where(row))
        for row, each in own.items()
    }
    return [made.get(row, question) for row, question in enumerate(bare)]


def _rights(columns: Columns, rows: Sequence[int], options: Sequence[Options]) -> list[int | None]:
    """The right option of each row by the columns of keys that are understood, which must agree."""
    names, known = _key_columns(columns), {}
    for name in names:
        counts = _COUNTS_FROM_0.search(simple(name)) is not None
        keys = [key_of(columns.frame[name][row]) for row in rows]
        where = f"{columns.table.path}: the key {name!r}"
        first = "as a place, from 0" if counts and columns.numbered else None
        if (places := right_places(keys, options, first, where, counts)) is not None:
            known[name] = places
    if names and not known:
        _refuse_keys(columns.table, names[0], rows, options)
    columns.read.update(known)
    found: list[int | None] = []
    for place, row in enumerate(rows):
        told = {own[place]: name for name, own in reversed(known.items()) if own[place] is not None}
        if len(told) > 1:
            texts = options[place].texts
            both = " and ".join(f"{texts[right or 0]!r} ({name})" for right, name in reversed(told.items()))
            raise InputError(
                f"{columns.table.where(row)} gives two right options, {both}; correct one, or leave out its column"
            )
        found.append(next(iter(told), None))
    return found


def _refuse_keys(table: Table, name: str, rows: Sequence[int], options: Sequence[Options]) -> None:
    """Say which key is none; raises InputError always."""
    for row, own in zip(rows, options, strict=True):
        key = key_of(table.frame[name][row])
        if key is not None and all(read(key, own) is None for read in READINGS.values()):
            raise InputError(
                f"{table.where(row)} gives the answer {table.frame[name][row]!r}, which is no letter, text or place of "
                f"its {len(own.texts)} options"
            )
    raise InputError(
        f"{table.where(0)}: the key {name!r} is here a label, there a text or a place, and no reading fits every row; "
        "write all of them as letters"
    )


# ---- without options -------------------------------------------------------------------------------------------------


def _open_questions(columns: Columns, texts: Sequence[str], options: Found | None) -> list[Question]:
    """The questions with their accepted answers, of all rows that have no options."""
    rows = [row for row in range(len(texts)) if options is None or options[row] is None]
    bare = [Question(question_id(text), text) for text in texts]
    if not rows:
        return bare
    name, where = columns.found.get("answers"), columns.table
    cells = {row: None if name is None else columns.frame[name][row] for row in rows}
    ends = {row: final_answer_of(cell) for row, cell in cells.items()}
    solved = columns.parse("solution", lambda cell: final_answer_of(text_of(cell)), "give the solution as text")
    without = next((row for row in rows if ends[row] is None), None)
    if (
        "problem" in columns.column
        and name is not None
        and name == columns.found.get("solution")
        and without is not None
    ):
        raise InputError(f"{where.where(without)} has no answer: its solution boxes none")
    is_solved = any(ends.values()) or any(solved)  # there |x| is one answer, not three
    read = (lambda cell: _whole(final_answer_of(cell) or cell)) if is_solved else answers_of
    part = replace(
        where, frame=where.frame.loc[rows].reset_index(drop=True), places=[where.places[row] for row in rows]
    )
    accepted = [[*own] for own in part.parse(name or "", read, _ANSWERS[1])]
    more = part.parse(columns.found.get("aliases", ""), *_ANSWERS)
    columns.read.update({name or "", columns.found.get("aliases", "")})
    shown = [texts[row] for row in rows]
    if not is_solved:
        _say_what_may_be_several(where, accepted)
    if options is None:
        _refuse_keys_without_options(columns, accepted, shown)
    given = {answer.casefold() for own in accepted for answer in own}
    is_truth = (
        bool(given) and given <= {"true", "false"} and not any(re.search(r"(?i)\btrue\b", text) for text in shown)
    )
    if is_truth:
        notice(f"{where.path}: the answers true and false are taken for yes and no")
    for place, row in enumerate(rows):
        own = tuple(dict.fromkeys([*accepted[place], *more[place]])) or ((solved[row],) if solved[row] else ())
        grading = "number" if ends[row] or solved[row] else "text"
        if is_truth and own:
            own = ("yes" if own[0].casefold() == "true" else "no",)
        bare[row] = replace(bare[row], answers=own, grading=grading)
    return bare


def _say_what_may_be_several(table: Table, answers: Sequence[Sequence[str]]) -> None:
    """Lone answers with another mark between texts than |, as in "Ann; Anna"."""
    several = [own[0] for own in answers if len(own) == 1 and _SEVERAL.search(own[0])]
    if several:
        notice(
            f"{table.path}: {len(several)} of {len(answers)} answers may be several, such as {several[0]!r}; "
            "each is taken for one: write | between answers, or a list"
        )
    if remarks := [own[0] for own in answers if len(own) == 1 and _REMARK.search(own[0])]:
        notice(
            f"{table.path}: {len(remarks)} of {len(answers)} answers hold a remark in brackets, such as "
            f"{remarks[0]!r}; an answer without it counts as wrong: write | between accepted answers"
        )


def _refuse_keys_without_options(columns: Columns, answers: Sequence[Sequence[str]], texts: Sequence[str]) -> None:
    """Letters alone, or a column that is called like a key, belong to options, if not to some in the texts."""
    given = [answer for own in answers for answer in own]
    names = [name for name in _key_columns(columns) if _SURELY_A_KEY.fullmatch(simple(name))]
    letters = [len(own) == 1 and own[0] in "ABCDE" for own in answers]
    if names and not given:
        name = names[0]
    elif len(answers) > 1 and all(letters):
        name = columns.found["answers"]
    else:
        return
    raise InputError(
        f"{columns.table.path}: the column {name!r} is a key to options, and none are found; give `options` (a list, "
        "or text with | between), or answers in words"
    )


# ---- what else is known ----------------------------------------------------------------------------------------------


def _topics(columns: Columns) -> list[str | None]:
    """The topic's name; None where there is none."""
    name = columns.found.get("topic") or (columns.column.get("type") if "problem" in columns.column else None)
    if name is None and "metadata" in columns.column:
        found = [_TOPIC_IN_TEXT.search(str(cell)) for cell in columns.frame[columns.column["metadata"]]]
        return [None if match is None else match[1] for match in found]
    if name is None or name == "topic":
        return columns.parse("topic", text_of, "give text, or leave it blank")
    return [None if isinstance(cell, bool | list | dict) else text_of(cell) for cell in columns.frame[name]]


def _levels(columns: Columns) -> list[int | None]:
    """Whole numbers; easy, medium and hard as 1 to 3; other words are left out. What words became is said."""
    name, path = columns.found.get("level", "level"), columns.table.path
    cells: Iterable[Any] = columns.frame.get(name, [])
    words = {cell.strip().casefold() for cell in cells if isinstance(cell, str) and not is_blank(cell)}
    words = {word for word in words if not is_number(word)}
    known = {word: int(match[1]) for word in words if (match := re.fullmatch(r"(?:level|grade)\s*(\d+)", word))}
    if words and words <= set(_LEVELS):
        known = {word: _LEVELS[word] for word in words}
        notice(f"{path}: the levels are {', '.join(f'{word} = {known[word]}' for word in sorted(words))}")
    if strange := sorted(words - set(known)):
        notice(
            f"{path}: the column {name!r} holds words whose order is not known ({listed(strange, 3)}); no levels are "
            "taken from it"
        )
    if strange or (not words and simple(name) == "difficulty"):
        return [None] * len(columns.frame)
    return columns.parse("level", lambda cell: _level(cell, known), "give a whole number, or leave it blank")


def _say_what_stays_out(columns: Columns, texts: Sequence[str], have_answers: bool) -> None:
    """Passages, columns that look like keys or options, and HTML; where there are no answers, whatever is not read."""
    where = columns.table.path
    if passages := dict.fromkeys(column for name, column in columns.column.items() if name in _PASSAGES):
        notice(f"{where}: the passages ({listed(passages)}) stay out; questions are asked without them")
    likely = (_LIKE_OPTIONS, _LIKE_KEYS) if have_answers else (re.compile(""),)
    unread = columns.unread(*likely)
    if not have_answers:
        unread += [column for column in columns.unread(_LIKE_ANSWERS, of_words=False) if column not in unread]
    if unread and not have_answers:
        notice(f"{where}: no answers are found; the columns {listed(unread)} are not read (rename what holds them)")
    elif unread:
        notice(f"{where}: the columns {listed(unread)} look like options or keys, and are not read")
    if tagged := sum(bool(_TAG.search(text)) for text in texts):
        notice(f"{where}: {tagged} of {len(texts)} questions hold HTML, which is asked as it stands")


def of_a_long_panel(table: Table) -> list[str]:
    """The columns of a long panel that tell of its questions: known ones, and options that are alike in all rows of
    a question."""
    frame, known = table.frame, {*ROLES, "text", "answer", "question_id"} - {"aliases", "options", "right", "wrong"}
    options = {*ROLES["options"].split(), *ROLES["wrong"].split()}
    key = next((name for name in ("question_id", "id", "question", "text") if name in frame), None)
    likely = [
        name
        for name in map(str, frame)
        if _LIKE_OPTIONS.search(simple(name))
        or simple(name) in options
        or (_KEY.fullmatch(simple(name)) and simple(name) not in _NO_OPTIONS)
    ]
    if key is None or not frame[key].astype(str).duplicated().any():
        likely = []
    alike = [name for name in likely if (frame[name].astype(str).groupby(frame[key].astype(str)).nunique() == 1).all()]
    return [name for name in map(str, frame) if name in (*known, *alike)]


def _unnested(table: Table) -> Table:
    """The table with the parts of questions that are objects as its own columns."""
    name = next((name for name in table.frame.columns if simple(str(name)) == "question"), None)
    cells = [] if name is None else [list_in_text(cell) for cell in table.frame[name]]
    if not cells or not all(isinstance(cell, dict) for cell in cells):
        return table
    parts = pd.DataFrame(cells, dtype=object)
    frame = table.frame.drop(columns=name)
    added = parts[[column for column in parts.columns if column not in frame.columns]]
    return replace(table, frame=pd.concat([frame, added], axis=1))


def _after(start: str, place: int) -> str:
    """The label so many places after the first."""
    return str(int(start) + place) if start.isdigit() else chr(ord(start) + place)


def _question_text(cell: Any) -> str:
    text = clean_text(cell) if isinstance(list_in_text(cell), str) else None
    if text is None or not normalised_text(text):
        raise ValueError("no text, or text without words")
    return text


def _whole(cell: Any) -> tuple[str, ...]:
    text = clean_text(cell)
    return () if text is None else (text,)


def _level(cell: Any, words: Mapping[str, int]) -> int | None:
    if is_blank(cell):
        return None
    if isinstance(cell, str) and cell.strip().casefold() in words:
        return words[cell.strip().casefold()]
    if isinstance(cell, bool | list | dict) or not float(cell).is_integer():
        raise ValueError("not a whole number")
    return int(float(cell))


def _unknowable(cell: Any) -> bool:
    if not is_blank(cell) and (value := TRUTH.get(str(cell).strip().lower())) is None:
        raise ValueError("neither true nor false")
    return not is_blank(cell) and bool(value)


def _answerable(cell: Any) -> bool:
    return is_blank(cell) or _unknowable(cell)


def _grading(cell: Any) -> str | None:
    name = text_of(cell)
    if name is not None and name not in GRADERS:
        raise ValueError("no such grader")
    return name


_PARTS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "unknowable": (_unknowable, _TRUTH_OR_BLANK),
    "exact_answers": _ANSWERS,
    "wording_of": (text_of, "give a name that the wordings of one question share, or leave it blank"),
    "grading": (_grading, f"give {', '.join(GRADERS)}, or leave it blank for text"),
}
"""How the cells of a part are read that has one name only, and what to give instead."""
