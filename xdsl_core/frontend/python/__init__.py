"""Python kernels to tile IR: source, scopes, statements, expressions, calls."""
