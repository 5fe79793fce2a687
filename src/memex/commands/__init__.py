"""The commands of the command line that work with memories."""
