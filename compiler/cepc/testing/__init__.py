"""`cepc test`: the tests of a program, each run on the local engine over the events that it gives.

values.py   constants to tables
compare.py  rows found against rows expected
run.py      one test
show.py     outcomes as text
"""
