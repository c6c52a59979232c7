"""A batch of 8 = eight batches of 1; padded = unpadded."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from tests.parity.tiny import pairs, small_model

TOLERANCE = 1e-12  # float64: only the order of sums of some dozen terms of size 1 differs


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_a_batch_of_8_is_eight_batches_of_1(norm: str) -> None:
    src_lengths, tgt_lengths = [1, 9, 4, 4, 7, 2, 9, 3], [3, 8, 1, 6, 6, 2, 7, 5]
    model, data = small_model(norm=norm), pairs(src_lengths, tgt_lengths)
    with torch.inference_mode():
        together = model(data.src, data.src_valid, data.tgt_in)
        for i, (s, t) in enumerate(zip(src_lengths, tgt_lengths, strict=True)):
            alone = model(data.src[i : i + 1, :s], data.src_valid[i : i + 1, :s], data.tgt_in[i : i + 1, :t])
            torch.testing.assert_close(together[i, :t], alone[0], rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("training", [False, True])  # eval and no_grad choose a fast path in some libraries
def test_more_padding_changes_nothing_at_real_positions(grad: bool, training: bool) -> None:
    model, data = small_model().train(training), pairs([6, 3], [5, 4])
    with torch.set_grad_enabled(grad):
        narrow = model.encode(data.src, data.src_valid)
        wide = model.encode(F.pad(data.src, (0, 5)), F.pad(data.src_valid, (0, 5)))
        assert wide.shape == (2, 11, 12)
        for i, length in enumerate((6, 3)):
            torch.testing.assert_close(wide[i, :length], narrow[i, :length], rtol=0, atol=TOLERANCE)
        hidden = model.decode(F.pad(data.tgt_in, (0, 5)), wide, F.pad(data.src_valid, (0, 5)))[:, :5]
        expected = model.decode(data.tgt_in, narrow, data.src_valid)
        torch.testing.assert_close(hidden, expected, rtol=0, atol=TOLERANCE)
