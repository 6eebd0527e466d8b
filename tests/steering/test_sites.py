"""What attention and MLP add to the stream, read and steered, and at which token: as bare hooks on one prompt say."""

from dataclasses import replace

import pytest
import torch
from tiny_models import byte_tokenizer, tiny_hf, tiny_model, vectors_at

from onedial.asking.prompts import METACOGNITIVE, Prompt, PromptTemplate
from onedial.asking.questions import Question
from onedial.core.errors import InputError
from onedial.core.notices import Notice
from onedial.models.forward.activations import places_of, read_activations
from onedial.models.forward.runner import FastRunner, PlainRunner
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet
from onedial.models.tensor_files import write_tensors
from steering.interventions import FORMAT, Intervention, SteeringVector
from steering.operators import OPERATORS
from steering.sweeping import sweep
from steering.texts import vector_from_texts
from steering.vectors import extract_vector, random_vector

PARTS = {
    "llama": ("layers.{}.self_attn", "layers.{}.mlp", 1.0),
    "gemma3": ("layers.{}.post_attention_layernorm", "layers.{}.post_feedforward_layernorm", 1.0),
    "olmo2": ("layers.{}.post_attention_layernorm", "layers.{}.post_feedforward_layernorm", 1.0),
    "gpt_neox": ("layers.{}.attention", "layers.{}.mlp", 1.0),
    "cohere2": ("layers.{}.self_attn", "layers.{}.mlp", 1.0),
    "falcon": ("h.{}.self_attention", "h.{}.mlp", 1.0),
    "granite": ("layers.{}.self_attn", "layers.{}.mlp", 0.22),
    "gpt_oss": ("layers.{}.self_attn", "layers.{}.mlp", 1.0),
    "gpt_neo": ("h.{}.attn", "h.{}.mlp", 1.0),
}
"""Modules of a decoder that put out what is added to the stream, times a number: written down by hand."""
OTHERS = {"cohere2": dict(model_type="cohere2", sliding_window=16, logit_scale=0.25), "olmo2": dict(model_type="olmo2")}
PLAIN = {"gpt_neo"}
"""Its fast path is not right."""
QUESTIONS = [
    Question("short", "Who is Anna?"),
    Question("long", "What is the capital of France, and why does Anna live there?"),
]
MAGNITUDES = (-0.6, 0.0, 0.8)


@pytest.fixture(scope="module", params=sorted(PARTS))
def model(request):
    form = request.param
    hf = tiny_hf("llama", **OTHERS[form]) if form in OTHERS else tiny_hf(form)
    return OpenModel(hf, byte_tokenizer(), name=form)


@pytest.fixture(scope="module")
def prompts(model):
    return PromptSet.build(model, QUESTIONS, PromptTemplate("{question} Yes or No?", "Answer:"))


def part_of(model, site, layer):
    """The module of a site, and what its output is multiplied by."""
    if site == "resid":
        return model.stack.layers[layer], 1.0
    attn, mlp, times = PARTS[model.identity.name]
    return model.stack.module.get_submodule((attn if site == "attn" else mlp).format(layer)), times


def bare_steps(model, ids, intervention, magnitude, n_new, begins=None):
    """The logits of so many greedy steps, each by a whole forward with bare hooks, and the tokens they give.

    Edited are the columns from `begins` on; by default from the prompt's last, or all, as the intervention says.
    """
    ids = list(ids)
    begins = (len(ids) - 1 if intervention.reads_at == "last" else 0) if begins is None else begins

    def hook_of(vector, times):
        def hook(module, args, output):
            written = (output[0] if isinstance(output, tuple) else output).clone()
            pushed = OPERATORS[intervention.operator](
                written[:, begins:] * times, vector.direction, torch.tensor(magnitude), vector.residual_norm
            )
            written[:, begins:] = pushed / times
            return (written, *output[1:]) if isinstance(output, tuple) else written

        return hook

    places = [(vector, *part_of(model, vector.site, vector.layer)) for vector in intervention.vectors]
    handles = [module.register_forward_hook(hook_of(vector, times)) for vector, module, times in places]
    steps = []
    try:
        for _ in range(n_new):
            with torch.no_grad():
                steps.append(model.hf(input_ids=torch.tensor([ids]), use_cache=False).logits[0, -1].float())
            ids.append(int(steps[-1].argmax()))
    finally:
        for handle in handles:
            handle.remove()
    return steps, ids[-n_new:]


def at_site(model, site, layer, seed=0):
    return replace(vectors_at(model, [layer], seed)[0], site=site)


