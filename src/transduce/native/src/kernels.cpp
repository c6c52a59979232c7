// Compiled once for each instruction set, as TRANSDUCE_ISA. See kernels.h for what the functions do.

#include "kernels.h"

#include <cmath>

#include "vector.h"

namespace {

using transduce::Bytes;
using transduce::Panels;

template <int N>
struct Number {
  static constexpr int value = N;
};

constexpr int kColumns = 2 * W;
constexpr int kRows = kRegisters == 32 ? 10 : 6;       // rows of a block of float32 products: 2 * rows sums in registers
constexpr int kByteRows = kRegisters == 32 ? 8 : 4;    // the same for bytes, which need more registers for themselves
constexpr int kAhead = 8;                              // inputs that weights are fetched ahead of their use

// ROWS rows times PANELS panels. Every sum starts from the bias and adds one input after the other.
template <int ROWS, int PANELS>
ALWAYS void block(const Panels& w, const float* in, int in_stride, float* out, int out_stride, int panel, bool relu) {
  Floats total[ROWS][2 * PANELS];
  const float* weights[PANELS];
  for (int p = 0; p < PANELS; p++) {
    weights[p] = w.weights + static_cast<size_t>(panel + p) * w.inner * kColumns;
    for (int r = 0; r < ROWS; r++)
      for (int half = 0; half < 2; half++) total[r][2 * p + half] = load(w.bias + (panel + p) * kColumns + half * W);
  }
  for (int k = 0; k < w.inner; k++) {
    Floats b[2 * PANELS];
    for (int p = 0; p < PANELS; p++) {
      const float* at = weights[p] + static_cast<size_t>(k) * kColumns;
      b[2 * p] = load(at);
      b[2 * p + 1] = load(at + W);
      __builtin_prefetch(at + kAhead * kColumns);
    }
#pragma GCC unroll 16
    for (int r = 0; r < ROWS; r++) {
      const Floats a = all(in[static_cast<size_t>(r) * in_stride + k]);
#pragma GCC unroll 16
      for (int c = 0; c < 2 * PANELS; c++) total[r][c] += a * b[c];
    }
  }
  for (int r = 0; r < ROWS; r++)
    for (int c = 0; c < 2 * PANELS; c++) {
      const Floats y = relu ? larger(Floats{}, total[r][c]) : total[r][c];
      store(out + static_cast<size_t>(r) * out_stride + panel * kColumns + c * W, y);
    }
}

template <int ROWS, int PANELS>
ALWAYS void byte_block(const Panels& w, Bytes in, int in_stride, float* out, int out_stride, int panel, bool relu) {
  Ints total[ROWS][2 * PANELS];
  for (int r = 0; r < ROWS; r++)
    for (int c = 0; c < 2 * PANELS; c++) total[r][c] = Ints{};
  const int8_t* weights[PANELS];
  for (int p = 0; p < PANELS; p++) weights[p] = w.bytes + static_cast<size_t>(panel + p) * w.inner * kColumns;
  for (int k = 0; k < w.inner; k += 4) {
    Ints b[2 * PANELS];
    for (int p = 0; p < PANELS; p++) {
      const int8_t* at = weights[p] + static_cast<size_t>(k) * kColumns;
      b[2 * p] = load_ints(at);
      b[2 * p + 1] = load_ints(at + 4 * W);
      __builtin_prefetch(at + 4 * kAhead * kColumns);
    }
#pragma GCC unroll 16
    for (int r = 0; r < ROWS; r++) {
      int32_t four;
      std::memcpy(&four, in.values + static_cast<size_t>(r) * in_stride + k, 4);
      const Ints a = all_ints(four);
#pragma GCC unroll 16
      for (int c = 0; c < 2 * PANELS; c++) total[r][c] = dot_bytes(total[r][c], a, b[c]);
    }
  }
  for (int r = 0; r < ROWS; r++)
    for (int c = 0; c < 2 * PANELS; c++) {
      const int column = panel * kColumns + c * W;
      const Ints exact = total[r][c] - load_ints(w.offset + column) * kZeroPoint;
      Floats y = to_floats(exact) * in.scale[r] * load(w.scale + column) + load(w.bias + column);
      if (relu) y = larger(Floats{}, y);
      store(out + static_cast<size_t>(r) * out_stride + column, y);
    }
}

// All rows times panels first..end-1. Many rows: a panel stays in the cache while the rows go by in blocks. Few rows:
// several panels at once, since a processor needs some eight independent sums to stay busy.
void multiply(const Panels& w, const float* in, int in_stride, int rows, float* out, int out_stride, int first, int end,
              bool relu) {
  int panel = first;
  const auto rows_by = [&](auto rows_of_block, int& r) {
    constexpr int n = decltype(rows_of_block)::value;
    for (; r + n <= rows; r += n)
      block<n, 1>(w, in + static_cast<size_t>(r) * in_stride, in_stride, out + static_cast<size_t>(r) * out_stride, out_stride,
                  panel, relu);
  };
  if (rows == 1)
    for (; panel + 4 <= end; panel += 4) block<1, 4>(w, in, in_stride, out, out_stride, panel, relu);
  if (rows == 2 || rows == 3)
    for (; panel + 2 <= end; panel += 2) {
      if (rows == 2) block<2, 2>(w, in, in_stride, out, out_stride, panel, relu);
      else block<3, 2>(w, in, in_stride, out, out_stride, panel, relu);
    }
  for (; panel < end; panel++) {
    int r = 0;
    if (rows != 8) rows_by(Number<kRows>{}, r);  // two blocks of four are quicker than six and two
    rows_by(Number<4>{}, r);
    rows_by(Number<2>{}, r);
    rows_by(Number<1>{}, r);
  }
}

void multiply_bytes(const Panels& w, Bytes in, int in_stride, int rows, float* out, int out_stride, int first, int end,
                    bool relu) {
  int panel = first;
  const auto rows_by = [&](auto rows_of_block, int& r) {
    constexpr int n = decltype(rows_of_block)::value;
    for (; r + n <= rows; r += n) {
      const Bytes from{in.values + static_cast<size_t>(r) * in_stride, in.scale + r};
      byte_block<n, 1>(w, from, in_stride, out + static_cast<size_t>(r) * out_stride, out_stride, panel, relu);
    }
  };
  if (rows == 1)
    for (; panel + 4 <= end; panel += 4) byte_block<1, 4>(w, in, in_stride, out, out_stride, panel, relu);
  if (rows == 2)
    for (; panel + 2 <= end; panel += 2) byte_block<2, 2>(w, in, in_stride, out, out_stride, panel, relu);
  for (; panel < end; panel++) {
    int r = 0;
    rows_by(Number<kByteRows>{}, r);
    rows_by(Number<2>{}, r);
    rows_by(Number<1>{}, r);
  }
}

void quantize(const float* in, int width, uint8_t* out, float* scale) {
  Floats high = all(1e-8f);  // a row of zeros has a scale too
  Floats poison{};           // 0, or NaN where a number is not finite: bytes cannot say that, so the scale must
  for (int i = 0; i < width; i += W) {
    const Floats x = load(in + i);
    high = larger(high, magnitude(x));
    poison += x - x;
  }
  const float most = largest(high), steps = 127.0f / most;
  *scale = most / 127.0f + sum(poison);
  for (int i = 0; i < width; i += W) {
    const Ints q = nearest(load(in + i) * steps) + kZeroPoint;
#if TRANSDUCE_AVX2
    const __m256i x = reinterpret_cast<__m256i>(q);
    const __m128i words = _mm_packus_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out + i), _mm_packus_epi16(words, words));
#else
    for (int j = 0; j < W; j++) out[i + j] = static_cast<uint8_t>(q[j]);
#endif
  }
}

