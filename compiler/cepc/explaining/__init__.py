"""What the compiler makes of a program, for `cepc explain`.

describe.py      what each query means, in words
automata.py      its automaton, with states that have names
joined.py        match queries that share parts of their matches, as these parts
explanation.py   what is shared and why, as data
keeping.py       what queries keep as streams
obstacles.py     what more could be shared if queries were written otherwise
as_text.py, as_json.py, as_dot.py
graph.py         the automata as one graph, in which what is kept once is one node
layout.py        where its nodes stand
routes.py        the lines of its edges
panes.py         the windows of queries that share, below the graph
colours.py       a colour for each set of queries that share something
as_svg.py        the graph as a picture
as_html.py       a page around it, with page.css and page.js
"""
