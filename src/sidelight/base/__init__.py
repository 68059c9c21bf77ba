"""What every room uses: messages, checks, costs, progress, warnings, files, all-or-nothing fits, tiles."""
