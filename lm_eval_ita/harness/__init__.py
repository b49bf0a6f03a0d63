"""The only code that knows lm_eval's calling conventions: the functions that the task YAML files name."""

from lm_eval_ita.harness._manners import install

install()
