"""A module tree that answers to `import triton` with this package's own frontend.

`activate()` puts it in place for the process: `xdslc run --as-triton SCRIPT` and
`pytest -p xdsl_core.triton_compat.pytest` call it, nothing else does. Where it is active, an unmodified
script written for stock Triton and a GPU runs on the selected backend with tensors in this machine's memory:
`device="cuda"` means the CPU, and what `torch.cuda` is asked about is answered for it.

`tree` holds the modules, `finder` gives them Triton's names, `function` is `triton.jit`, `devices` the part
that torch needs. What cannot be answered is an error that says so (X0830 to X0832).
"""

from xdsl_core.triton_compat.activation import activate

__all__ = ["activate"]
