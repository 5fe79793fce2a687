"""Implementations of the `Backend` of `memex.protocol`: one in this process, one over HTTP."""
