"""How one system is counted: outcomes of its views, exact measures over bases, tests and intervals."""
