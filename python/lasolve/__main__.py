"""python -m lasolve: the tool."""

import os
import sys

from ._tool import PROGRAM


def main():
    os.execv(PROGRAM, [PROGRAM, *sys.argv[1:]])


if __name__ == "__main__":
    main()
