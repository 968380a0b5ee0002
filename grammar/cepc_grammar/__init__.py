"""The language's text: grammar, abstract syntax, parser and printer. Knows nothing of meaning."""
