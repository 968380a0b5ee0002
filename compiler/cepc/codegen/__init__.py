"""From a checked program and its plans to the text of a PySpark program."""

from .job import Job, generate

__all__ = ["Job", "generate"]
