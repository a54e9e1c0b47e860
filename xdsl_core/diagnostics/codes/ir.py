"""Error codes of the family `ir`: code -> (title, explanation)."""

CODES: dict[str, tuple[str, str]] = {
    "X0301": (
        "a character that is no part of IR text",
        """ The text
form of the IR consists of words, numbers, strings in double quotes, values (%name), functions (@name),
types and the punctuation ( ) { } [ ] = : and the comma. A comment runs from // to the end of the line.
The character under the caret starts none of these; an opening quote without a closing one on the same
line has the same effect.
""",
    ),
    "X0302": (
        "something else was expected in IR text",
        """
The text is well-formed up to the caret, and what stands there cannot follow. An op is written

    %result = family.name %operand, slot = %optional {attribute = value} : type region (%x: type) { ... }

The message says what was expected and what was found.
""",
    ),
    "X0303": (
        "not a type",
        """
Types are written as scalars (f32, i64, i1), pointers (ptr<f32> or ptr<f32, space>), tiles
(tile<4x8xf32>, extents of 1 or more, the element a dtype or a pointer), buffers (buffer<4x8xf16, space,
layout>) and token.
""",
    ),
    "X0304": (
        "an op that is not defined",
        """
No definition of this name is registered. Ops of a backend's own dialect are known only where the
definitions come from that backend. The message names the nearest ops there are.
""",
    ),
    "X0305": (
        "a value that is not defined here",
        """
A value can be used after the op that defines it, in the same block and in the regions of later ops. A
value defined inside a region cannot be used outside: pass it out with the region's terminator, as a
result of the op.
""",
    ),
    "X0306": (
        "a value that is defined twice",
        """
In SSA form a name stands for one value. Choose another name; a number after a dot is enough (%x and
%x.1).
""",
    ),
    "X0307": (
        "operands that do not fit the op's slots",
        """
Required operands stand first, in the order of the definition. Optional and variadic operands follow with
the name of their slot: `mask = %m`, `inits = [%a, %b]`. If the op's only slot is variadic its values
stand in brackets without a name: `control.yield [%a, %b]`.
""",
    ),
    "X0308": (
        "results that do not fit the op",
        """
There must be a name for each result (`%a, %b = ...`) and a type for each name after the colon: one type,
or several in parentheses. Ops without results have neither names nor types.
""",
    ),
    "X0309": (
        "regions that do not fit the op",
        """
Regions stand at the end of an op, each after its name and in the order of the definition: `then { ... }
otherwise { ... }`.
""",
    ),
    "X0310": (
        "not an attribute value",
        """
Attribute values are true, false, none, integers (3), floats with a point or an exponent (1.0, 1e-05,
inf, -inf, nan, or nan(0x7ff8000000000001) with all 64 bits), strings in double quotes, dtype<f32> for an
element type, types, lists in brackets and mappings in braces. A float that is written in finite digits
must not overflow to infinity.
""",
    ),
    "X0311": (
        "a name that is taken",
        """
A module has one function of a name, and an op or function has one attribute of a name.
""",
    ),
    "X0312": (
        "text that is nested too deeply",
        """
Regions and attribute values may be nested a hundred deep, far more than any kernel needs. A missing
closing brace is the usual cause.
""",
    ),
    "X0320": (
        "a block does not end properly",
        """
The last op of every block must be a terminator (a yield, condition or return), and no other op may be
one.
""",
    ),
    "X0321": (
        "a value is used where it is not defined",
        """
A value must be defined before it is used: earlier in the same block, or earlier in a block around it. A
pass that moves ops must move them below the definitions of their operands.
""",
    ),
    "X0322": (
        "the links between ops, blocks and values are broken",
        """
Every value lists its users, and ops, blocks and regions know where they stand. A pass changed one side
only: use the Rewriter, or Op.set_operand, Value.replace_uses_with and Op.erase, rather than the fields.
""",
    ),
    "X0323": (
        "an op does not have the parts its definition names",
        """
The number of operand slots, results or regions of the op differs from its definition, or a region does
not have exactly one block. Ops made by the Builder have the right parts.
""",
    ),
    "X0324": (
        "an op's own check failed to run",
        """
A constraint or type rule of the definition raised an exception on an op of sound structure. Either the
definition does not guard against this use, or the op is so wrong that its rules make no sense. The
message carries the exception.
""",
    ),
    "X0340": (
        "a compiler pass failed",
        """
The pass raised an exception that is no diagnostic: a defect in the pass, or in a backend that brought
it. Run again with XDSL_DEBUG=1 for the traceback, and with --dump-ir DIR for the IR before the pass, and
report both.
""",
    ),
    "X0341": (
        "rewriting did not come to an end",
        """
A set of rewrite patterns kept changing a function beyond the iteration limit: two patterns undo each
other, or one applies to its own result. The message names the pattern that was applied last.
""",
    ),
    "X0342": (
        "a pass produced invalid IR",
        """
The module was valid before the pass and is not afterwards: a defect in the pass. Run again with
--dump-ir DIR to see the IR before and after it.
""",
    ),
    "X0343": (
        "no such pass in the pipeline",
        """
A pipeline was asked for a pass by a name that none of its passes has. The message lists their names.
""",
    ),
}
