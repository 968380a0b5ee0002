"""What editors, notebooks and shells need of the language.

words.py      its words by kind, taken from the grammar
pygments.py   a lexer for Pygments
textmate.py   a grammar for editors that read TextMate's, written into editors/
notebook.py   the magic %%cep
"""
