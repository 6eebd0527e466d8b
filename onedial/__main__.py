"""`python -m onedial`, for where the command itself is not on the path."""

import sys

from onedial.command import main

sys.exit(main())
