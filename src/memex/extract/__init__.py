"""From what was said to facts: executors, the queue of work, and the pipeline between them."""
