"""What a factor must survive: rival accounts, resampling, invariance, residuals, missing answers."""
