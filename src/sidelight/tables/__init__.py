"""Tables of mixed columns as numbers, and back."""
