// The arithmetic that depends on the processor: a table of functions, one table for each instruction set.
//
// Every function computes each row by itself, always in the same order of operations: a row's result is the same to the last
// bit whatever rows stand beside it. Rows are padded with zeros to a multiple of `columns`, so no function has a tail.

#pragma once

#include <cstdint>

namespace transduce {

// A matrix product's constant side, in panels of `columns` outputs:
//   float32  panel p, then input k, then column:                       [n_panels][inner][columns]
//   int8     panel p, then input group of four, then column, then k:   [n_panels][inner / 4][columns][4]
struct Panels {
  int inner = 0;                    // inputs, padded
  int n_panels = 0;
  const float* weights = nullptr;   // float32, or:
  const int8_t* bytes = nullptr;    // int8, 7 bits: -63..63
  const float* scale = nullptr;     // int8: [outputs] what a step of a weight is worth
  const int32_t* offset = nullptr;  // int8: [outputs] sum of the column's weights, to take the zero point out
  const float* bias = nullptr;      // [outputs]
};

// Rows as int8: what a float32 row becomes on its way into an int8 product.
struct Bytes {
  const uint8_t* values;  // [rows][stride]
  const float* scale;     // [rows]
};

struct Kernels {
  const char* name;
  int columns;     // of a panel; every width is padded to a multiple of it
  int zero_point;  // the byte that stands for 0

  // out[r][c] = bias[c] + sum_k in[r][k] * weight[k][c] for the columns of panels first..end-1; relu: negative results become 0.
  void (*multiply)(const Panels&, const float* in, int in_stride, int rows, float* out, int out_stride, int first, int end,
                   bool relu);
  // The same over bytes; the sums are exact integers.
  void (*multiply_bytes)(const Panels&, Bytes in, int in_stride, int rows, float* out, int out_stride, int first, int end,
                         bool relu);
  // Scale a row so that its largest magnitude becomes 127, and round.
  void (*quantize)(const float* in, int width, uint8_t* out, float* scale);
  // out = softmax(q . keys) . values. index: which slot holds position t; null: slot t. weights: [n] rounded up, left normalized.
  void (*attend)(const float* q, const float* keys, int key_stride, const float* values, int value_stride, const int32_t* index,
                 int n, int key_width, int value_width, float scale, float* weights, float* out);
  // x += add (where add is given), then out = (x - mean) / deviation * gain + bias over the first `width` numbers.
  void (*normalize)(float* x, const float* add, int width, int padded, const float* gain, const float* bias, float* out);
  // x += add
  void (*sum_into)(float* x, const float* add, int padded);
  // The k largest numbers of z[first..end), best first and of equal ones the lower index; returns log(sum(exp(z[0..end)))).
  float (*top)(const float* z, int first, int end, int k, int32_t* ids, float* values);
  // out[i] = min(0, z[i] - log_total)
  void (*log_softmax)(const float* z, int end, float log_total, float* out);
};

// The tables of this build that this machine can run, best first; null behind the last.
const Kernels* const* usable_kernels();

}  // namespace transduce
