"""What can be read out of activations, along which directions, and how far a number can be trusted.

store = store_activations(model, prompts)                     # onedial.models: activations on disk
labels = labels_of(store, load_panel("embedded"))             # what is to be read
task = ProbeTask(labels.truth, texts, TopicFolds.of(topics))  # whole topics are held out
found = measure_layer(store.read(12).double().numpy(), task)  # one layer: table, scores, probes
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
