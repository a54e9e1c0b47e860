"""A backend whose name another distribution has taken."""
