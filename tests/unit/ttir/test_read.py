"""Triton's IR text to tile IR: values, signs, control flow, locations, errors."""

from __future__ import annotations

import numpy as np
import pytest

from xdsl_core.diagnostics import CompilationError
from xdsl_core.frontend.ttir import read_ttir
from xdsl_core.interp import run
from xdsl_core.ir import Module
from xdsl_core.ir.verifier import verify


def kernel(body: str) -> Module:
    parameters = "%x: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %n: i32"
    text = (
        f"module {{\n  tt.func public @k({parameters}) attributes {{noinline = false}} {{\n{body}\n  }}\n}}\n"
    )
    module = read_ttir(text, "k.ttir")
    assert verify(module) == []
    return module


def first(body: str, n: int) -> int:
    """What the body leaves in x[0], which holds n at first too."""
    x = np.full(8, n, np.int32)
    run(kernel(body), (1, 1, 1), (x, n))
    return int(x[0])


def code(body: str) -> str:
    with pytest.raises(CompilationError) as caught:
        kernel(body)
    return str(caught.value.diagnostics[0].code)


@pytest.mark.parametrize(
    ("op", "n", "right"),
    [
        ("arith.divui %n, %c : i32", -8, 0x7FFFFFFC),
        ("arith.divsi %n, %c : i32", -7, -3),
        ("arith.remsi %n, %c : i32", -7, -1),
        ("arith.shrui %n, %c : i32", -1, 0x3FFFFFFF),
        ("arith.shrsi %n, %c : i32", -8, -2),
        ("arith.maxui %n, %c : i32", -1, -1),
        ("arith.maxsi %n, %c : i32", -1, 2),
        ("tt.mulhiui %n, %c : i32", -1, 1),
    ],
)
def test_integers_keep_the_sign_that_the_op_reads(op: str, n: int, right: int) -> None:
    body = f"%c = arith.constant 2 : i32\n%r = {op}\ntt.store %x, %r : !tt.ptr<i32>\ntt.return"
    assert first(body, n) == right


@pytest.mark.parametrize(
    ("predicate", "right"), [("ult", 0), ("slt", 1), ("ugt", 1), ("sge", 0), ("ne", 1), ("eq", 0)]
)
def test_comparisons_and_extensions_of_bools(predicate: str, right: int) -> None:
    body = (
        f"%c = arith.constant 2 : i32\n%b = arith.cmpi {predicate}, %n, %c : i32\n"
        "%z = arith.extui %b : i1 to i32\n%s = arith.extsi %b : i1 to i32\n"
        "%t = arith.constant 10 : i32\n%m = arith.muli %s, %t : i32\n%r = arith.addi %z, %m : i32\n"
        "tt.store %x, %r : !tt.ptr<i32>\ntt.return"
    )
    assert first(body, -5) == right - 10 * right


def test_truncation_to_bool_keeps_the_lowest_bit() -> None:
    body = (
        "%b = arith.trunci %n : i32 to i1\n%r = arith.extui %b : i1 to i32\n"
        "tt.store %x, %r : !tt.ptr<i32>\ntt.return"
    )
    assert (first(body, 6), first(body, 7)) == (0, 1)


def test_a_return_inside_a_branch_becomes_structure() -> None:
    body = """
    %c = arith.constant 3 : i32
    %b = arith.cmpi sgt, %n, %c : i32
    cf.cond_br %b, ^bb1, ^bb2(%c : i32)
  ^bb1:  // pred: ^bb0
    tt.return
  ^bb2(%d: i32):  // pred: ^bb0
    tt.store %x, %d : !tt.ptr<i32>
    tt.return"""
    assert (first(body, 9), first(body, 1)) == (9, 3)


def test_loops_carry_values_by_the_names_of_the_text() -> None:
    body = """
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %s:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0, %b = %c1) -> (i32, i32)  : i32 {
      %t = arith.addi %a, %b : i32
      scf.yield %b, %t : i32, i32
    } {tt.num_stages = 3 : i32}
    %w:2 = scf.while (%i = %n, %a = %s#0) : (i32, i32) -> (i32, i32) {
      %g = arith.cmpi sgt, %i, %c1 : i32
      scf.condition(%g) %i, %a : i32, i32
    } do {
    ^bb0(%i: i32, %a: i32):
      %j = arith.subi %i, %c1 : i32
      %d = arith.addi %a, %c1 : i32
      scf.yield %j, %d : i32, i32
    }
    tt.store %x, %w#1 : !tt.ptr<i32>
    tt.return"""
    assert first(body, 10) == 55 + 9


def test_locations_are_those_of_the_kernel() -> None:
    text = """#loc = loc("k.py":1:1)
module {
  tt.func public @k(%x: !tt.ptr<i32> loc("x"(#loc)), %n: i32 loc("n"(#loc))) attributes {noinline = false} {
    tt.store %x, %n : !tt.ptr<i32> loc(#loc5)
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc2 = loc("k.py":7:9)
#loc3 = loc("lib.py":3:5)
#loc5 = loc("r"(#loc4))
#loc4 = loc(callsite(#loc3 at #loc2))
"""
    store = read_ttir(text).functions["k"].block.ops[0]
    assert str(store.location) == "lib.py:3:5"
    assert [str(caller) for caller in store.location.callers] == ["k.py:7:9"]


def test_what_cannot_be_read_is_an_error_with_a_code() -> None:
    assert code("%r = tt.unheard_of %n : i32\ntt.return") == "X0851"
    assert code("cf.br ^bb1\n^bb1:\ncf.br ^bb1") == "X0852"
    assert code("%r = 5") == "X0850"
    with pytest.raises(CompilationError, match="X0850"):
        read_ttir("module { tt.func public @k(%x: tensor<4xf32")
