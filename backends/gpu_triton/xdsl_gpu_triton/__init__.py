"""Backend of xdsl_core: tile IR as Triton source, which stock Triton compiles or interprets."""
