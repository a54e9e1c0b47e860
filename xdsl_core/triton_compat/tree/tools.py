"""What `triton.tools.tensor_descriptor` gives."""

from xdsl_core.runtime.composites import TensorDescriptor

__all__ = ["TensorDescriptor"]
