"""The instruction set: every instruction by its mnemonic."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from xdsl_dsa_sim.isa.definition import InstructionDef
from xdsl_dsa_sim.isa.matrix import MATRIX_INSTRUCTIONS
from xdsl_dsa_sim.isa.movement import LOCAL_INDEXING, MOVEMENT
from xdsl_dsa_sim.isa.scalar import SCALAR_INSTRUCTIONS, SYNCHRONISATION, scalar_ops
from xdsl_dsa_sim.isa.vector import FILLS, lanewise_instructions, reduction_instructions


@cache
def instruction_set() -> Mapping[str, InstructionDef]:
    """Mnemonic (without dtype) to definition."""
    rows = (
        *MOVEMENT,
        *lanewise_instructions(),
        *FILLS,
        *reduction_instructions(),
        *LOCAL_INDEXING,
        *MATRIX_INSTRUCTIONS,
        *SCALAR_INSTRUCTIONS,
        *scalar_ops(),
        *SYNCHRONISATION,
    )
    table = {row.name: row for row in rows}
    if len(table) != len(rows):
        raise ValueError("two instructions share a mnemonic")
    return MappingProxyType(table)
