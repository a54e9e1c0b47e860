"""A kernel ready to run: its program, and the one for arguments that overlap."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from xdsl_core.backend import Pointer
from xdsl_core.target import TargetDescription
from xdsl_dsa_sim.isa import parse_program
from xdsl_dsa_sim.simulator.assemble import assemble
from xdsl_dsa_sim.simulator.image import Image


class Kernel:
    """The texts of a kernel, assembled when they are first needed."""

    def __init__(self, text: str, overlapping: str | None, target: TargetDescription) -> None:
        self.text = text
        self.target = target
        self._overlapping_text = overlapping

    @cached_property
    def image(self) -> Image:
        """The program for arguments that share no memory."""
        return assemble(parse_program(self.text), self.target)

    @cached_property
    def overlapping(self) -> Image:
        """The program that keeps the order of accesses to every two arguments."""
        text = self._overlapping_text
        return self.image if text is None else assemble(parse_program(text), self.target)

    def image_for(self, arguments: Sequence[Any]) -> Image:
        """The program for a launch with these arguments."""
        return self.overlapping if overlap(arguments) else self.image


def overlap(arguments: Sequence[Any]) -> bool:
    """Whether two pointers lead to storage that they share, and that may be written."""
    pointers = [
        argument for argument in arguments if isinstance(argument, Pointer) and argument.storage_bytes
    ]
    ordered = sorted(pointers, key=lambda pointer: pointer.storage_address)
    last, writable = -1, False
    for pointer in ordered:
        shares = pointer.storage_address < last
        writable = pointer.writable or (shares and writable)
        if shares and writable:
            return True
        last = max(last, pointer.storage_address + pointer.storage_bytes)
    return False
