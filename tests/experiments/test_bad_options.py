"""What a program cannot do it says in one sentence with exit code 2, before it writes anything or loads a model."""

import shlex

import pytest
from tiny_experiment import ROOT, call

__all__ = ["call"]
FILES = {
    "few.csv": "question_id,a,b\nq1,1,0\nq2,0,1\n",
    "constant.csv": "question_id,a,b,c\nq1,1,0,1\n",
    "perhaps.csv": "question_id,a,b,c\nq1,1,0,perhaps\n",
    "no_respondent.csv": "q,m1\nWho?,1\n",
    "no_family.csv": "model,kin\n",
    "half.csv": "model,family\na,x\n",
    "one.csv": "model,family\na,x\nb,x\n",
    "maybe.csv": "question_id,answer\nmade-0001,maybe\n",
    "elsewhere.csv": "question_id,answer\nelsewhere,yes\n",
    "twice.csv": "question_id,answer\nx,yes\nx,no\n",
    "words/association.csv": "word\nsea\n",
    "none/.keep": "",
}
REFUSED = {
    "ask_battery --instruments charm": "choose among choices",
    "ask_battery --vector v.safetensors": "go together",
    "ask_battery --n-each 3": "an even number",
    "ask_battery --model ,": "names no model",
    "ask_battery --vector v --magnitudes 1,1": "no list of different numbers",
    "ask_battery --model openai:gpt --vector v --magnitudes 1 --n-each 2": "cannot be steered",
    "ask_questionnaire --model ,": "names no model",
    "ask_questionnaire --questionnaire none.csv": "there is no questionnaire",
    "ask_self_prediction --model ,": "names no model",
    "ask_self_prediction --model a,b --families no_family.csv": "no column family",
    "ask_self_prediction --model a,b --families half.csv": "no family of b",
    "ask_self_prediction --model a,b --families one.csv": "two families",
    "export_panel embedded --to pyirt": "no format called 'pyirt'; did you mean 'py-irt'",
    "export_panel embedded --to py-irt --value saidyes": "did you mean 'said_yes'",
    "export_panel embedded --to inspect-scores": "holds 25; choose one with --respondent",
    "export_panel embedded --to py-irt --respondent gpt": "no respondent 'gpt'",
    "export_panel embeded --to py-irt": "did you mean 'embedded'",
    "export_panel embedded --to py-irt --out few.csv": "few.csv is taken; choose another name",
    "fit_factor constant.csv": "gave both yes and no",
    "fit_factor perhaps.csv": "perhaps",
    "fit_factor few.csv --replicates 1": "--replicates 1; give 0, or at least 2",
    "import_panel nowhere": "there is no file or folder nowhere",
    "import_panel few.csv --confidence-scale 0": "--confidence-scale 0; give 1, or 100",
    "import_panel few.csv --columns said_yes": "write OURS=THEIRS",
    "import_panel few.csv --format inspect": "few.csv",
    "import_panel no_respondent.csv": "has no column for the respondent",
    "import_panel no_respondent.csv --out few.csv": "few.csv is a file, but a run needs a folder",
    "place embedded --answers maybe.csv": "holds 'maybe'; answers are 1/0",
    "place embedded --answers elsewhere.csv": "none of the 1 questions of",
    "place embedded --answers twice.csv": "repeats the question 'x'",
    "place embedded --answers elsewhere.csv --evaluate": "not allowed with",
    "place embedded --next 0": "--next",
    "place few.csv": "error: ",
    "score_confidence nobody": "there is no panel called 'nobody'",
    "score_confidence perhaps.csv": "holds 'perhaps'",
    "score_self_prediction none": "none of association, restriction, difficulty",
    "score_self_prediction words": "no column model",
    "study_panel nobody": "there is no panel called 'nobody'",
}


@pytest.mark.parametrize(("line", "said"), REFUSED.items(), ids=list(REFUSED))
def test_what_cannot_be_done_is_said_before_anything_is_written(call, tmp_path, monkeypatch, line, said):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    before = sorted(tmp_path.rglob("*"))
    program, *options = shlex.split(line)
    ended = call(ROOT / "experiments" / f"{program}.py", *options, *([] if "--out" in options else ["--out", "out"]))
    assert ended.code == 2, ended.out
    assert said in ended.err
    assert "Traceback" not in ended.err
    assert sorted(tmp_path.rglob("*")) == before
