"""What happened in a run, for `cepc run --report`.

history.py   a query's matches over time, as data
plots.py     as a picture
as_html.py   the page, with page.css and the style of explaining's
"""
