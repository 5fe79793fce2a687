"""Read-only sources of conversation that records may point into instead of copying their text."""
