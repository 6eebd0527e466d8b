"""The page and the figures of what models are asked about themselves."""
