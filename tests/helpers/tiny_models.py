"""Tiny random models of each architecture, and a byte tokenizer: instant, and wrong in every way a real one can be."""

import copy
import functools
import json
import re

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast

from onedial.asking.instruments import INSTRUMENTS, TokenReader
from onedial.asking.prompts import METACOGNITIVE
from onedial.models.checkpoints.folders import attention_for
from onedial.models.model import OpenModel
from onedial.selfreport.ask.self_reports import SELF_REPORTS
from steering.interventions import SteeringVector

YES_NO_WORDS = ["Yes", "No", "yes", "no", "YES", "NO"]
_READERS = [instrument.reader for instrument in INSTRUMENTS.values()]
_READERS += [form.reader for report in SELF_REPORTS.values() for form in report.forms.values()]
_READ = [
    spelling.strip()
    for reader in _READERS
    if isinstance(reader, TokenReader)
    for spellings in reader.spellings.values()
    for spelling in spellings
]
OTHER_WORDS = [word for word in dict.fromkeys(_READ) if word.isalpha() and word not in YES_NO_WORDS]
ANSWER_WORDS = YES_NO_WORDS + OTHER_WORDS
"""What any instrument reads as an answer, numbers aside: those are read by their first digit."""

ASKED = ["Question", "Can", "Answer", "Ġquestion", "Ġanswer", "Ġcorrectly", "Ġthis", "Ġyou", "ĠAnswer", "Ġthe", "Ġyour"]
ASKED += ["Ġhave", "Ġwhat"]
"""Words of the prompts that are one token each, so that these are half as long."""

COMMON = dict(
    vocab_size=max(300, 259 + 2 * len(ANSWER_WORDS)),
    hidden_size=48,
    intermediate_size=96,
    num_hidden_layers=5,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=12,
    max_position_embeddings=512,
    bos_token_id=257,
    eos_token_id=258,
    pad_token_id=258,
)
ARCHITECTURES = {
    "llama": dict(model_type="llama", tie_word_embeddings=True),
    "mistral": dict(model_type="mistral", sliding_window=24, tie_word_embeddings=False),
    "qwen2": dict(model_type="qwen2", use_sliding_window=True, sliding_window=20, max_window_layers=2),
    "qwen3": dict(model_type="qwen3", tie_word_embeddings=True),
    "gemma2": dict(
        model_type="gemma2",
        sliding_window=16,
        attn_logit_softcapping=20.0,
        final_logit_softcapping=10.0,
        query_pre_attn_scalar=12,
    ),
    "gemma3": dict(model_type="gemma3_text", sliding_window=16, query_pre_attn_scalar=12),
}
HYBRIDS = {
    "qwen3_next": dict(
        model_type="qwen3_next",
        linear_num_key_heads=2,
        linear_num_value_heads=4,
        linear_key_head_dim=12,
        linear_value_head_dim=12,
        num_experts=4,
        num_experts_per_tok=2,
        moe_intermediate_size=32,
        shared_expert_intermediate_size=32,
    ),
    "mamba": dict(model_type="mamba", state_size=8, time_step_rank=8),
}
"""Decoders of which some layers pass a state from position to position instead of attending."""
LONG_FROM = 32
"""Above so many tokens the tiny longrope model turns every position by other angles."""
_EXPERTS = dict(num_local_experts=2, num_experts_per_tok=1)
OTHER_FORMS = {
    "gpt2": dict(model_type="gpt2", n_embd=48, n_layer=5, n_head=4),
    "gpt_neo": dict(
        model_type="gpt_neo",
        num_layers=5,
        num_heads=4,
        attention_types=[[["global", "local"], 2], [["global"], 1]],
        window_size=40,
        num_hidden_layers=None,
    ),
    "gpt_neox": dict(model_type="gpt_neox"),
    "gpt_neox one after the other": dict(model_type="gpt_neox", use_parallel_residual=False),
    "opt": dict(model_type="opt", ffn_dim=96, word_embed_proj_dim=48),
    "phi": dict(model_type="phi"),
    "falcon": dict(model_type="falcon", new_decoder_architecture=True, head_dim=None),
    "falcon one after the other": dict(model_type="falcon", parallel_attn=False, head_dim=None),
    "cohere": dict(model_type="cohere", logit_scale=0.25),
    "granite": dict(model_type="granite", logits_scaling=8.0, residual_multiplier=0.22, embedding_multiplier=12.0),
    "hyperclovax": dict(model_type="hyperclovax", logits_scaling=0.25, residual_multiplier=0.22, use_post_norm=True),
    "glm4": dict(model_type="glm4"),
    "gpt_oss": dict(model_type="gpt_oss", sliding_window=16, rope_parameters=dict(rope_type="default", rope_theta=1e4))
    | _EXPERTS,
    "llama4": dict(
        model_type="llama4_text", attention_chunk_size=16, intermediate_size_mlp=96, moe_layers=[1, 3], floor_scale=8192
    )
    | _EXPERTS,
    "longrope": dict(
        model_type="phi3",
        original_max_position_embeddings=LONG_FROM,
        rope_parameters=dict(
            rope_type="longrope",
            rope_theta=1e4,
            short_factor=[1.0] * 6,
            long_factor=[4.0, 8.0, 3.0, 7.0, 9.0, 5.0],
            original_max_position_embeddings=LONG_FROM,
            factor=16.0,
        ),
    ),
    "bloom": dict(model_type="bloom", n_layer=5, n_head=4),
    "jamba": dict(
        model_type="jamba",
        mamba_d_state=8,
        mamba_d_conv=4,
        mamba_dt_rank=8,
        use_mamba_kernels=False,
        attn_layer_period=2,
        attn_layer_offset=1,
        num_experts=2,
        num_experts_per_tok=1,
    ),
}
"""Decoders whose parts have other names than Llama's, that multiply something, or that change with the length."""

