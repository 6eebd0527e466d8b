"""One or several factors by minimum residuals: fit, nulls, structure, scores."""
