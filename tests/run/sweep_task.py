"""A task in a folder of one's own, whose requests are counted (COUNT_FILE), and slow while a file "slow" lies beside the count."""

import textwrap
from pathlib import Path

_YAML = """
task: slow
dataset_path: json
dataset_kwargs: {data_files: {test: ROWS}}
test_split: test
process_docs: !function slow_task.documents
output_type: multiple_choice
doc_to_text: "{{text}}"
doc_to_choice: ["sì", "no", "forse"]
doc_to_target: "{{gold}}"
metric_list: [{metric: acc, aggregation: mean, higher_is_better: true}]
metadata: {version: 1.0}
"""

_MODULE = '''
import os, time
from pathlib import Path

from lm_eval.models.huggingface import HFLM


def documents(rows):
    """Called when the task is built, before the model is asked anything: the moment to slow the model down, once."""
    if hasattr(HFLM, "plain"):
        return rows
    HFLM.plain = plain = HFLM.loglikelihood
    def loglikelihood(self, requests, disable_tqdm=False):
        answers = plain(self, requests, disable_tqdm)
        with Path(os.environ["COUNT_FILE"]).open("a") as file:
            file.write("".join(f"{request.args[0]}|{request.args[1].strip()}\\n" for request in requests))
        if Path(os.environ["COUNT_FILE"]).with_name("slow").exists():
            time.sleep(5)
        return answers
    HFLM.loglikelihood = loglikelihood
    return rows
'''


def write_slow_task(folder: Path, rows: int) -> Path:
    """Write the task `slow` with that many documents; gives the folder for `--include_path`."""
    import json

    folder.mkdir()
    data = folder / "rows.jsonl"
    lines = [json.dumps({"text": f"Domanda {number}: è vero?", "gold": number % 3}) for number in range(rows)]
    data.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "slow.yaml").write_text(_YAML.replace("ROWS", str(data)), encoding="utf-8")
    (folder / "slow_task.py").write_text(textwrap.dedent(_MODULE), encoding="utf-8")
    return folder
