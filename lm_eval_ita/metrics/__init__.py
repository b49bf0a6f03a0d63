"""Pure metrics, one file each: lists in, numbers out. Nothing here knows the harness or downloads data.

`classification` (accuracy, macro F1, MCC, baselines), `multiple_choice` (acc, acc_norm, mc1, mc2), `squad` (exact
match, F1), `rouge`, `chrf`, `text` (copied and empty outputs), `honest` (HurtLex), `bertscore` and `neutrality` (which
load a model on first use) and `scorers` (whether those models can be had).

A metric without a value is NaN, never 0. Modules are imported by name; importing one loads no model library.
"""
