"""The reference interpreter: runs a module by the numpy meaning of its ops, and says what goes wrong on the
way.
"""

from xdsl_core.interp.run import Prepared, prepare, run

__all__ = ["Prepared", "prepare", "run"]
