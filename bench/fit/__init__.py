"""Fits the weights of hybrid relevance on the development halves of the public conversations."""
