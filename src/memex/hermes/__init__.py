"""What the agent's side does inside and beside the Hermes agent. `memex.provider` is the door that Hermes sees.

It is a folder of its own because Hermes executes every file at the top of a plugin when it loads it.
"""
