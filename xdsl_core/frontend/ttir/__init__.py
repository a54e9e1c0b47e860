"""The IR text of stock Triton (TTIR) to tile IR: `read_ttir` is the door.

`lexer` makes tokens, `syntax` a tree of ops, `types` and `locations` read those parts; `scope` and `convert`
walk the tree, and the tables of `arithmetic`, `elementwise`, `shaping`, `access`, `combining`, `control` and
`libdevice` say what each op becomes. Integers of MLIR have no sign: they are signed here, and an op that
reads them as unsigned works on a bitcast.
"""

from xdsl_core.frontend.ttir.convert import read_ttir

__all__ = ["read_ttir"]
