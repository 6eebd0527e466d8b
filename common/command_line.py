"""How every program here ends: a bad input gives one sentence and exit code 2, a bug keeps its traceback."""

import errno
import sys
from collections.abc import Callable

from common.errors import InputError

_REMEDIES = {
    errno.ENOSPC: "free some space or choose another folder with --out",
    errno.EACCES: "choose a folder that you may write, or change the permissions",
    errno.EPERM: "choose a folder that you may write, or change the permissions",
    errno.EROFS: "choose a folder on a disk that is not read-only",
    errno.ENOENT: "check the path",
    errno.ENOTDIR: "check the path: one of its parts is a file",
    errno.EISDIR: "give a file, not a folder",
    errno.EEXIST: "choose another path: this one is taken",
    errno.ENAMETOOLONG: "choose a shorter path",
}


def run_command(main: Callable[[], int | None]) -> int:
    """Run `main` and turn an unusable input into one sentence on stderr.

    Returns:
        main's exit code (None counts as 0); 2 for an `InputError` or for a file-system error that the user can
        mend; 130 after Ctrl-C. Any other exception passes through, with its traceback: it is a bug.
    """
    try:
        return main() or 0
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted; what was finished is saved", file=sys.stderr)
        return 130
    except OSError as error:
        if error.errno not in _REMEDIES:
            raise
        where = f" ({error.filename})" if error.filename else ""
        print(f"error: {error.strerror}{where}; {_REMEDIES[error.errno]}", file=sys.stderr)
        return 2
