"""Multiple relational embedding."""
