"""Side information that the user gives beside the data: immutable, by row number, no algorithms."""
