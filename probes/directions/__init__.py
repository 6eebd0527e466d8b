"""Compare and erase directions; read truth without labels."""
