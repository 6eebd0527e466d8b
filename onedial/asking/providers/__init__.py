"""Models behind providers and servers: how they are reached, set and read."""
