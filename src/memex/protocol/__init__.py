"""What crosses a boundary: the exception tree, and the wire contract of the unified protocol."""
