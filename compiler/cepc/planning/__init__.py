"""From the checked program to the plan that the runtime executes."""

from .lifting import lifted
from .plan import Planned, plan_program

__all__ = ["Planned", "lifted", "plan_program"]
