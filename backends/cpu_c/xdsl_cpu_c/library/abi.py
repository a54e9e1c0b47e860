"""How C calls a kernel of a library: the description that header, code and example are written from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from xdsl_cpu_c.build import OVERLAPPING
from xdsl_cpu_c.codegen.op_tables import C_TYPES
from xdsl_cpu_c.codegen.reserved import is_reserved
from xdsl_cpu_c.machines import Machine
from xdsl_cpu_c.runtime.abi import GRID_LIMIT, Parameter, ParameterKind

# What the compiler can ask the processor for at run time (__builtin_cpu_supports), among what kernels use.
_CHECKED_ISA = frozenset({"avx", "avx2", "fma", "avx512f", "avx512bw"})
# Elements that C has a type for; of the others (f16, bf16, fp8) it sees the bits. A bool is a byte, 0 or 1.
_C_DTYPES = frozenset({"f32", "f64", "i1", *(f"{kind}{bits}" for kind in "iu" for bits in (8, 16, 32, 64))})


@dataclass(frozen=True, slots=True)
class LibraryParameter:
    """A parameter of the C function: its name and type, and what has to be true of the argument.

    `dtype` names the element in the IR, and `as_bits` says that C has no such type and sees its bits in an
    unsigned integer. `alignment` (bytes of an address) and `divisor` (of a number) are checked at each call.
    `slot` is the expression of the 64 bits that the kernel reads.
    """

    name: str
    kind: ParameterKind
    c_type: str
    dtype: str
    slot: str
    read: bool = False
    written: bool = False
    as_bits: bool = False
    alignment: int = 1
    divisor: int = 1

    @property
    def use(self) -> str:
        """What the kernel does with the memory behind a pointer, in words."""
        return (
            " and ".join(word for word, true in (("read", self.read), ("written", self.written)) if true)
            or "unused"
        )

    @property
    def declaration(self) -> str:
        """The parameter as a prototype has it."""
        return f"{self.c_type}{'' if self.kind == 'pointer' else ' '}{self.name}"


@dataclass(frozen=True, slots=True)
class LibraryAbi:
    """The functions of a library and what they expect.

    `isa` lists the instruction sets that the processor must have, `assertions` the message of each failure
    that a call can return (counted from 1), `threads` the number of threads of a launch (0: one per core).
    """

    name: str
    kernel: str
    architecture: str
    isa: tuple[str, ...]
    parameters: tuple[LibraryParameter, ...]
    assertions: tuple[str, ...]
    threads: int
    has_overlapping: bool
    grid_limit: int = GRID_LIMIT

    def as_json(self) -> dict[str, Any]:
        """The description as data, for bindings of other languages."""
        return {
            "name": self.name,
            "kernel": self.kernel,
            "architecture": self.architecture,
            "isa": list(self.isa),
            "functions": [self.name, *([f"{self.name}_overlapping"] if self.has_overlapping else [])],
            "grid": ["int64_t grid_x", "int64_t grid_y", "int64_t grid_z"],
            "parameters": [
                {key: value for key, value in asdict(parameter).items() if key != "slot"}
                for parameter in self.parameters
            ],
            "assertions": list(self.assertions),
        }


def describe_library(
    name: str, metadata: Mapping[str, Any], files: Mapping[str, Any], machine: Machine
) -> LibraryAbi:
    """The description of a library that exports the kernel of a source (its metadata and files) as `name`."""
    names = _Names(name)
    parameters = tuple(_parameter(Parameter(**fields), names) for fields in metadata["parameters"])
    return LibraryAbi(
        name=name,
        kernel=metadata["name"],
        architecture=machine.architecture,
        isa=tuple(feature for feature in machine.isa if feature in _CHECKED_ISA),
        parameters=parameters,
        assertions=tuple(
            f"{site[1]}:{site[2]}: assertion failed: {site[0]}" for site in metadata["assertions"]
        ),
        threads=metadata["threads"] or 0,
        has_overlapping=OVERLAPPING in files,
    )


class _Names:
    """C names for the parameters of a Python function: ASCII, no keyword, none twice."""

    def __init__(self, function: str) -> None:
        self.taken = {function, "grid_x", "grid_y", "grid_z", "slots", "status"}

    def fresh(self, wanted: str) -> str:
        text = "".join(c if (c.isascii() and c.isalnum()) or c == "_" else "_" for c in wanted) or "argument"
        while text in self.taken or is_reserved(text):
            text += "_"
        self.taken.add(text)
        return text


def _parameter(parameter: Parameter, names: _Names) -> LibraryParameter:
    name, element = names.fresh(parameter.name), parameter.dtype
    if parameter.kind == "pointer":
        return LibraryParameter(
            name,
            "pointer",
            f"{'' if parameter.written else 'const '}{C_TYPES[element]} *",
            element,
            f"(uintptr_t){name}",
            read=parameter.read,
            written=parameter.written,
            as_bits=element not in _C_DTYPES,
            alignment=max(parameter.itemsize, parameter.divisor),
        )
    if parameter.kind == "float":
        c_type = "double" if element == "f64" else "float"
        return LibraryParameter(name, "float", c_type, element, f"double_bits({name})")
    if parameter.kind == "bool":
        return LibraryParameter(name, "bool", "bool", element, f"(uint64_t){name}")
    slot = f"(uint64_t)(int64_t){name}" if parameter.signed else f"(uint64_t){name}"
    return LibraryParameter(name, "int", C_TYPES[element], element, slot, divisor=parameter.divisor)
