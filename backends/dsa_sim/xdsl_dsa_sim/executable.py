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
    """The texts of a kernel, assembled when they are first needed.

    `written` names the parameters it writes through.
    """

    def __init__(
        self, text: str, overlapping: str | None, target: TargetDescription, *, written: frozenset[str]
    ) -> None:
        self.text = text
        self.target = target
        self.written = written
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
        return self.overlapping if overlap(arguments, self.written) else self.image


def overlap(arguments: Sequence[Any], written: frozenset[str]) -> bool:
    """Whether a pointer that is written through leads to storage that another one leads to as well."""
    pointers = [each for each in arguments if isinstance(each, Pointer) and each.storage_bytes]
    return any(
        first.storage_address < second.storage_address + second.storage_bytes
        and second.storage_address < first.storage_address + first.storage_bytes
        for first in pointers
        if first.name in written
        for second in pointers
        if second is not first
    )
