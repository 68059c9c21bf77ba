"""``python -m sidelight.cli``: the command line without an installed script."""

from . import main

if __name__ == "__main__":
    main()
