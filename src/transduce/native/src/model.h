// The model in memory: its shape, its matrices packed for the kernels, and where everything lies in one block of bytes.
//
// The block is made once by pack() and then only read: it may be a file that is mapped into memory and shared by processes.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "kernels.h"

namespace transduce {

// What the settings of a model come to. Part of the C interface: plain 32-bit numbers.
struct Shape {
  int32_t d_model, d_ff, n_heads, d_k, d_v;
  int32_t n_encoder_layers, n_decoder_layers;
  int32_t src_vocab, tgt_vocab;
  int32_t pre_norm;     // 1: normalization before each sublayer and a last one; 0: after (the paper)
  int32_t n_positions;  // learned positions; 0: sinusoidal, any number
};

struct Norm {
  const float* gain;
  const float* bias;
};

struct Attention {
  Panels queries, keys_values, out;  // keys_values: the columns of all keys, then those of all values
};

struct EncoderLayer {
  Attention self;
  Panels up, down;
  Norm self_norm, feed_forward_norm;
};

struct DecoderLayer {
  Attention self, cross;
  Panels up, down;
  Norm self_norm, cross_norm, feed_forward_norm;
};

// Widths as they are stored: multiples of the kernels' panel. Heads are padded one by one, so that each has panels of its own.
struct Widths {
  int model, inner, key, value;  // of the stream, the feed-forward layer, one head's keys, one head's values
  int keys, values;              // of all heads
  int logits;

  Widths(const Shape&, int columns);
};

class Model {
 public:
  // block: from pack(), for the same shape, kernels and type; it must outlive the model.
  Model(const Shape&, const Kernels&, bool is_int8, const char* block);

  static size_t packed_size(const Shape&, const Kernels&, bool is_int8);

  // Fill a block of packed_size() zeros. arrays: the weights by the order of docs in native/weights.py, float32, row-major.
  static void pack(const Shape&, const Kernels&, bool is_int8, const float* const* arrays, char* block);

  // The vector of a position, d_model padded; sinusoidal ones are computed when they are first asked for.
  const float* src_position(int position) const { return position_row(src_positions_, position); }
  const float* tgt_position(int position) const { return position_row(tgt_positions_, position); }

  Shape shape;
  const Kernels& kernels;
  Widths widths;
  bool is_int8;             // matrix products in int8
  float embedding_scale;   // sqrt(d_model)
  float query_scale;       // 1 / sqrt(d_k)
  const float* src_embedding;  // [src_vocab][widths.model]
  const float* tgt_embedding;
  Panels output;
  // Searches that are still to run with one thread a sentence, since threads that wait for each other were slow lately.
  mutable std::atomic<int> searches_alone{0};
  std::vector<EncoderLayer> encoder;
  std::vector<DecoderLayer> decoder;
  Norm encoder_norm{}, decoder_norm{};  // pre-norm only

 private:
  struct Binder;
  const float* position_row(const float* learned, int position) const;

  const float* src_positions_ = nullptr;  // learned ones, or null
  const float* tgt_positions_ = nullptr;
  static constexpr int kTable = 256;      // sinusoidal positions in a table
  static constexpr int kTables = 1 << 14;
  mutable std::unique_ptr<std::atomic<float*>[]> tables_;
  mutable std::mutex growing_;
  mutable std::vector<std::unique_ptr<float[]>> owned_;
};

}  // namespace transduce
