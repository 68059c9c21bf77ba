"""Any embedding made two-way."""
