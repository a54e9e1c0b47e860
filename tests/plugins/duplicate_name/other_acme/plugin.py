"""Never imported, since the name is taken by a distribution that sorts before this one."""

raise AssertionError("the duplicate must not be imported")
