"""Instructions: text that round-trips, and definitions that refuse what does not fit them."""

from __future__ import annotations

import pytest

from tests.unit.dsa_sim.streams import ADD
from xdsl_core import dtypes
from xdsl_core.diagnostics import CompilationError, Location
from xdsl_dsa_sim.isa import (
    Block,
    Buffer,
    If,
    Instruction,
    Loop,
    Parameter,
    Program,
    Region,
    Register,
    While,
    blocked,
    dense,
    instruction,
    instruction_set,
    parse_program,
    print_instruction,
    print_program,
)
from xdsl_dsa_sim.isa.definition import InstructionDef

R = Register


def _operand(kinds: tuple[str, ...]) -> object:
    samples = {
        "region": Region("UB", R("base") + 64, dtypes.f32, (R("m"), 8), (16, 1)),
        "scalar": -2.5,
        "register": R("x"),
        "engine": "MTE2",
        "core": "AIV",
    }
    return samples[kinds[0]]


def _sample(definition: InstructionDef) -> Instruction:
    operands = [_operand(spec.kinds) for spec in definition.operands]
    attributes = {spec.name: spec.choices[-1] for spec in definition.attributes if spec.choices}
    attributes |= {spec.name: dtypes.i8 for spec in definition.attributes if dtypes.DType in spec.kinds}
    dtype = dtypes.bf16 if definition.typed else None
    place = Location("some file.py", 3, 4)
    return instruction("V", definition.name, *operands, dtype=dtype, location=place, attributes=attributes)


@pytest.mark.parametrize("name", instruction_set())
def test_every_instruction_round_trips(name: str) -> None:
    made = _sample(instruction_set()[name])
    program = Program("k", "toy", (), {"core": (made,)})
    read = parse_program(print_program(program))
    assert read == program
    (found,) = read.cores["core"]
    assert isinstance(found, Instruction)
    assert (found.attributes, found.location) == (made.attributes, made.location)


@pytest.mark.parametrize("name", instruction_set())
def test_every_definition_is_whole(name: str) -> None:
    definition = instruction_set()[name]
    assert definition.doc.strip()
    assert all(spec.doc for spec in (*definition.operands, *definition.attributes))
    known = {spec.name for spec in (*definition.operands, *definition.attributes)}
    assert set(definition.parameters) <= known | {"operands", "attributes", "dtype", "memory", "console"}
    named = set(definition.shapes.split()[1:])
    assert named <= {spec.name for spec in definition.operands}


def test_programs_round_trip() -> None:
    place = Location("k.py", 7)
    copy = instruction(
        "MTE2", "copy", dense("UB", 0, dtypes.f16, (4, 16)), dense("GM", R("a"), dtypes.f16, (4, 16))
    )
    gather = instruction(
        "MTE2", "gather", dense("UB", 0, dtypes.f16, (4,)), R("a"), dense("UB", 64, dtypes.i32, (4,))
    )
    body = (
        Loop(R("i"), 0, R("n") + -1, -2, (copy, If(R("c"), (copy,), (gather,), place)), place),
        While((copy,), R("c"), (gather,), place),
        If(R("c"), (copy,)),
    )
    buffers = (Buffer("a tile", "core", "UB", 0, 128, 2, (0, 4), place),)
    parameters = (Parameter("a", dtypes.f16, True), Parameter("n", dtypes.i32))
    program = Program("k", "toy", parameters, {"core": body, "other": ()}, buffers, 4096, {"other": 1})
    text = print_program(program)
    read = parse_program(text)
    assert read == program
    assert print_program(read) == text
    assert isinstance(read.cores["core"][0], Loop)
    assert read.cores["core"][0].location == place


def test_hand_written_text_with_comments() -> None:
    program = parse_program(ADD + "# the end")
    assert program.kernel == "add"
    assert len(program.cores["core"]) == 1


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("V add.f32 UB[0] f32<64>, UB[0] f32<64>", "operand rhs is _"),
        ("V addd.f32 UB[0] f32<64>, 1.0, 2.0", "did you mean add?"),
        ("V add UB[0] f32<64>, 1.0, 2.0", "a dtype is missing"),
        ("V move.f32 UB[0] f32<64>, UB[0] f32<64>", "takes no dtype"),
        ("V fill UB[0] f32<64>, V", "operand value is V"),
        ("V fill UB[0] f32<64>, 1.0 {axis=1}", "no attribute axis"),
        ('MTE2 copy UB[0] f32<64>, UB[0] f32<64> {atomic="sub"}', "'sub'"),
    ],
)
def test_instructions_that_do_not_fit_are_refused(line: str, words: str) -> None:
    with pytest.raises(CompilationError) as caught:
        parse_program(f"program k target toy core core {{\n{line}\n}}", file="a.asm")
    assert caught.value.code == "X0901"
    assert words in str(caught.value)
    assert "a.asm:2" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("program k", "expected 'target'"),
        ("program k target toy core core {", "expected '}'"),
        ("program k target toy core core { for %i = 0 to x step 1 { } }", "expected a number, found x"),
        ("program k target toy core core { V add.f33 }", "expected a dtype after add."),
        ("program k target toy core core { V fill UB[0] f32<4, %n>, 0 }", "expected strides"),
        ("program k target toy param a ptr<f99>", "expected a dtype"),
        ("program k target toy ?", "cannot read '?'"),
    ],
)
def test_text_that_cannot_be_read(text: str, words: str) -> None:
    with pytest.raises(CompilationError) as caught:
        parse_program(text)
    assert caught.value.code == "X0902"
    assert words in str(caught.value)


def test_regions() -> None:
    part = blocked("L1", 512, dtypes.f16, (16, 32), block=(16, 16), layout="Nz", within=(64, 64))
    assert part.strides == (256, 4 * 256)
    assert str(part) == "L1[512] f16<16, 32; 256, 1024; z16x16>"
    turned = part.transposed()
    assert (turned.shape, turned.strides, turned.block) == ((32, 16), (1024, 256), Block("n", 16, 16))
    assert turned.transposed() == part
    assert blocked("L0A", 0, dtypes.f16, (32, 64), block=(16, 16), layout="Zz").strides == (4 * 256, 256)
    with pytest.raises(ValueError, match="name the strides"):
        dense("UB", 0, dtypes.f16, (4, R("n")))
    assert dense("UB", 0, dtypes.f16, (R("n"), 4)).strides == (4, 1)


def test_text_of_an_instruction() -> None:
    made = instruction("S", "s_cast", R("x"), R("y") + 3, dtype=dtypes.i32, to=dtypes.i64)
    assert print_instruction(made) == "S s_cast.i32 %x, %y+3 {to=i64}"
