// Training: everything of a step but the matrix products, and its C interface (native/training.py says what it takes and gives).
//
// Rows are packed: the real tokens of all sentences of a microbatch, end to end and without padding, float32. Nothing is
// padded, so every function has tails. A function reads and writes each row once, since memory is what it waits for; what is
// summed over rows is summed in the order of the rows. There are tables of functions, one for each instruction set.

#pragma once

#include <cstddef>
#include <cstdint>

namespace transduce::training {

// Which elements are dropped: see noise.h. positions, numbers: of each row.
struct Noise {
  uint32_t key[2];
  uint32_t site;       // of the place in the model; the head stands above its 16 bits
  uint32_t threshold;  // of 65536; 0: nothing is dropped
  const int32_t* positions;
  const int32_t* numbers;
};

// out[r] = drop(weight[ids[r]] * scale + table[positions[r]]), and backwards.
struct Embedding {
  const float *weight, *table;
  const int64_t* ids;
  const int32_t* positions;
  float* out;
  const float* d_out;
  float *d_weight, *d_table;  // d_table may be null
  int64_t n, d, vocab, n_positions;
  double scale;
};

// y = s = x + drop(y + y_bias), out = (s - mean) * inverse * gain + bias, and backwards.
// x, y_bias may be null; out null: no norm. Backward: s is y; each of d_out, d_stream and of the results may be null.
struct Norm {
  const float* x;
  float* y;
  const float *y_bias, *gain, *bias;
  float *out, *mean, *inverse;
  const float *d_out, *d_stream;
  float *d_x, *d_y, *d_gain, *d_bias, *d_y_bias;
  int64_t n, d;
  double eps;
};

// h = drop(max(0, h + bias)), and backwards; the biases may be null.
struct Relu {
  float* h;
  const float* bias;
  float *d_h, *d_bias;
  int64_t n, d;
};

// out = drop(softmax(scale * q k^T)) v for each sentence and head, and backwards. All biases may be null, and weights in the
// forward. Strides are those of rows, in floats; the gradients have those of what they are gradients of.
struct Attention {
  float *q, *k, *v;
  const float *q_bias, *k_bias, *v_bias;
  const int32_t *query_offsets, *key_offsets;  // [n_sentences + 1]
  float *weights, *out;
  const float* d_out;
  float *d_q, *d_k, *d_v, *d_q_bias, *d_k_bias, *d_v_bias;
  int64_t q_stride, k_stride, v_stride, out_stride, n_sentences, n_heads, key_width, value_width, causal;
  double scale;
};

// Sums over rows of (1 - eps) nll + eps / vocab * sum_k(-log p_k), and of nll; has_gradient: logits become the gradient of the
// former, times grad_scale. nll: [n] or null.
struct Loss {
  float* logits;
  const int64_t* labels;
  float* nll;
  int64_t n, vocab, stride, has_gradient;
  double label_smoothing, grad_scale;
};

// One for each instruction set, as Kernels in kernels.h. Everything has been checked before.
struct RowKernels {
  const char* name;
  void (*embed)(const Embedding&, const Noise&);
  void (*embed_backward)(const Embedding&, const Noise&);
  void (*residual_norm)(const Norm&, const Noise&);
  void (*residual_norm_backward)(const Norm&, const Noise&);
  void (*relu)(const Relu&, const Noise&);
  void (*relu_backward)(const Relu&, const Noise&);
  void (*loss)(const Loss&, double* nats, double* nll_nats);
};

struct AttentionKernels {
  void (*forward)(const Attention&, const Noise&);
  void (*backward)(const Attention&, const Noise&);
};

// Memory of this thread, aligned for any vector and not cleared, valid until it is asked for again.
float* scratch(size_t n_floats);

}  // namespace transduce::training

// isa: a number from 0 for transduce_isa. noise: null for none. 0, or -1 with a message for transduce_training_error().
#define TRANSDUCE_TRAINING_API extern "C" __attribute__((visibility("default")))
#define TRANSDUCE_TRAINING(name, Arguments)                                                                                \
  TRANSDUCE_TRAINING_API int32_t transduce_training_##name(int32_t isa, const transduce::training::Arguments* arguments, \
                                                           const transduce::training::Noise* noise)

TRANSDUCE_TRAINING_API int32_t transduce_training_abi();  // goes up when this file changes
TRANSDUCE_TRAINING_API const char* transduce_training_error();
TRANSDUCE_TRAINING(embed, Embedding);
TRANSDUCE_TRAINING(embed_backward, Embedding);
TRANSDUCE_TRAINING(residual_norm, Norm);
TRANSDUCE_TRAINING(residual_norm_backward, Norm);
TRANSDUCE_TRAINING(relu, Relu);
TRANSDUCE_TRAINING(relu_backward, Relu);
TRANSDUCE_TRAINING(attention, Attention);
TRANSDUCE_TRAINING(attention_backward, Attention);
TRANSDUCE_TRAINING_API int32_t transduce_training_loss(int32_t isa, const transduce::training::Loss*, double* nats, double* nll_nats);
