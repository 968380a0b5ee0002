"""A program to begin with, from a look at events: `cepc init` and `cepc.stream_of`."""
