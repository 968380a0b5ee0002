"""From a checked program and its plans to the text of a PySpark program."""

from .job import GeneratedJob, generate

__all__ = ["GeneratedJob", "generate"]
