"""The modules that answer for Triton's; `finder.MODULES` says which for which."""
