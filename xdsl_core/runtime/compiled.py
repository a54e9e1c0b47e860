"""CompiledKernel: a kernel for one set of argument types, constants, options and one target."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from xdsl_core.backend import Argument, Artifact, BackendHandle, Executable, Grid, Launch, Options, Profile
from xdsl_core.frontend.specs import ArgumentSpec, Leaf, leaves
from xdsl_core.target import TargetDescription

if TYPE_CHECKING:
    from xdsl_core.runtime.cache import StoredKernel
    from xdsl_core.runtime.effects import Effects


@dataclass(eq=False, repr=False)
class CompiledKernel:
    """What a launch gives back, and what `kernel.compile` and `kernel.warmup` make.

    `specs` says what it was compiled for, parameter by parameter. `effects` names the parameters it reads and
    writes through. `from_cache` tells whether the disk cache had it. It is loaded into the process at its
    first launch.
    """

    name: str
    backend: BackendHandle
    target: TargetDescription
    options: Options
    specs: Mapping[str, ArgumentSpec]
    effects: Effects
    stored: StoredKernel
    from_cache: bool
    # Keeps the files of a kernel that could not be cached until it is collected.
    folder: tempfile.TemporaryDirectory[str] | None = None

    def __repr__(self) -> str:
        return f"<CompiledKernel {self.name} for {self.target.target}>"

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        """What is passed at run time."""
        return leaves(self.specs)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of what is passed at run time; a tuple or a descriptor has one for each part."""
        return tuple(leaf.name for leaf in self.leaves)

    @cached_property
    def written(self) -> frozenset[str]:
        """The kernel's parameters through which, or through a part of which, it stores."""
        return frozenset(leaf.parameter for leaf in self.leaves if leaf.name in self.effects.written)

    @property
    def hints(self) -> Mapping[str, bool]:
        """The compile hints that the kernel gives, and whether the backend follows each."""
        return dict(self.stored.about.get("hints", {}))

    @cached_property
    def stages(self) -> Mapping[str, str]:
        """The texts of the compilation: "tile", "lowered", and the source under its language's name."""
        return self.stored.stages()

    @property
    def asm(self) -> Mapping[str, str]:
        """Triton's name for `stages`."""
        return self.stages

    @property
    def artifact(self) -> Artifact:
        return self.stored.artifact

    @property
    def metadata(self) -> Mapping[str, Any]:
        """What the backend stored with the artifact."""
        return self.stored.artifact.metadata

    @cached_property
    def executable(self) -> Executable:
        """The loaded kernel."""
        return self.backend.load(self.artifact, self.target)

    def launch(self, grid: Grid, args: tuple[Argument, ...]) -> Launch:
        """Runs it through the backend's hook, with observers told; `args` as `xdsl_launch` takes them."""
        return self.backend.launch(self.executable, grid, args, self.options, kernel=self.name)

    def profile(self, grid: Grid, args: tuple[Argument, ...]) -> Profile:
        """Runs it and says where the time went."""
        return self.backend.profile(self.executable, grid, args, self.options)
