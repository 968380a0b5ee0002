"""The sentences: one function a diagnostic, by family. Titles name the problem, hints say what to type."""
