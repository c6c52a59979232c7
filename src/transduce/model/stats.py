"""What a model costs, counted from its settings without building it: parameters, and the work of a step."""

from __future__ import annotations

from transduce.model.settings import ModelSettings

__all__ = ["parameter_count", "step_flops"]


def parameter_count(settings: ModelSettings, src_vocab_size: int, tgt_vocab_size: int) -> int:
    """Count the parameters of a model, tied ones once, biases and layer norms included.

    Args:
        settings: The shape of the model.
        src_vocab_size: Number of source ids, control ids included.
        tgt_vocab_size: Number of target ids, control ids included.

    >>> parameter_count(ModelSettings(), 37_000, 37_000)
    63082496
    """
    d_model, d_ff = settings.d_model, settings.d_ff
    heads_k, heads_v = settings.n_heads * settings.key_width, settings.n_heads * settings.value_width
    attention = 2 * _linear(d_model, heads_k) + _linear(d_model, heads_v) + _linear(heads_v, d_model)
    feed_forward = _linear(d_model, d_ff) + _linear(d_ff, d_model)
    norm = 2 * d_model
    encoder = settings.n_encoder_layers * (attention + feed_forward + 2 * norm)
    decoder = settings.n_decoder_layers * (2 * attention + feed_forward + 3 * norm)
    match settings.tie_embeddings:
        case "all":
            n_vectors = src_vocab_size
        case "decoder":
            n_vectors = src_vocab_size + tgt_vocab_size
        case "none":
            n_vectors = src_vocab_size + 2 * tgt_vocab_size
    if settings.positions == "learned":
        n_vectors += 2 * settings.n_positions
    final_norms = 2 * norm if settings.norm == "pre" else 0
    return n_vectors * d_model + encoder + decoder + final_norms


def step_flops(settings: ModelSettings, tgt_vocab_size: int, src_tokens: int, tgt_tokens: int) -> int:
    """Count the floating-point operations of matrix products, forward and backward, for one sentence pair.

    A product of an (m, k) and a (k, n) matrix is 2 m k n operations forward, and twice that backward (one product for
    the gradient of each factor). Everything else (softmax, norms, ReLU, dropout, look-ups) is not counted. Attention is
    counted as computed: the decoder's over all pairs of positions, though half are masked.

    Args:
        settings: The shape of the model.
        tgt_vocab_size: Number of target ids, control ids included.
        src_tokens: Length of the source, with EOS and padding if the batch has some.
        tgt_tokens: Length of the decoder input, likewise.

    >>> small = ModelSettings(n_encoder_layers=3, n_decoder_layers=3, d_model=256, d_ff=1024, n_heads=4)
    >>> round(step_flops(small, 8000, 15, 16) / 16 / 1e6, 1)  # millions a target token
    44.7
    """
    d_model, d_ff = settings.d_model, settings.d_ff
    heads_k, heads_v = settings.n_heads * settings.key_width, settings.n_heads * settings.value_width

    def attention(n_queries: int, n_keys: int) -> int:
        projections = n_queries * d_model * (heads_k + heads_v) + n_keys * d_model * (heads_k + heads_v)
        return projections + n_queries * n_keys * (heads_k + heads_v)

    def feed_forward(n_tokens: int) -> int:
        return 2 * n_tokens * d_model * d_ff

    encoder = attention(src_tokens, src_tokens) + feed_forward(src_tokens)
    decoder = attention(tgt_tokens, tgt_tokens) + attention(tgt_tokens, src_tokens) + feed_forward(tgt_tokens)
    output = tgt_tokens * d_model * tgt_vocab_size
    multiply_adds = settings.n_encoder_layers * encoder + settings.n_decoder_layers * decoder + output
    return 3 * 2 * multiply_adds


def _linear(n_in: int, n_out: int) -> int:
    return n_in * n_out + n_out
