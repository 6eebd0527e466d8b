"""A steered model for whoever asks: an Inspect provider, and a server that speaks OpenAI's protocol."""
