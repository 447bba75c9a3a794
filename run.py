"""The command line: `python run.py --help` shows what it can do."""

import sys

if __name__ == "__main__":
    try:
        from cli.main import main
    except KeyboardInterrupt:
        sys.exit(130)
    main()
