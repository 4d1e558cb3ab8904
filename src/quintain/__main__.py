"""Run the command line as `python -m quintain`."""

from quintain.cli.app import main

if __name__ == "__main__":
    main()
