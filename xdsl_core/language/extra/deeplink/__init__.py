"""DLCompiler's extensions of Triton: `import xdsl_core.language.extra.deeplink as dl`.

Its names and signatures (`triton.language.extra.deeplink` there), with the meaning that they have on values:
a task runs where it stands, a flag orders nothing more than that, an allocation is a filled tile.
"""

from xdsl_core.language.extra.deeplink import libdevice
from xdsl_core.language.extra.deeplink.custom import (
    CORE,
    MODE,
    PIPE,
    custom,
    custom_semantic,
    register_custom_op,
)
from xdsl_core.language.extra.deeplink.memory import (
    L0A,
    L0B,
    L0C,
    L1,
    ND,
    NZ,
    UB,
    alloc,
    compile_hint,
    fragment,
    multibuffer,
)
from xdsl_core.language.extra.deeplink.tasks import (
    SyncFlag,
    async_task,
    parallel,
    set_cross_flag,
    sync_block_all,
    wait_cross_flag,
)
from xdsl_core.language.slices import extract_slice, get_element, insert_slice
from xdsl_core.language.standard import flip

__all__ = [
    "CORE",
    "L0A",
    "L0B",
    "L0C",
    "L1",
    "MODE",
    "ND",
    "NZ",
    "PIPE",
    "SyncFlag",
    "UB",
    "alloc",
    "async_task",
    "compile_hint",
    "custom",
    "custom_semantic",
    "extract_slice",
    "flip",
    "fragment",
    "get_element",
    "insert_slice",
    "libdevice",
    "multibuffer",
    "parallel",
    "register_custom_op",
    "set_cross_flag",
    "sync_block_all",
    "wait_cross_flag",
]
