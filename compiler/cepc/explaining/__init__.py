"""What the compiler makes of a program, for `cepc explain`.

describe.py      what each query means, in words
automata.py      its automaton, with states that have names
joined.py        match queries that share parts of their matches, as these parts
explanation.py   what is shared and why, as data
stream_state.py  what queries keep as streams
obstacles.py     what more could be shared if queries were written otherwise
as_text.py, as_json.py, as_dot.py
sharing_words.py what a page says of it, and the page of a run
sketches.py      what is drawn of a query: its pattern, or its automaton
graph.py         the sketches as one graph, in which what is kept once is one node
node_style.py    what its nodes and edges look like
colours.py       a colour for each set of queries that share something
panes.py         the windows of queries that share, below the graph
layout.py        where the nodes stand in a picture
routes.py        the lines of its edges
as_svg.py        the picture
elements.py      the graph for the script of a page, which lays it out and draws it
vendor/          the libraries that it draws with
as_html.py       the page, with page.css and page.js
"""
