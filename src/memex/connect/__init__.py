"""Connects memex with the clients that agents run in, and looks after those connections."""
