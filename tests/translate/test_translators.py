"""Models of transformers: small random ones, for the wiring of prompts, codes, batches and limits."""

import json
from pathlib import Path

import pytest

from lm_eval_ita.errors import UserError
from lm_eval_ita.translate import prompts
from lm_eval_ita.translate.translators import CausalTranslator, Options, SequenceTranslator, make_translator
from tests.translate.conftest import SENTENCES

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.slow

TEXTS = ["the cat", "a cat and a dog in the house", "cat"]
WORDS = "<s> </s> <unk> <pad> the a cat dog house in and it eng_Latn ita_Latn".split()


def tokenizer(folder: Path, **more: str) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    made = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    special = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=made, **special, **more).save_pretrained(folder)


SIZES = {
    "vocab_size": len(WORDS),
    "d_model": 16,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 16,
    "decoder_ffn_dim": 16,
    "max_position_embeddings": 32,
    "pad_token_id": 3,
    "eos_token_id": 1,
    "bos_token_id": 0,
    "decoder_start_token_id": 3,
}


@pytest.fixture(scope="module")
def marian(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("marian")
    size = marian_tokenizer(folder)
    torch.manual_seed(0)
    ids = {"vocab_size": size, "eos_token_id": 0, "pad_token_id": size - 1, "decoder_start_token_id": size - 1}
    config = transformers.MarianConfig(**{**SIZES, **ids}, forced_eos_token_id=None)
    transformers.MarianMTModel(config).save_pretrained(folder)
    return folder


def marian_tokenizer(folder: Path) -> int:
    """Opus-MT's own kind of tokenizer, its pieces from a few sentences; returns how many it has."""
    pieces = pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")
    text, prefix = folder / "text", folder / "pieces"
    text.write_text("\n".join(SENTENCES), encoding="utf-8")
    pieces.SentencePieceTrainer.train(
        input=str(text), model_prefix=str(prefix), vocab_size=50, hard_vocab_limit=False, minloglevel=2
    )
    model = prefix.with_suffix(".model")
    read = pieces.SentencePieceProcessor(model_file=str(model))
    words = dict.fromkeys(["</s>", "<unk>", *(read.id_to_piece(n) for n in range(read.get_piece_size())), "<pad>"])
    (folder / "words.json").write_text(json.dumps({word: n for n, word in enumerate(words)}), encoding="utf-8")
    files = {"source_spm": str(model), "target_spm": str(model), "vocab": str(folder / "words.json")}
    transformers.MarianTokenizer(**files, source_lang="en", target_lang="it").save_pretrained(folder)
    return len(words)


@pytest.fixture(scope="module")
def nllb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nllb")
    torch.manual_seed(0)
    transformers.M2M100ForConditionalGeneration(transformers.M2M100Config(**SIZES)).save_pretrained(folder)
    tokenizer(folder)
    return folder


@pytest.mark.parametrize("kind", ["marian", "nllb"])
def test_sequence_models(kind: str, request: pytest.FixtureRequest) -> None:
    folder = request.getfixturevalue(kind)
    translator = make_translator(Options(str(folder), max_new_tokens=12))
    assert isinstance(translator, SequenceTranslator)
    together = translator.translate(TEXTS)
    assert len(together) == len(TEXTS)
    assert together == translator.translate(TEXTS), "greedy"
    alone = [translator.translate([text])[0] for text in TEXTS]
    assert [output.text for output in together] == [output.text for output in alone], "padding changes nothing"
    assert translator.settings["codes"] == {"marian": [None, ""], "nllb": ["eng_Latn", "ita_Latn"]}[kind]
    assert make_translator(Options(str(folder), beams=3)).settings["beams"] == 3
    with pytest.raises(UserError, match="is no language model that is asked"):
        make_translator(Options(str(folder), prompt="tower"))


def test_a_model_that_loops_is_stopped_and_said_so(marian: Path) -> None:
    translator = SequenceTranslator(Options(str(marian)))
    with torch.no_grad():  # it can never end
        translator._model.final_logits_bias[0, 0] = -1e9
    (output,) = translator.translate(["the cat"])
    assert not output.finished
    long = " ".join(["cat"] * 500)
    assert len(translator.translate([long, "cat"])) == 2, "longer than the model's positions: cut"


def test_codes() -> None:
    nllb_codes = prompts.language_codes("m2m_100", {"eng_Latn": 1, "ita_Latn": 2}, "en", "it")
    assert (nllb_codes.source, nllb_codes.forced, nllb_codes.prefix) == ("eng_Latn", "ita_Latn", "")
    m2m = prompts.language_codes("m2m_100", {"__en__": 1, "__it__": 2}, "en", "it")
    assert (m2m.source, m2m.forced) == ("en", "__it__")
    mbart = prompts.language_codes("mbart", {"en_XX": 1, "it_IT": 2}, "it", "en")
    assert (mbart.source, mbart.forced) == ("it_IT", "en_XX")
    assert prompts.language_codes("marian", {}, "en", "it").prefix == ""
    assert prompts.language_codes("marian", {">>ita<<": 1}, "en", "it").prefix == ">>ita<< "
    assert prompts.language_codes("t5", {"<2it>": 1}, "en", "it").prefix == "<2it> "
    assert prompts.language_codes("t5", {}, "en", "it").prefix == "translate English to Italian: "
    with pytest.raises(UserError, match="a bart model without eng_Latn and ita_Latn"):
        prompts.language_codes("bart", {}, "en", "it")


def test_prompts() -> None:
    assert prompts.message("tower", "A cat.", "en", "it") == (
        "Translate the following text from English into Italian.\nEnglish: A cat.\nItalian:"
    )
    assert prompts.chosen_prompt("Unbabel/TowerInstruct-7B-v0.1", None, chat=True) == "tower"
    assert prompts.chosen_prompt("org/other", None, chat=True) == "instruct"
    assert prompts.chosen_prompt("Unbabel/TowerBase-7B-v0.1", None, chat=False) == "fewshot"
    assert prompts.chosen_prompt("org/other", "tower", chat=True) == "tower"
    assert prompts.few_shot("A cat.", "en", "it").endswith("\n\nEnglish: A cat.\nItalian:")


@pytest.fixture(scope="module")
def causal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("causal")
    torch.manual_seed(0)
    sizes = {"vocab_size": len(WORDS), "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1}
    ids = {"bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 3}
    config = transformers.LlamaConfig(**sizes, **ids, num_attention_heads=2, max_position_embeddings=512)
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    template = "{% for m in messages %}<s> {{ m.content }} {% endfor %}"
    tokenizer(folder, chat_template=template)
    return folder


def test_causal_models(causal: Path, tmp_path: Path) -> None:
    translator = make_translator(Options(str(causal), max_new_tokens=8))
    assert isinstance(translator, CausalTranslator)
    assert translator.settings["prompt"] == "instruct"
    assert translator.settings["temperature"] == 0
    together = translator.translate(TEXTS)
    assert [output.text for output in together] == [translator.translate([text])[0].text for text in TEXTS]
    sampled = [
        make_translator(Options(str(causal), max_new_tokens=8, temperature=1.0, seed=seed)) for seed in (1, 1, 2)
    ]
    first, again, other = ([output.text for output in one.translate(TEXTS)] for one in sampled)
    assert first == again, "a seed is a sample"
    assert first != other
    assert sampled[0].settings["seed"] == 1
    base = CausalTranslator(Options(str(causal), prompt="fewshot", max_new_tokens=4))
    assert len(base.translate(TEXTS)) == 3
    # A base model has no template.
    for file in causal.iterdir():
        if file.name != "chat_template.jinja":
            (tmp_path / file.name).write_bytes(file.read_bytes())
    assert make_translator(Options(str(tmp_path))).settings["prompt"] == "fewshot"
    with pytest.raises(UserError, match="has no chat template"):
        make_translator(Options(str(tmp_path), prompt="tower"))


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be loaded"):
        make_translator(Options(str(tmp_path)))
