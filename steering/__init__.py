"""Make directions of texts or answers, look at them, steer along them, and set them beside chance.

    from onedial import load_model, load_questions
    from onedial.models import read_activations
    from probes import probe_layers
    from steering import dose_response, vector_from_texts

    model = load_model("smollm2-135m-instruct")                  # or a name on the hub, a folder, a GGUF file
    joy = vector_from_texts(model, lovely, dreadful)             # two lists of texts; the layer is chosen, or layer=15
    probe_layers(read_activations(model, texts), labels)         # where in depth the labels 1 and 0 can be read
    joy.project(model, texts, labels)                            # whether the direction tells other texts apart
    joy.write(model, texts, [-0.3, 0, 0.3])                      # what is written at three strengths
    asked = ["Is rain good or bad? Answer with good or bad."]    # ... and more
    dose_response(model, joy, asked, answers=("good", "bad"))    # beside ten random directions; or score=function
    joy.at("all").export_gguf("joy.gguf", model, 0.3)            # for repeng and llama.cpp

A magnitude of 0.3 adds 0.3 median residual norms; layers count from 0 and mean a block's output. Anything is steered by
`model.generate(texts, joy * 0.3)` and `with joy.steer(model, 0.3): model.hf(...)`. What a direction is about is said by
`joy.tokens(model)` and `joy.along(model, text)`. `extract_vector` reads one from the model's own yes and no, `sweep`
puts questions at many magnitudes; `as_vector` takes a tensor, `import_vectors` other people's files. Results have
`to_frame()` and `plot(ax)`.
"""

from steering.directions import DIRECTIONS
from steering.importing import as_vector, import_vectors
from steering.inspection import cosines
from steering.interventions import Intervention, SteeringVector
from steering.operators import OPERATORS
from steering.pushes import Push
from steering.sweeping import SweepResult, dose_response, sweep
from steering.texts import vector_from_texts
from steering.vectors import extract_vector, random_vector

__all__ = [
    "DIRECTIONS",
    "Intervention",
    "OPERATORS",
    "Push",
    "SteeringVector",
    "SweepResult",
    "as_vector",
    "cosines",
    "dose_response",
    "extract_vector",
    "import_vectors",
    "random_vector",
    "sweep",
    "vector_from_texts",
]
