"""The commands of `cepc`, one module each, with a click command of the module's name."""
