"""Which data sets the suites are made of, and how to get them."""

from lm_eval_ita.catalogue.loader import Loaded, fetch, load, load_entry, locate, path
from lm_eval_ita.catalogue.rows import Row, row_hash
from lm_eval_ita.catalogue.schema import Entry, catalogue, entry, keys, read_catalogue

__all__ = [
    "Entry",
    "Loaded",
    "Row",
    "catalogue",
    "entry",
    "fetch",
    "keys",
    "load",
    "load_entry",
    "locate",
    "path",
    "read_catalogue",
    "row_hash",
]
