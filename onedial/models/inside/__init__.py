"""Look into the residual stream: a store of activations, lens, gradients."""
