"""`python -m comitia.cli`: the command line without its script."""

from comitia.cli.app import main

if __name__ == "__main__":
    main()
