"""`python -m lm_eval_ita`, and `accelerate launch -m lm_eval_ita run ...`."""

import sys

from lm_eval_ita.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