// out[0..BLOCKS * W) = sum_t weight[t] * values[t]
template <int BLOCKS>
ALWAYS void weighted_sum(const float* values, int stride, const int32_t* index, int n, const float* weights, float* out) {
  Floats total[BLOCKS];
  for (int b = 0; b < BLOCKS; b++) total[b] = Floats{};
  for (int t = 0; t < n; t++) {
    const float* v = values + static_cast<size_t>(index ? index[t] : t) * stride;
    const Floats p = all(weights[t]);
    for (int b = 0; b < BLOCKS; b++) total[b] += p * load(v + b * W);
  }
  for (int b = 0; b < BLOCKS; b++) store(out + b * W, total[b]);
}

void attend(const float* q, const float* keys, int key_stride, const float* values, int value_stride, const int32_t* index, int n,
            int key_width, int value_width, float scale, float* weights, float* out) {
  const float lowest = -INFINITY;
  float most = lowest;
  for (int t = 0; t < n; t++) {
    const float* k = keys + static_cast<size_t>(index ? index[t] : t) * key_stride;
    Floats even{}, odd{};  // key_width is a multiple of 2 * W
    for (int i = 0; i < key_width; i += 2 * W) {
      even += load(q + i) * load(k + i);
      odd += load(q + i + W) * load(k + i + W);
    }
    weights[t] = sum(even + odd) * scale;
    most = weights[t] > most ? weights[t] : most;
  }
  const int padded = (n + W - 1) / W * W;
  for (int t = n; t < padded; t++) weights[t] = lowest;
  Floats total{};
  for (int t = 0; t < padded; t += W) {
    const Floats e = exponential(load(weights + t) - most);
    store(weights + t, e);
    total += e;
  }
  const Floats share = all(1.0f / sum(total));
  for (int t = 0; t < padded; t += W) store(weights + t, load(weights + t) * share);
  int done = 0;
  for (; done + 8 * W <= value_width; done += 8 * W) weighted_sum<8>(values + done, value_stride, index, n, weights, out + done);
  for (; done + 4 * W <= value_width; done += 4 * W) weighted_sum<4>(values + done, value_stride, index, n, weights, out + done);
  for (; done < value_width; done += 2 * W) weighted_sum<2>(values + done, value_stride, index, n, weights, out + done);
}