def kinds_of(model):
    """Sites, layers, operators and positions, one of each at least; and several places at once."""
    attn, mlp, first = at_site(model, "attn", 2), at_site(model, "mlp", 3, seed=1), at_site(model, "attn", 0)
    top, stream = at_site(model, "mlp", model.n_layers - 1), vectors_at(model, [2], seed=2)[0]
    return [
        Intervention.of(attn, positions="answer"),
        Intervention.of(attn, positions="all", operator="ablate", intervention_id="attn all"),
        Intervention.of(mlp, positions="answer", operator="clamp"),
        Intervention.of(mlp, positions="all", intervention_id="mlp all"),
        Intervention.of(top, positions="answer", operator="rotate"),
        Intervention.of(attn, stream, mlp, positions="answer", intervention_id="three"),
        Intervention.of(attn, stream, mlp, positions="all", intervention_id="three all"),
        Intervention.of(first, positions="last", intervention_id="first"),
    ]


def test_a_sweep_at_a_site_is_what_bare_hooks_say(model, prompts):
    for pushed in kinds_of(model):
        table = sweep(model, pushed, prompts, MAGNITUDES).table
        for row in table.itertuples():
            ids = prompts.sequences[prompts.question_ids.index(row.question_id)]
            (logits,), _ = bare_steps(model, ids, pushed, row.magnitude, 1)
            yes, no = (logits[list(tokens)].logsumexp(0) for tokens in (prompts.tokens.yes, prompts.tokens.no))
            assert row.margin == pytest.approx(float(yes - no), abs=1e-4 * max(1.0, float(logits.abs().max())))
        moved = table.groupby("question_id")["margin"].agg(lambda margins: margins.max() - margins.min())
        assert moved.min() > 1e-3, pushed.intervention_id


def test_the_fast_path_takes_sites_where_it_is_proven(model, prompts):
    kind = PlainRunner if model.identity.name in PLAIN else FastRunner
    for at in ("last", "all"):
        assert isinstance(model.runner(prompts.sequences, [1], at, within=True), kind)
        assert isinstance(model.runner(prompts.sequences, [-1], at, within=True), PlainRunner)


@pytest.mark.parametrize("site", ["attn", "mlp"])
def test_texts_written_at_a_site_are_what_bare_hooks_write(model, site):
    text, n_new = "Tell me of Anna.", 6
    for pushed in (Intervention.of(at_site(model, site, 2)), at_site(model, site, 3).at("all")):
        ids = model.token_ids([Prompt(text)])[0]
        _, expected = bare_steps(model, ids, pushed, 0.9, n_new)
        with (pushed * 0.9).steer(model):
            written = model.hf.generate(
                torch.tensor([ids]), max_new_tokens=n_new, do_sample=False, eos_token_id=None, pad_token_id=258
            )
        assert written[0, len(ids) :].tolist() == expected
        _, still = bare_steps(model, ids, pushed, 0.0, n_new)
        assert still != expected


def outputs_of(model, ids, modules):
    """What modules put out in one whole forward of a prompt."""
    seen = {}

    def hook_of(name):
        def hook(module, args, output):
            seen[name] = (output[0] if isinstance(output, tuple) else output).clone()

        return hook

    handles = [module.register_forward_hook(hook_of(name)) for name, module in modules.items()]
    with torch.no_grad():
        model.hf(input_ids=torch.tensor([ids]), use_cache=False)
    for handle in handles:
        handle.remove()
    return seen


@pytest.mark.parametrize("site", ["resid", "attn", "mlp"])
@pytest.mark.parametrize("read", ["last", "Anna", 3, -4])
def test_activations_are_read_where_bare_hooks_find_them(model, prompts, site, read):
    result = read_activations(model, prompts, [1, model.n_layers - 1], site=site, read=read)
    for question, ids in enumerate(prompts.sequences):
        place = {"last": len(ids) - 1, "Anna": -1}.get(read, read if isinstance(read, int) else -1)
        if read == "Anna":
            (place,) = (n for n in range(len(ids)) if model.tokenizer.decode(ids[: n + 1]).endswith("Anna"))
        for number, layer in enumerate(result.layers):
            module, times = part_of(model, site, layer)
            seen = outputs_of(model, ids, {"part": module, "stream": model.stack.layers[layer]})
            expected = times * seen["part"][0, place]
            assert torch.allclose(result.residuals[question, number], expected, atol=1e-4 * float(expected.abs().max()))
            stream = seen["stream"][0, -1]
            assert torch.allclose(result.streams[question, number], stream, atol=1e-4 * float(stream.abs().max()))


def many(n=24):
    return [Question(f"q{place}", f"What of Anna is number {place * 7}?") for place in range(n)]


