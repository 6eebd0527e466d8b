"""What a factor must survive: nulls, resampling, invariance, residuals, missing answers."""
