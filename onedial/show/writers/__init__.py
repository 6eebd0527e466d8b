"""Where a run is watched from outside while it goes on, and after: one interface, W&B and TensorBoard behind it."""
