"""From the checked program to the plan that the runtime executes."""

from .plan import Planned, plan_program

__all__ = ["Planned", "plan_program"]
