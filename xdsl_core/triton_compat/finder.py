"""Finds the modules of `triton` in the package's own tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from types import MappingProxyType, ModuleType
from typing import Any

from xdsl_core.diagnostics import XdslError, error

_TREE = "xdsl_core.triton_compat.tree"
# Triton's modules, and the module with the same names here
MODULES: Mapping[str, str] = MappingProxyType(
    {
        "triton": f"{_TREE}.root",
        "triton.language": f"{_TREE}.language",
        "triton.language.core": f"{_TREE}.language",
        "triton.language.standard": f"{_TREE}.language",
        "triton.language.semantic": f"{_TREE}.language",
        "triton.language.random": "xdsl_core.language.random",
        "triton.language.math": f"{_TREE}.math",
        "triton.language.target_info": "xdsl_core.language.target_info",
        "triton.language.extra": f"{_TREE}.extra",
        "triton.language.extra.libdevice": f"{_TREE}.libdevice",
        "triton.language.extra.cuda": f"{_TREE}.extra",
        "triton.language.extra.cuda.libdevice": f"{_TREE}.libdevice",
        "triton.language.extra.hip": f"{_TREE}.extra",
        "triton.language.extra.hip.libdevice": f"{_TREE}.libdevice",
        "triton.language.extra.cpu": f"{_TREE}.extra",
        "triton.language.extra.cpu.libdevice": f"{_TREE}.libdevice",
        "triton.language.extra.deeplink": "xdsl_core.language.extra.deeplink",
        "triton.language.extra.deeplink.libdevice": "xdsl_core.language.extra.deeplink.libdevice",
        "triton.testing": f"{_TREE}.testing",
        "triton.runtime": f"{_TREE}.runtime",
        "triton.runtime.jit": f"{_TREE}.runtime",
        "triton.runtime.autotuner": f"{_TREE}.runtime",
        "triton.runtime.driver": f"{_TREE}.driver",
        "triton.runtime.errors": f"{_TREE}.errors",
        "triton.compiler": f"{_TREE}.errors",
        "triton.compiler.compiler": f"{_TREE}.errors",
        "triton.compiler.errors": f"{_TREE}.errors",
        "triton.backends": f"{_TREE}.driver",
        "triton.backends.compiler": f"{_TREE}.driver",
        "triton.tools": f"{_TREE}.tools",
        "triton.tools.tensor_descriptor": f"{_TREE}.tools",
        "triton.knobs": f"{_TREE}.knobs",
        "triton._C": f"{_TREE}.vendor",
        "triton._C.libtriton": f"{_TREE}.vendor",
        "triton.profiler": f"{_TREE}.profiler",
        "triton.profiler.viewer": f"{_TREE}.profiler",
    }
)


class MissingModule(XdslError, ModuleNotFoundError):
    """A module of Triton that has no counterpart here; a ModuleNotFoundError too, as imports raise."""


class MissingName(XdslError, AttributeError):
    """A name of Triton that has no counterpart here; an AttributeError too."""


class Finder(MetaPathFinder):
    """Answers for `triton` and everything under it; never looks elsewhere for them."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module of the tree, None for modules of others. MissingModule X0831."""
        if fullname.partition(".")[0] != "triton":
            return None
        home = MODULES.get(fullname)
        if home is None:
            raise MissingModule(
                error(
                    "X0831",
                    f"there is no module {fullname} here: `import triton` is answered by xdsl-core",
                    note="its modules are the public ones, without the compilers of GPUs and their parts",
                    help="run the script with stock Triton, or leave this import out",
                )
            )
        is_package = any(name.startswith(f"{fullname}.") for name in MODULES)
        return spec_from_loader(fullname, TreeLoader(home), is_package=is_package)


class TreeLoader(Loader):
    """Fills a module with the names of one of the tree."""

    def __init__(self, home: str) -> None:
        self.home = home

    def exec_module(self, module: ModuleType) -> None:
        """Give the module the names that the one in the tree has."""
        source = import_module(self.home)
        own = f"{module.__name__}."
        names = {
            name: value
            for name, value in vars(source).items()
            if not name.startswith("__") and own + name not in MODULES
        }
        vars(module).update(names)
        module.__doc__ = source.__doc__
        if hasattr(source, "__version__"):
            module.__dict__["__version__"] = source.__version__
        module.__dict__["__getattr__"] = _missing(module.__name__, getattr(source, "__getattr__", None))


def _missing(module: str, look: Any) -> Any:
    def find(name: str) -> Any:
        full = f"{module}.{name}"
        if full in MODULES:
            return import_module(full)
        if look is not None:
            try:
                return look(name)
            except AttributeError:
                pass
        if name.startswith("__"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        raise MissingName(
            error(
                "X0832",
                f"{module} has no {name} here: `import triton` is answered by xdsl-core",
                help="run the script with stock Triton, or report the name if it is a public one",
            )
        )

    return find
