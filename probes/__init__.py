"""Read labels out of activations: along which directions, and how far a number can be trusted.

probe_layers(read_activations(model, texts), labels)           # onedial.models: where in depth is it readable?
fit_probe(streams, labels, topics=topics).as_vector(model, 12) # one layer's probe, and the vector along it
store = store_activations(model, prompts)                     # onedial.models: activations on disk
labels = labels_of(store, load_panel("embedded"))             # what is to be read
task = ProbeTask(labels.truth, texts, TopicFolds.of(topics))  # whole topics are held out
reading = measure_layer(store.read(12).double().numpy(), task)  # one layer: table, scores, probes
"""

from probes.fitting.folds import TopicFolds
from probes.fitting.linear import Probe, fit_probe, probe_layers
from probes.fitting.measure import ProbeTask, measure_layer
from probes.layer_files import load_layer, save_layer

__all__ = [
    "Probe",
    "ProbeTask",
    "TopicFolds",
    "fit_probe",
    "load_layer",
    "measure_layer",
    "probe_layers",
    "save_layer",
]
