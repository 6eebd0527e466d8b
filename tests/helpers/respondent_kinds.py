"""Every kind of respondent, for the contract that all of them keep: a name, and what makes one."""

from tiny_models import outspoken_model, tiny_model, vectors_at

from elicitation import (
    INSTRUMENTS,
    Instrument,
    PromptTemplate,
    RecordedRespondent,
    Scale,
    TokenReader,
)
from open_models import LocalRespondent
from steering import Intervention, SteeredRespondent

QUESTIONS = ["Who?", "What is the tallest of all the trees?", "When, to the day?", "Why is the sky blue?", "Where?"]
LETTERS = Instrument(
    "letters",
    PromptTemplate("{question} Yes, no, or YES?", "Answer:", "letters"),
    Scale("options", ("yes", "no", "shouted")),
    TokenReader({"yes": (" Yes",), "no": (" No",), "shouted": (" YES",)}),
)
INSTRUMENTS_ASKED = {**INSTRUMENTS, LETTERS.name: LETTERS}


def local():
    return LocalRespondent(outspoken_model(), batch_size=2)


def steered(positions="all", magnitude=0.4):
    model = outspoken_model()
    return SteeredRespondent(model, Intervention.of(*vectors_at(model, [1, 3]), positions=positions), magnitude, 2)


def hybrid():
    return LocalRespondent(tiny_model("qwen3_next"), batch_size=2)


def recorded():
    source, responses = local(), {}
    for instrument in INSTRUMENTS_ASKED.values():
        prompts = [instrument.prompt(question) for question in QUESTIONS]
        responses |= RecordedRespondent.recording(source, prompts, instrument)._responses
    return RecordedRespondent(responses, source.identity)


KINDS = {"local": local, "steered": steered, "hybrid": hybrid, "recorded": recorded}
