"""A backend written for another version of the plugin API."""
