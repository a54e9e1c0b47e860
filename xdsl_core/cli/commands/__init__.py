"""The commands of `xdslc`, one subject a module; each is a plain function that `main` gives to typer."""