def test_a_vector_says_where_it_was_read_and_loads_back(tmp_path):
    model = tiny_model("llama")
    vector = extract_vector(model, many(), 2, site="mlp", read="Anna", contrast="persona")
    stream = extract_vector(model, many(), 2, contrast="persona")
    assert vector.residual_norm == pytest.approx(stream.residual_norm, rel=1e-5)
    assert "what the MLP adds in layer 2, read at the token 'Anna'" in repr(vector)
    assert "layer 2, read at the last token" in repr(stream)
    vector.save(tmp_path / "v.safetensors")
    loaded = SteeringVector.load(tmp_path / "v.safetensors")
    assert (loaded.site, loaded.positions_read, loaded.vector_id) == ("mlp", "Anna", vector.vector_id)
    assert random_vector(loaded, 1).site == "mlp"


def test_a_vector_of_before_sites_is_one_of_the_stream(tmp_path):
    model = tiny_model("llama")
    (vector,) = vectors_at(model, [2])
    facts = vector.facts() | {"site": "resid_post"}
    write_tensors(tmp_path / "old.safetensors", {"direction": vector.direction}, facts, FORMAT)
    assert SteeringVector.load(tmp_path / "old.safetensors").place == 2


def test_texts_and_answers_make_vectors_at_a_site():
    model = tiny_model("llama")
    warm, cold = ([f"A {way} {what} for Anna." for what in ("day", "meal")] for way in ("lovely", "dreadful"))
    assert vector_from_texts(model, warm, cold, layer=2, site="attn", read="Anna").site == "attn"
    assert extract_vector(model, many(), 3, site="attn", contrast="answer").vector_id.startswith("L3-attn-answer")


@pytest.mark.parametrize(
    ("read", "sentence"),
    [
        ("Berta", "stands nowhere in the prompt"),
        ("n", "times in the prompt"),
        ("", "stands nowhere"),
        (999, "give an index that all have"),
    ],
)
def test_a_place_that_is_not_there_once_is_refused(read, sentence):
    model = tiny_model("llama")
    prompts = PromptSet.build(model, QUESTIONS, METACOGNITIVE)
    with pytest.raises(InputError, match=sentence):
        places_of(model, prompts.prompts, prompts.sequences, read)


def test_what_has_no_meaning_at_a_site_is_refused(tmp_path):
    model = tiny_model("llama")
    vector = at_site(model, "mlp", 2)
    prompts = PromptSet.build(model, many(), METACOGNITIVE)
    for wrong, sentence in (
        (lambda: vector.at("all").export_gguf(tmp_path / "v.gguf", model, 0.2), "added to the stream"),
        (lambda: vector.along(model, "Who?"), "projected is the stream"),
        (lambda: replace(vector, site="head"), "site 'head' is not known"),
        (lambda: extract_vector(model, prompts, 2, site="mlp", method="gradient"), "made of gradients"),
        (lambda: extract_vector(model, prompts, 2, read="Anna", contrast="answer"), "read at the answer"),
        (lambda: (vector + at_site(model, "attn", 2)).vector(), "acts at one place"),
    ):
        with pytest.raises(InputError, match=sentence):
            wrong()


@pytest.mark.parametrize(("site", "read"), [("mlp", "last"), ("attn", -4), ("resid", -4)])
def test_a_push_at_a_site_is_far_by_what_the_stream_is_at_the_answer(site, read):
    model = tiny_model("llama")
    prompts = PromptSet.build(model, many(), METACOGNITIVE)
    vector = extract_vector(model, prompts, 2, site=site, read=read)
    streams = read_activations(model, prompts, [2]).residuals[:, 0]
    along = (streams - streams.mean(dim=0)) @ vector.direction
    assert vector.seen == pytest.approx(float(along.abs().max()) / vector.residual_norm, rel=1e-3)
    with pytest.warns(Notice, match="far outside what was seen"):
        sweep(model, vector, [question.text for question in many()], [0.0, 4 * vector.seen])


def test_a_layer_whose_step_is_not_proven_is_refused_and_its_stream_is_not():
    model = tiny_model("bloom")
    prompts = PromptSet.build(model, QUESTIONS, METACOGNITIVE)
    with pytest.raises(InputError, match="neither be read nor steered"):
        sweep(model, at_site(model, "mlp", 2), prompts, [0.1])
    with pytest.raises(InputError, match="read the site resid instead"):
        read_activations(model, prompts, [2], site="attn")
    assert len(sweep(model, vectors_at(model, [2])[0], prompts, [0.1]).table) == 2
