"""What the residual stream holds: a store of activations, lens, gradients."""
