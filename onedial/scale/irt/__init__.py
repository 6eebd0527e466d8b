"""Response models by marginal likelihood: normal ogive, graded, Rasch, other shapes of the scale, groups."""
