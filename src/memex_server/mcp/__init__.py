"""The MCP face: the same service for agents, over streamable HTTP and over stdio.

Nothing here imports the SDK, which takes over a second: `catalogue`, `arguments` and `front` live without it.
"""
