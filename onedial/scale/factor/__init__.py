"""One or several factors by minimum residuals: fit, rotation, names, scores."""
