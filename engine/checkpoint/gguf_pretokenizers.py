"""How text is cut before byte-pair merging, by GGUF `tokenizer.ggml.pre` name. Tables only.

Each kind is the list of regular expressions of the model's own tokenizer.json, applied in turn;
what one matches, and what lies between matches, become separate pieces. Names: llama.cpp
`src/llama-vocab.cpp`.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.text import Text, joined

_CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_DIGIT, _DIGITS_3 = r"\p{N}", r"\p{N}{1,3}"
_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"


def _tiktoken(digits: str) -> str:
    """The cl100k family: Llama 3, Qwen 2, GLM 4 differ in how many digits stay together."""
    words = r"[^\r\n\p{L}\p{N}]?\p{L}+"
    return rf"{_CONTRACTIONS}|{words}|{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_SPACES}"


_QWEN35 = (
    _CONTRACTIONS
    + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|"
    + _SPACES
)


def _o200k(digits: str, ending: str) -> str:
    """The o200k family: GPT-4o, Llama 4, Tekken."""
    upper, lower = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
    start = r"[^\r\n\p{L}\p{N}]?"
    words = f"{start}{upper}*{lower}+{ending}|{start}{upper}+{lower}*{ending}"
    return rf"{words}|{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_SPACES}"


_DEEPSEEK_3 = (
    _DIGITS_3,
    "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
    rf"| ?[\p{{P}}\p{{S}}]+[\r\n]*|{_SPACES}",
)
# Letters that have case, as DeepSeek lists them.
_LETTERS = (
    "A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293"
    "\u0295-\u02af\u0370-\u0373\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c"
    "\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f\u0531-\u0556\u10a0-\u10c5"
    "\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77"
    "\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59"
    "\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc"
    "\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107"
    "\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139"
    "\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee"
    "\u2cf2\u2cf3\ua640-\ua66d\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e"
    "\uab70-\uabbf\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a\U00010400-\U0001044f"
    "\U000104b0-\U000104d3\U000104d8-\U000104fb\U00010c80-\U00010cb2\U00010cc0-\U00010cf2"
    "\U000118a0-\U000118df\U0001e900-\U0001e943"
)
_CJK = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"
_PUNCTUATION = "[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]"
_DEEPSEEK_LLM = (
    r"[\r\n]",
    rf"\s?[{_LETTERS}]+",
    rf"\s?{_PUNCTUATION}+",
    r"\s+$",
    _CJK,
    _DIGIT,
)
_DEEPSEEK_CODER = (r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _CJK, _DIGIT)
_FALCON = (r"[\p{P}\$\+<=>\^~\|`]+", _GPT2, "[0-9][0-9][0-9]")
_BAILING = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*"
    r"|\s*[\r\n]|\s+(?!\S)|\s+"
)


@dataclass(frozen=True)
class PreTokenizer:
    """patterns: regular expressions. ignore_merges: a piece that is a token stays whole.
    nfc: letters and their accents are composed first (llama.cpp leaves this out)."""

    patterns: tuple[str, ...]
    ignore_merges: bool = False
    nfc: bool = False
    add_bos: bool = False  # unless the metadata say otherwise


GPT2 = PreTokenizer((_GPT2,))
_LLAMA3 = PreTokenizer((_tiktoken(_DIGITS_3),), ignore_merges=True, add_bos=True)
_DIGIT_GPT2 = PreTokenizer((_DIGIT, _GPT2))
_GPT4O = PreTokenizer((_o200k(_DIGITS_3, f"{_CONTRACTIONS}?"),))

_NAMES: tuple[tuple[PreTokenizer, str], ...] = (
    (
        GPT2,
        "gpt-2 phi-2 mpt jais gigachat mellum exaone4 trillion granite-docling modern-bert",
    ),
    (_LLAMA3, "llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2"),
    (PreTokenizer((_tiktoken(_DIGITS_3),)), "dbrx smaug-bpe chatglm-bpe"),
    (PreTokenizer((_tiktoken(_DIGITS_3),), ignore_merges=True), "glm4 glm5"),
    (PreTokenizer((_GPT2,), nfc=True), "olmo"),
    (PreTokenizer((_tiktoken(_DIGIT),), nfc=True), "qwen2 deepseek-r1-qwen megrez"),
    (PreTokenizer((_tiktoken(_DIGIT),)), "stablelm2 hunyuan kormo grok-2 solar-open"),
    (PreTokenizer((_QWEN35,), nfc=True), "qwen35"),
    (PreTokenizer((_DIGIT, _GPT2), nfc=True), "command-r"),
    (_DIGIT_GPT2, "smollm starcoder refact codeshell exaone minerva-7b mellum2"),
    (PreTokenizer(_DEEPSEEK_LLM), "deepseek-llm"),
    (PreTokenizer(_DEEPSEEK_CODER), "deepseek-coder"),
    (PreTokenizer(_DEEPSEEK_3), "deepseek-v3 hunyuan-dense joyai-llm hy_v4"),
    (PreTokenizer(_FALCON), "falcon"),
    (_GPT4O, "gpt-4o llama4 kanana2 minimax-m2"),
    (PreTokenizer((_o200k(_DIGIT, ""),), ignore_merges=True, add_bos=True), "tekken"),
    (PreTokenizer((_BAILING,)), "bailingmoe bailingmoe2 llada-moe"),
)
_BY_NAME = {name: kind for kind, names in _NAMES for name in names.split()}
# Architectures whose models all cut alike, for old files that name no pre-tokenizer.
_BY_ARCHITECTURE = {
    "qwen2": "qwen2", "qwen2moe": "qwen2", "qwen3": "qwen2", "qwen3moe": "qwen2", "glm4moe": "glm4",
    "gpt-oss": "gpt-4o", "deepseek2": "deepseek-llm", "olmoe": "olmo", "granitemoe": "refact",
}  # fmt: skip


def find(name: object, architecture: object) -> tuple[PreTokenizer, Text | None]:
    """(kind, warning). Without a known name: the architecture's usual kind, else GPT-2's."""
    if isinstance(name, str) and name in _BY_NAME:
        return _BY_NAME[name], None
    usual = _BY_ARCHITECTURE.get(architecture) if isinstance(architecture, str) else None
    used = usual or "gpt-2"
    told = (
        Text(
            "The GGUF file names the unknown pre-tokenizer {0}; {1} is used.",
            f"{name!r:.80}",
            used,
        )
        if name
        else Text("The GGUF file names no pre-tokenizer; {0} is used.", used)
    )
    means = Text(
        "Text may be cut into tokens otherwise than the model was trained with; a newer conversion"
        " of the model avoids this."
    )
    return _BY_NAME[used], joined(" ", (told, means))
