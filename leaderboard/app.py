"""The leaderboard as a Hugging Face Space. Its store is a data set repository: see README.md."""

import os

from lm_eval_ita.leaderboard.app import serve
from lm_eval_ita.leaderboard.store import open_store

if __name__ == "__main__":
    store = open_store(os.environ.get("LM_EVAL_ITA_STORE", "store"))
    serve(store, "0.0.0.0", int(os.environ.get("PORT", "7860")), is_behind_proxy=True)
