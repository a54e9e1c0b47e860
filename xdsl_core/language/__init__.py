"""What a kernel author imports as `tl`: Triton's names and signatures over the ops of the tile IR."""

from builtins import tuple

from xdsl_core.language import math
from xdsl_core.language.atomic import (
    atomic_add,
    atomic_and,
    atomic_cas,
    atomic_max,
    atomic_min,
    atomic_or,
    atomic_xchg,
    atomic_xor,
)
from xdsl_core.language.builtin import builtin, constexpr_function, standard
from xdsl_core.language.creation import arange, full, num_programs, program_id, to_tensor
from xdsl_core.language.debug import (
    assume,
    debug_barrier,
    device_assert,
    device_print,
    max_constancy,
    max_contiguous,
    multiple_of,
    static_assert,
    static_print,
)
from xdsl_core.language.elementwise import (
    add,
    cast,
    clamp,
    logical_and,
    logical_or,
    maximum,
    minimum,
    mul,
    sub,
    to,
    where,
)
from xdsl_core.language.iterators import condition, range, static_range
from xdsl_core.language.math import (
    abs,
    ceil,
    cos,
    div_rn,
    erf,
    exp,
    exp2,
    fdiv,
    floor,
    fma,
    log,
    log2,
    rsqrt,
    sin,
    sqrt,
    sqrt_rn,
    tanh,
    umulhi,
)
from xdsl_core.language.matmul import dot
from xdsl_core.language.memory import load, store
from xdsl_core.language.reduction import (
    argmax,
    argmin,
    associative_scan,
    cumprod,
    cumsum,
    max,
    min,
    reduce,
    reduce_or,
    sum,
    xor_sum,
)
from xdsl_core.language.shape import (
    broadcast,
    broadcast_to,
    expand_dims,
    item,
    permute,
    ravel,
    reshape,
    trans,
    view,
)
from xdsl_core.language.standard import (
    cdiv,
    flip,
    next_power_of_2,
    sigmoid,
    softmax,
    squeeze,
    swizzle2d,
    unsqueeze,
    zeros,
    zeros_like,
)
from xdsl_core.language.types import (
    bfloat16,
    block_type,
    dtype,
    float8e4b8,
    float8e4b15,
    float8e4nv,
    float8e5,
    float8e5b16,
    float16,
    float32,
    float64,
    int1,
    int8,
    int16,
    int32,
    int64,
    pi32_t,
    pointer_type,
    uint8,
    uint16,
    uint32,
    uint64,
    void,
)
from xdsl_core.language.values import PropagateNan, const, constexpr, tensor

__all__ = [
    # programs and memory
    *("program_id", "num_programs", "load", "store"),
    *("atomic_add", "atomic_and", "atomic_cas", "atomic_max", "atomic_min", "atomic_or", "atomic_xchg"),
    "atomic_xor",
    # making and shaping tiles
    *("arange", "full", "zeros", "zeros_like", "to_tensor", "cast", "to"),
    *("broadcast", "broadcast_to", "expand_dims", "item", "permute", "ravel", "reshape", "trans", "view"),
    *("flip", "squeeze", "unsqueeze"),
    # lane by lane
    *("add", "sub", "mul", "where", "minimum", "maximum", "clamp", "logical_and", "logical_or"),
    *("abs", "ceil", "cos", "div_rn", "erf", "exp", "exp2", "fdiv", "floor", "fma", "log", "log2", "rsqrt"),
    *("sin", "sqrt", "sqrt_rn", "tanh", "umulhi", "sigmoid", "cdiv", "next_power_of_2", "math"),
    # along an axis
    *("sum", "max", "min", "argmax", "argmin", "xor_sum", "reduce_or", "reduce", "softmax"),
    *("associative_scan", "cumsum", "cumprod"),
    "dot",
    "swizzle2d",
    # control, hints, checks
    *("range", "static_range", "condition", "assume", "multiple_of", "max_contiguous", "max_constancy"),
    *("debug_barrier", "device_assert", "device_print", "static_assert", "static_print"),
    # types and values
    *("tensor", "constexpr", "const", "tuple", "PropagateNan", "builtin", "standard", "constexpr_function"),
    *("dtype", "pointer_type", "block_type", "pi32_t", "void"),
    *("int1", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float8e4nv", "float8e4b8", "float8e4b15", "float8e5", "float8e5b16"),
    *("float16", "bfloat16", "float32", "float64"),
]
