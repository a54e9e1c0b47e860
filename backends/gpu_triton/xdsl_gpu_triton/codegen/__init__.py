"""From lowered tile IR to the text of a Triton kernel."""
