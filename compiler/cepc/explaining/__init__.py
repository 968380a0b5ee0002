"""What the compiler makes of a program, for `cepc explain`.

describe.py      what each query means, in words
automata.py      its automaton, with states that have names
explanation.py   what is shared and why, as data
obstacles.py     what more could be shared if queries were written otherwise
as_text.py, as_json.py, as_dot.py
"""
