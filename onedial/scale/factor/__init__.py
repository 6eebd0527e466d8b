"""One or several factors by minimum residuals: fit, nulls, rotation, names, scores."""
