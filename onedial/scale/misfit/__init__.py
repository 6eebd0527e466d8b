"""Who and what does not fit the scale: infit, outfit and l_z, characteristic curves."""
