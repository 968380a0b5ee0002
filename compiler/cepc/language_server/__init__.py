"""`cepc lsp`: what an editor asks of a program while it is written.

Each feature is a pure function of a program as it stands and a place in its text, in spans of our own:

program.py      a text of the editor, parsed, checked, with what it imports
references.py   which name of the text means what
hover.py, completion.py, rename.py, outline.py, cures.py, program_tests.py
                what is asked of it
positions.py    places as the protocol has them
editor.py       what is open, and the programs made of it
server.py       the only module that speaks the protocol
"""
