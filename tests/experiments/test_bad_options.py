"""What a program cannot do it says in one sentence with exit code 2, before it writes anything or loads a model."""

import shlex

import pytest
from tiny_experiment import ROOT

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
    "a/.keep": "",
}
WITHOUT_OUT = ("gate", "judge_run", "serve", "view")
REFUSED = {
    "ask battery --instruments charm": "choose among choices",
    "ask battery --questions maybe.csv": "say which column holds what: --columns question=COLUMN",
    "ask battery --questions maybe.csv --columns quest=answer": "did you mean 'question'",
    "ask battery --questions maybe.csv --columns question=answer --as arc": "--columns and --as exclude each other",
    "ask battery --questions maybe.csv --as arcc": "did you mean 'arc'",
    "ask battery --as arc": "--as goes with --questions",
    "ask battery --vector v.safetensors": "--magnitudes",
    "ask battery --n-each 3": "an even number",
    "ask battery --model ,": "names no model",
    "ask battery --vector v --magnitudes 1,1": "each of them once",
    "ask battery --model openai:gpt --vector v --magnitudes 1 --n-each 2": "cannot be steered",
    "ask written --instruments P(false)": "choose among",
    "ask questionnaire --model ,": "names no model",
    "ask questionnaire --questionnaire none.csv": "there is no questionnaire",
    "ask predict --model ,": "names no model",
    "ask predict --model a --tuned": "--model names 1",
    "ask predict --model a,openai:gpt --tuned": "openai:gpt is no model of this machine",
    "ask predict --model a,b --families no_family.csv": "is empty",
    "ask predict --model a,b --families half.csv": "no family of b",
    "ask predict --model a,b --families one.csv": "two families",
    "panel export embedded --to pyirt": "did you mean 'py-irt'",
    "panel export embedded --to py-irt --value saidyes": "said_yes",
    "panel export embedded --to py-irt --respondent gpt": "no respondent 'gpt'",
    "panel export embeded --to py-irt": "did you mean 'embedded'",
    "panel export embedded --to py-irt --out few.csv": "taken; choose another name",
    "study_panel --deep constant.csv": "gave both yes and no",
    "study_panel --deep perhaps.csv": "perhaps",
    "study_panel --deep few.csv --replicates 1": "--replicates 1: give 0, or at least 2",
    "panel import nowhere": "there is no file or folder nowhere",
    "panel import few.csv --confidence-scale 0": "--confidence-scale",
    "panel import few.csv --columns said_yes": "write OURS=THEIRS",
    "panel import few.csv --format inspect": "few.csv",
    "panel import no_respondent.csv": "no column question_id, id or question",
    "panel import no_respondent.csv --out few.csv": "few.csv is a file, but a run needs a folder",
    "serve --model smollm2-135m-instruct --host 192.0.2.1": "nothing can listen on 192.0.2.1:8000",
    "place embedded --answers maybe.csv": "holds 'maybe'; answers are 1/0",
    "place embedded --answers elsewhere.csv": "none of the 1 questions of",
    "place embedded --answers twice.csv": "repeats the question 'x'",
    "place embedded --answers elsewhere.csv --evaluate": "--answers and --evaluate exclude each other",
    "place embedded --next 0": "--next",
    "place few.csv": "error: ",
    "study_panel --confidence nobody": "there is no panel called 'nobody'",
    "study_panel --confidence perhaps.csv": "holds 'perhaps'",
    "ask score none": "none of association, restriction, difficulty",
    "ask score words": "no column 'model'",
    "study_panel --n-factors 2": "--n-factors goes with --deep",
    "study_panel --deep --confidence": "exclude each other",
    "study_panel nobody": "there is no panel called 'nobody'",
    "panel collect": "--respondents",
    "panel collect --respondents few.csv --shard 3/2": "--shard 3/2",
    "panel collect --respondents few.csv --budget 0": "--budget",
    "compare_dials --methods pca9": "--methods pca9: 'pca9' is not known; choose among mean_difference",
    "compare_dials --dials cut,prayer": "'prayer' is not known; choose among interventions",
    "compare_dials --layer 1+3": "names layers at once",
    "compare_dials --facts 7": "--facts 7: give an even number",
    "compare_dials --lora-rate 1": "--lora-rate",
    "compare_dials --passages 65": "--passages",
    "compare_runs a": "two runs or more",
    "compare_runs a a": "given twice",
    "compare_runs a nowhere": "holds no run",
    "ask profile": "give the folder of a finished sweep",
    "ask profile a --instruments mood": "choose among can you answer",
    "ask profile a --yes-rates 1.5": "--yes-rates",
    "ask profile a --magnitudes much": "--magnitudes",
    "ask profile a": "holds no run",
    "ask profile a --vector v.safetensors": "--vector and RUN exclude each other",
    "ask profile --vector v.safetensors --model m": "--magnitudes",
    "gate": "give a saved gate and questions, or --run",
    "gate --run a --beta 1 --yes-rate .5 --save out": "--beta and --yes-rate exclude each other",
    "gate --run a --save out": "give one of --beta",
    "gate --run a --beta 1": "--save",
    "gate out Who?": "there is no gate at",
    "judge_run nowhere": "holds no run",
    "judge_run nowhere --questions frontier-safe": "--panel",
    "judge_run": "RUN",
    "multiverse --contrasts response,wish": "'wish' is not known; choose among response, answer",
    "multiverse --layer 1+3": "names layers at once",
    "multiverse --wordings nutral": "did you mean",
    "multiverse --wordings neutral,neutral": "two prompts are named 'neutral'",
    "steer_sweep --tests interchange --layer 1+2": "--layer 1+2 names several",
    "steer_sweep --tests interchange --operator ablate": "--operator add",
    "steer_sweep --tests interchange --positions all": "--positions answer",
    "steer_sweep --tests interchange,mediator": "did you mean 'mediation'",
    "steer_sweep --controls 3 --layer 1+2": "--layer 1+2 names several",
    "steer_sweep --positions generated": "choose among answer, last, prompt, all",
    "steer_sweep --reasoned-settings 1": "--reasoned-settings",
    "steer_sweep --config nowhere.yaml": "there is no config file nowhere.yaml",
    "steer_sweep --config few.csv": "holds no options",
    "steer_sweep --methd lda": "--method",
    "train_probes --methods svm": "'svm' is not known; choose among logistic",
    "train_probes --stages nothing": "'nothing' is not known; choose among probes",
    "train_probes --stages use": "--stages use rests on the probes",
    "train_probes --facts 20": "--facts 20: give 40 or more",
    "train_probes --facts 101": "give an even number",
    "train_probes --step 0": "--step",
    "train_probes --statement-layers 0": "--statement-layers",
    "train_probes --folds 2": "--folds",
    "view nowhere": "is no folder",
    "view --port 0": "--port",
}


@pytest.mark.parametrize(("line", "message"), REFUSED.items(), ids=list(REFUSED))
def test_what_cannot_be_done_is_said_before_anything_is_written(call, tmp_path, monkeypatch, line, message):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    before = sorted(tmp_path.rglob("*"))
    program, *options = shlex.split(line)
    ended = call(
        ROOT / "experiments" / f"{program}.py",
        *options,
        *([] if "--out" in options or program in WITHOUT_OUT else ["--out", "out"]),
    )
    assert ended.code == 2, ended.out
    assert message in ended.err
    assert "Traceback" not in ended.err
    assert sorted(tmp_path.rglob("*")) == before