CHAT_TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


PATHS = {}
"""Which fast paths are right for each `outspoken_model`, found out once for all modules."""


def byte_tokenizer(chat: bool = True, asked=ASKED) -> PreTrainedTokenizerFast:
    """One token per byte, per word that an instrument reads, with and without a space, and of `asked`; pad is eos."""
    shorter = dict(zip("ÀÁõö÷øùúûüýþÿ", asked, strict=False))  # no UTF-8 text holds these bytes
    alphabet = [shorter.get(letter, letter) for letter in sorted(pre_tokenizers.ByteLevel.alphabet())]
    # Yes and no come first, so that a new instrument gives no random model another yes.
    words = [mark + word for some in (YES_NO_WORDS, OTHER_WORDS) for mark in ("Ġ", "") for word in some]
    answers = "|".join(map(re.escape, ANSWER_WORDS))
    words_at_once = "|".join([f"Ġ?({answers})", *map(re.escape, asked)])
    specials = ["<unk>", "<s>", "</s>"]
    vocabulary = {token: index for index, token in enumerate([*alphabet, *specials, *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            pre_tokenizers.Split(Regex(f"({words_at_once})(?![A-Za-z0-9])|."), behavior="isolated"),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="<unk>", bos_token="<s>", eos_token="</s>", pad_token="</s>"
    )
    if chat:
        fast.chat_template = CHAT_TEMPLATE
    return fast


def tiny_hf(architecture: str = "llama", seed: int = 0, **changes):
    """A random model with an initialisation large enough that its answers differ between prompts."""
    options = {**COMMON, "initializer_range": 0.25, **(ARCHITECTURES | HYBRIDS | OTHER_FORMS)[architecture], **changes}
    return copy.deepcopy(_drawn_hf(json.dumps(options), seed))


@functools.cache
def _drawn_hf(options: str, seed: int):
    given = json.loads(options)
    model_type = given.pop("model_type")
    torch.manual_seed(seed)
    config = AutoConfig.for_model(model_type, **{name: value for name, value in given.items() if value is not None})
    return AutoModelForCausalLM.from_config(config, attn_implementation=attention_for(config)).float()


def tiny_model(architecture: str = "llama", seed: int = 0, chat: bool = True, **changes) -> OpenModel:
    asked = () if architecture in HYBRIDS else ASKED
    return OpenModel(tiny_hf(architecture, seed, **changes), byte_tokenizer(chat, asked), name=f"tiny-{architecture}")


def outspoken_hf(architecture: str = "mistral", seed: int = 0, **changes):
    """Random weights that put most of the probability on yes and no, with windows that reach back to the question."""
    window = {"sliding_window": 400} if "sliding_window" in ARCHITECTURES[architecture] else {}
    hf = tiny_hf(architecture, seed, tie_word_embeddings=False, **window, **changes)
    vocabulary = byte_tokenizer().get_vocab()
    words = [index for token, index in vocabulary.items() if token.strip("Ġ").lower() in ("yes", "no")]
    with torch.no_grad():
        hf.get_output_embeddings().weight[words] *= 4
    return hf


def outspoken_model(seed: int = 0, architecture: str = "mistral") -> OpenModel:
    """A tiny model that puts most of its probability on yes and no, so that its answers can be read."""
    model = OpenModel(outspoken_hf(architecture, seed), byte_tokenizer(), name="tiny-outspoken")
    model._paths = PATHS.setdefault((seed, architecture), {})
    return model


def vectors_at(model: OpenModel, layers, seed: int = 0) -> list[SteeringVector]:
    """A vector for each layer, whatever the model says: a drawn direction, in units of a stream that is there."""
    streams = model.read_residual(model.tokenise([METACOGNITIVE.fill("Who sang of the river?")]), layers)[0]
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randn(len(layers), model.d_model, generator=generator)
    norms = streams.norm(dim=-1).tolist()
    return [
        SteeringVector(direction / direction.norm(), layer, norm / 3, norm, model.identity)
        for direction, layer, norm in zip(drawn, layers, norms, strict=True)
    ]


def save_outspoken(folder, architecture: str = "mistral", seed: int = 0, **changes) -> None:
    """The same as a local folder, for programs that are given a path."""
    outspoken_hf(architecture, seed, **changes).save_pretrained(folder)
    byte_tokenizer().save_pretrained(folder)


def save_tiny(folder, architecture: str = "llama", seed: int = 0, chat: bool = True, **changes) -> None:
    """The same as a local folder in the hub's layout."""
    tiny_hf(architecture, seed, **changes).save_pretrained(folder)
    byte_tokenizer(chat).save_pretrained(folder)
