"""The backend `dsa_sim`: accelerators that exist as data, with explicit memories, and a simulator of them."""
