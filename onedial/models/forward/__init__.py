"""The forward pass: batches, prefill, hooks, readout."""