void sum_into(float* x, const float* add, int padded) {
  for (int i = 0; i < padded; i += W) store(x + i, load(x + i) + load(add + i));
}

void normalize(float* x, const float* add, int width, int padded, const float* gain, const float* bias, float* out) {
  if (add) sum_into(x, add, padded);
  Floats total{};
  for (int i = 0; i < padded; i += W) total += load(x + i);  // the padding holds zeros
  const float mean = sum(total) / static_cast<float>(width);
  Floats squares{};
  float tail = 0;
  int i = 0;
  for (; i + W <= width; i += W) {
    const Floats away = load(x + i) - mean;
    squares += away * away;
  }
  for (; i < width; i++) tail += (x[i] - mean) * (x[i] - mean);
  const float variance = (sum(squares) + tail) / static_cast<float>(width);
  const float inverse = 1.0f / std::sqrt(variance + 1e-5f);
  for (i = 0; i < padded; i += W) store(out + i, (load(x + i) - mean) * inverse * load(gain + i) + load(bias + i));
}

float top(const float* z, int first, int end, int k, int32_t* ids, float* values) {
  for (int i = 0; i < k; i++) values[i] = -INFINITY, ids[i] = -1;
  float worst = -INFINITY, most = -INFINITY;
  Floats high = all(-INFINITY);
  const int padded = (end + W - 1) / W * W;
  for (int i = 0; i < padded; i += W) {
    const Floats now = load(z + i);
    high = larger(high, now);
    uint32_t above = lanes_above(now, all(worst));
    while (above) {
      const int id = i + __builtin_ctz(above);
      above &= above - 1;
      const float value = z[id];
      if (id < first || id >= end || !(value > worst)) continue;
      int place = k - 1;
      for (; place > 0 && values[place - 1] < value; place--) {
        values[place] = values[place - 1];
        ids[place] = ids[place - 1];
      }
      values[place] = value;
      ids[place] = id;
      worst = values[k - 1];
    }
  }
  most = largest(high);
  Floats total[2] = {Floats{}, Floats{}};
  int i = 0;
  for (; i + 2 * W <= padded; i += 2 * W) {
    total[0] += exponential(load(z + i) - most);
    total[1] += exponential(load(z + i + W) - most);
  }
  if (i < padded) total[0] += exponential(load(z + i) - most);
  return most + std::log(sum(total[0] + total[1]));
}

void log_softmax(const float* z, int end, float log_total, float* out) {
  for (int i = 0; i < end; i++) {
    const float y = z[i] - log_total;
    out[i] = y > 0.0f ? 0.0f : y;  // rounding may leave a certain token a hair above 0; NaN stays NaN
  }
}

}  // namespace

#define TABLE_OF(isa) kernels_##isa
#define TABLE(isa) TABLE_OF(isa)
#define TEXT_OF(isa) #isa
#define TEXT(isa) TEXT_OF(isa)

namespace transduce {

extern const Kernels TABLE(TRANSDUCE_ISA);
const Kernels TABLE(TRANSDUCE_ISA) = {TEXT(TRANSDUCE_ISA), kColumns, kZeroPoint,  multiply, multiply_bytes, quantize, attend,
                                      normalize,           sum_into, top,         log_softmax};

}  // namespace transduce
