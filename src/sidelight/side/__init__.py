"""What the user knows beside the data: frozen, index-based, no algorithms."""
