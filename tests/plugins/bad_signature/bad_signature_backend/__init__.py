"""A backend with a hook whose parameters are not the hook's."""
