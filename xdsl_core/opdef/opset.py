"""OpSet: definitions by name. Backends add dialects of their own to a copy."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from xdsl_core.opdef.definition import OpDef


class OpSet:
    """A set of op definitions with unique names."""

    def __init__(self, definitions: Iterable[OpDef] = ()) -> None:
        self._definitions: dict[str, OpDef] = {}
        for definition in definitions:
            self.register(definition)

    def register(self, definition: OpDef) -> None:
        """Add a definition; ValueError if another one has its name."""
        known = self._definitions.setdefault(definition.name, definition)
        if known is not definition:
            raise ValueError(f"op {definition.name} is already defined")

    def extend(self) -> OpSet:
        """A copy that can be added to without changing this set."""
        return OpSet(self._definitions.values())

    def get(self, name: str) -> OpDef | None:
        return self._definitions.get(name)

    def __getitem__(self, name: str) -> OpDef:
        definition = self._definitions.get(name)
        if definition is None:
            near = difflib.get_close_matches(name, self._definitions, n=3)
            raise KeyError(f"no op {name}; did you mean: {', '.join(near) or 'nothing near'}")
        return definition

    def __contains__(self, name: object) -> bool:
        return name in self._definitions

    def __iter__(self) -> Iterator[OpDef]:
        return iter(self._definitions.values())

    def __len__(self) -> int:
        return len(self._definitions)

    def names(self) -> tuple[str, ...]:
        return tuple(self._definitions)
