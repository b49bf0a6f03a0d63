"""Checks the submissions of a repository in its CI: see `lm_eval_ita/leaderboard/check.py`."""

import sys

from lm_eval_ita.leaderboard.check import main

if __name__ == "__main__":
    sys.exit(main())
