"""Every kind of respondent, for the contract that all of them keep: a name, and what makes one."""

import functools
import importlib.util
from dataclasses import replace

from fake_server import FakeServer
from tiny_models import outspoken_model, tiny_model, vectors_at

from onedial.asking.instruments import INSTRUMENTS, Instrument, Scale, TextReader, TokenReader
from onedial.asking.prompts import PromptTemplate
from onedial.asking.providers.provider_settings import ProviderModel
from onedial.asking.providers.providers import ProviderRespondent
from onedial.models.respondent import LocalRespondent
from steering.interventions import Intervention
from steering.respondent import SteeredRespondent

QUESTIONS = ["Who?", "What is the tallest of all the trees?", "When, to the day?", "Why is the sky blue?", "Where?"]
LETTERS = Instrument(
    "letters",
    PromptTemplate("{question} Yes, no, or YES?", "Answer:", "letters"),
    Scale("options", ("yes", "no", "shouted")),
    TokenReader({"yes": (" Yes",), "no": (" No",), "shouted": (" YES",)}),
)


def briefly(instrument):
    """Random weights write on and on, and a contract is kept or broken within the first words."""
    reader = instrument.reader
    return (
        replace(instrument, reader=replace(reader, max_new_tokens=10)) if isinstance(reader, TextReader) else instrument
    )


INSTRUMENTS_ASKED = {name: briefly(each) for name, each in INSTRUMENTS.items()} | {LETTERS.name: LETTERS}


def local():
    return LocalRespondent(outspoken_model(), batch_size=2)


def steered(positions="all", magnitude=0.4):
    model = outspoken_model()
    return SteeredRespondent(model, Intervention.of(*vectors_at(model, [1, 3]), positions=positions), magnitude, 2)


def hybrid():
    return LocalRespondent(tiny_model("qwen3_next"), batch_size=2)


@functools.cache
def server():
    """Says something else to each question, as long as the process lives: the options of every instrument by turns."""
    texts = ["Yes", "No", "70", "I cannot say.", "likely"]

    def answer(body):
        asked = body["messages"][-1]["content"]
        return texts[next(i for i, question in enumerate(QUESTIONS) if question in asked)]

    return FakeServer(answer).__enter__()


def behind_a_server():
    return ProviderRespondent(ProviderModel("tiny", server=server().url, retries=0))


KINDS = {"local": local, "steered": steered, "hybrid": hybrid}
if importlib.util.find_spec("inspect_ai") is not None:
    KINDS["behind a server"] = behind_a_server
