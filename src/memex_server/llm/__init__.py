"""The optional language model that rates and condenses candidates for memory."""
