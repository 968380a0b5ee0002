"""Evaluation of typed expressions on Arrow columns, with the values and the errors that Spark has under ANSI."""

from .errors import EvaluationError
from .evaluator import can_fail, evaluate

__all__ = ["EvaluationError", "can_fail", "evaluate"]
