"""Pure decisions: no clock, no environment, no logging, no I/O. `now` and settings are arguments."""
