"""Sends the requests of `memex.protocol.wire`: one attempt over HTTP, and when to try again."""
