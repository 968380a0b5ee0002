"""`python -m cepc`."""

from .cli import main

main()
