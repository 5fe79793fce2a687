"""Load tests and measurements of memex, each against a floor; run `python -m bench`."""
