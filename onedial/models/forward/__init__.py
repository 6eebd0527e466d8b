"""Run forwards: batches, prefill, hooks, readout."""
