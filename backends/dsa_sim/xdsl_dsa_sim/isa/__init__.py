"""The instruction set of the simulated machines: programs, their text, and what each instruction means."""

from xdsl_dsa_sim.isa.build import instruction
from xdsl_dsa_sim.isa.definition import AttributeSpec, InstructionDef, OperandSpec, TimingRule
from xdsl_dsa_sim.isa.operands import GLOBAL, Block, Operand, Region, Register, Scalar, Sum, blocked, dense
from xdsl_dsa_sim.isa.parser import parse_program
from xdsl_dsa_sim.isa.printer import print_instruction, print_program
from xdsl_dsa_sim.isa.program import (
    SPECIAL_REGISTERS,
    Buffer,
    If,
    Instruction,
    Loop,
    Parameter,
    Program,
    Statement,
    While,
    children,
    walk,
)
from xdsl_dsa_sim.isa.table import instruction_set

__all__ = [
    "GLOBAL",
    "SPECIAL_REGISTERS",
    "AttributeSpec",
    "Block",
    "Buffer",
    "If",
    "Instruction",
    "InstructionDef",
    "Loop",
    "Operand",
    "OperandSpec",
    "Parameter",
    "Program",
    "Region",
    "Register",
    "Scalar",
    "Statement",
    "Sum",
    "TimingRule",
    "While",
    "blocked",
    "children",
    "dense",
    "instruction",
    "instruction_set",
    "parse_program",
    "print_instruction",
    "print_program",
    "walk",
]
