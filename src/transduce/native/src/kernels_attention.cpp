// Compiled once for each instruction set, as TRANSDUCE_ISA. Attention of packed sentences: see training.h.
//
// Sentences have some 15 tokens, so each sentence and head is six small products that stay in the first-level cache. The
// constant side of a product is copied into panels of two vectors, as in kernels.cpp. Queries go by in chunks, so that the
// scores of a sentence of a thousand tokens need no more room than those of many short ones.

#include <cmath>
#include <utility>

#include "noise.h"
#include "training.h"

namespace {

using transduce::training::Attention;
using transduce::training::Noise;
using transduce::training::scratch;

constexpr int64_t kPanel = 2 * W;
constexpr int kRows = kRegisters == 32 ? 8 : 6;    // rows of a block: 2 * rows sums in registers
constexpr int64_t kScores = 16384;                 // numbers of a chunk, about
constexpr int64_t kMostRows = 10 * kRows;          // of a chunk

ALWAYS int64_t rounded(int64_t n, int64_t to) { return (n + to - 1) / to * to; }
ALWAYS int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

// A matrix to be multiplied by: numbers apart from one another by `row` and by `column`.
struct View {
  const float* at;
  int64_t row, column;
};

// The constant side, [inner][columns] in panels: panel p, then input k, then column of the panel.
struct Side {
  float* at;
  int64_t inner;

  ALWAYS float* cell(int64_t k, int64_t column) const {
    return at + column / kPanel * kPanel * inner + k * kPanel + column % kPanel;
  }
};

ALWAYS int64_t size_of_side(int64_t inner, int64_t columns) { return inner * rounded(columns, kPanel); }

template <int ROWS, int VECTORS>
void block(const View& a, const float* b, int64_t inner, float* c, int64_t c_stride, int64_t columns, bool add) {
  Floats total[ROWS][VECTORS];
  const auto each = [&](auto&& body) {
    for (int r = 0; r < ROWS; r++)
      for (int v = 0; v < VECTORS; v++) {
        float* at = c + r * c_stride + v * W;
        if (columns >= (v + 1) * W) body(total[r][v], at, Whole{});
        else body(total[r][v], at, Part{columns - v * W});
      }
  };
  for (int r = 0; r < ROWS; r++)
    for (int v = 0; v < VECTORS; v++) total[r][v] = Floats{};
  if (add) each([](Floats& x, const float* at, auto span) { x = span.get(at); });
  const float* at = a.at;
  const int64_t stride = a.row, step = a.column;
  for (int64_t k = 0; k < inner; k++, at += step) {
    Floats row[VECTORS];
    for (int v = 0; v < VECTORS; v++) row[v] = load(b + k * kPanel + v * W);
#pragma GCC unroll 16
    for (int r = 0; r < ROWS; r++) {
      const Floats x = all(at[r * stride]);
#pragma GCC unroll 2
      for (int v = 0; v < VECTORS; v++) total[r][v] += x * row[v];
    }
  }
  each([](Floats x, float* at, auto span) { span.put(at, x); });
}

typedef void (*Block)(const View&, const float*, int64_t, float*, int64_t, int64_t, bool);

template <int... N>
Block block_of(int64_t rows, int vectors, std::integer_sequence<int, N...>) {
  static constexpr Block one[] = {block<N + 1, 1>...}, two[] = {block<N + 1, 2>...};
  return vectors == 1 ? one[rows - 1] : two[rows - 1];
}

// c [rows][columns] = a [rows][inner] times b, or += it. In blocks of about the same height: 15 rows are 5, 5 and 5.
void multiply(const View& a, int64_t rows, int64_t inner, Side b, int64_t columns, float* c, int64_t c_stride, bool add) {
  const int64_t n_blocks = (rows + kRows - 1) / kRows, least = n_blocks ? rows / n_blocks : 0, higher = rows - least * n_blocks;
  for (int64_t column = 0; column < columns; column += kPanel) {
    const int64_t left = smaller(columns - column, kPanel);
    View part = a;
    float* to = c + column;
    for (int64_t i = 0; i < n_blocks; i++) {
      const int64_t height = least + (i < higher);
      const Block run = block_of(height, left > W ? 2 : 1, std::make_integer_sequence<int, kRows>{});
      run(part, b.cell(0, column), inner, to, c_stride, left, add);
      part.at += height * a.row;
      to += height * c_stride;
    }
  }
}

// x += bias where there is one, over the rows of a sentence, from offsets[0] to offsets[1]. All heads at once: whole rows come
// from memory faster than pieces of them.
ALWAYS void add_bias(float* x, int64_t stride, const int32_t* offsets, const float* bias, int64_t width) {
  for (int64_t r = offsets[0]; bias && r < offsets[1]; r++)
    across(width, [&](int64_t j, auto span) { span.put(x + r * stride + j, span.get(x + r * stride + j) + span.get(bias + j)); });
}

// Rows as they are: input k of the side is row k.
void copy(const float* x, int64_t stride, int64_t rows, int64_t width, Side to) {
  for (int64_t r = 0; r < rows; r++)
    across(width, [&](int64_t j, auto span) { store(to.cell(r, j), span.get(x + r * stride + j)); });
}

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define TRANSDUCE_SHUFFLES 1
#endif
#endif

// Columns become rows, in log W stages that swap the off-diagonal quarters of squares of 2, 4, ...
#if TRANSDUCE_SHUFFLES
template <int S, int... L>
ALWAYS void swap_quarters(Floats& a, Floats& b, std::integer_sequence<int, L...>) {
  const Floats first = __builtin_shufflevector(a, b, ((L & S) ? W + L - S : L)...);
  b = __builtin_shufflevector(a, b, ((L & S) ? W + L : L + S)...);
  a = first;
}

template <int S>
ALWAYS void transpose(Floats* x) {
  if constexpr (S < W) {
#pragma GCC unroll 16
    for (int i = 0; i < W; i++)
      if (!(i & S)) swap_quarters<S>(x[i], x[i + S], std::make_integer_sequence<int, W>{});
    transpose<2 * S>(x);
  }
}
#else
template <int>
ALWAYS void transpose(Floats* x) {
  for (int i = 0; i < W; i++)
    for (int j = 0; j < i; j++) {
      const float was = x[i][j];
      x[i][j] = x[j][i];
      x[j][i] = was;
    }
}
#endif

// Rows become columns: input k of the side is column k. The columns up to a multiple of W are filled with zeros.
void copy_transposed(const float* x, int64_t stride, int64_t rows, int64_t width, Side to) {
  for (int64_t r = 0; r < rows; r += W)
    across(width, [&](int64_t j, auto span) {
      Floats square[W];
      for (int i = 0; i < W; i++) square[i] = r + i < rows ? span.get(x + (r + i) * stride + j) : Floats{};
      transpose<1>(square);
      for (int i = 0; i < W; i++)
        if (j + i < width) store(to.cell(j + i, r), square[i]);
    });
}

// total += the sums of columns.
ALWAYS void sum_columns(const float* x, int64_t stride, int64_t rows, int64_t width, float* total) {
  if (total)
    across(width, [&](int64_t j, auto span) {
      Floats some{};
      for (int64_t r = 0; r < rows; r++) some += span.get(x + r * stride + j);
      span.put(total + j, span.get(total + j) + some);
    });
}

// One row of scores becomes weights; n: keys that may be seen, behind which are zeros up to the multiple of W above `padded`.
ALWAYS void softmax(float* s, int64_t n, int64_t padded, float scale) {
  for (int64_t j = n; j < padded; j++) s[j] = -INFINITY;
  Floats high = all(-INFINITY);
  for (int64_t j = 0; j < padded; j += W) high = larger(high, load(s + j));
  const float most = largest(high);
  Floats total{};
  for (int64_t j = 0; j < padded; j += W) {
    const Floats e = exponential((load(s + j) - most) * scale);
    store(s + j, e);
    total += e;
  }
  const float share = 1.0f / sum(total);
  for (int64_t j = 0; j < padded; j += W) store(s + j, load(s + j) * share);
}

// A sentence's share of the arguments, for one head.
struct Head {
  int64_t first_query, queries, first_key, keys, chunk, padded;
  float *q, *k, *v, *weights;

  Head(const Attention& a, int64_t sentence, int64_t head, float* weights_of_sentence)
      : first_query(a.query_offsets[sentence]),
        queries(a.query_offsets[sentence + 1] - first_query),
        first_key(a.key_offsets[sentence]),
        keys(a.key_offsets[sentence + 1] - first_key),
        padded(rounded(keys, kPanel)),
        q(a.q + first_query * a.q_stride + head * a.key_width),
        k(a.k + first_key * a.k_stride + head * a.key_width),
        v(a.v + first_key * a.v_stride + head * a.value_width),
        weights(weights_of_sentence ? weights_of_sentence + head * queries * keys : nullptr) {
    const int64_t most = smaller(kMostRows, kScores / padded > kRows ? kScores / padded : kRows);
    const int64_t n_chunks = queries > most ? (queries + most - 1) / most : 1;
    chunk = queries ? (queries + n_chunks - 1) / n_chunks : 1;
  }
};

// Run before(sentence), then work(head, number of the head) for its heads, for all sentences.
template <typename Before, typename Work>
ALWAYS void each_head(const Attention& a, Before&& before, Work&& work) {
  float* weights = a.weights;
  for (int64_t sentence = 0; sentence < a.n_sentences; sentence++) {
    before(sentence);
    for (int64_t h = 0; h < a.n_heads; h++) work(Head(a, sentence, h, weights), h);
    const Head any(a, sentence, 0, nullptr);
    if (weights) weights += a.n_heads * any.queries * any.keys;
  }
}

// Fetch the rows of a sentence into the second-level cache, for the same reason as add_bias takes whole rows.
ALWAYS void fetch(const float* x, int64_t stride, const int32_t* offsets, int64_t width) {
  constexpr int64_t kLine = 16, kMost = 64;  // floats of a cache line; rows
  for (int64_t r = offsets[0]; r < offsets[1] && r < offsets[0] + kMost; r++)
    for (int64_t j = 0; j < width; j += kLine) __builtin_prefetch(x + r * stride + j, 0, 2);
}

ALWAYS void draw_row(const Noise& noise, int64_t row, int64_t head, int64_t n, uint32_t* bits) {
  draw(noise, noise.positions[row], noise.numbers[row], static_cast<uint32_t>(head), n, bits);
}

void forward_of(const Attention& a, const Noise& noise, const Head& at, int64_t h) {
  const int64_t size_k = size_of_side(a.key_width, at.keys), size_v = size_of_side(at.keys, a.value_width);
  float* memory = scratch(size_k + size_v + at.chunk * at.padded + size_of_bits(at.keys));
  const Side keys{memory, a.key_width}, values{memory + size_k, at.keys};
  float* scores = memory + size_k + size_v;
  uint32_t* bits = reinterpret_cast<uint32_t*>(scores + at.chunk * at.padded);
  const Drop drop(noise, bits);
  const int64_t value = h * a.value_width;
  copy_transposed(at.k, a.k_stride, at.keys, a.key_width, keys);
  copy(at.v, a.v_stride, at.keys, a.value_width, values);
  for (int64_t first = 0; first < at.queries; first += at.chunk) {
    const int64_t rows = smaller(at.chunk, at.queries - first), seen = a.causal ? first + rows : at.keys;
    multiply({at.q + first * a.q_stride, a.q_stride, 1}, rows, a.key_width, keys, rounded(seen, W), scores, at.padded, false);
    for (int64_t r = 0; r < rows; r++) {
      float* row = scores + r * at.padded;
      const int64_t n = a.causal ? first + r + 1 : at.keys;
      softmax(row, n, rounded(seen, W), static_cast<float>(a.scale));
      if (at.weights) {
        float* kept = at.weights + (first + r) * at.keys;
        across(seen, [&](int64_t j, auto span) { span.put(kept + j, load(row + j)); });
        for (int64_t j = seen; j < at.keys; j++) kept[j] = 0.0f;
      }
      if (!noise.threshold) continue;
      draw_row(noise, at.first_query + first + r, h, seen, bits);
      for (int64_t j = 0; j < seen; j += W) store(row + j, load(row + j) * drop(j));
    }
    float* out = a.out + (at.first_query + first) * a.out_stride + value;
    multiply({scores, at.padded, 1}, rows, seen, values, a.value_width, out, a.out_stride, false);
  }
}

// The gradient of the scores of one row, over that of its weights. kept: the weights before dropout; dropped: null, or where
// those after it go.
template <typename Dropping>
ALWAYS void softmax_backward(const float* kept, float* d, float* dropped, int64_t n, float scale, const Dropping& drop) {
  Floats total{};
  across(n, [&](int64_t j, auto span) {
    const Floats p = span.get(kept + j), d_p = load(d + j) * drop(j);
    total += span.fill(p * d_p, 0.0f);
    store(d + j, d_p);
    if (dropped) store(dropped + j, p * drop(j));
  });
  const Floats mean = all(sum(total));
  across(n, [&](int64_t j, auto span) { store(d + j, span.get(kept + j) * (load(d + j) - mean) * scale); });
}

void backward_of(const Attention& a, const Noise& noise, const Head& at, int64_t h) {
  const int64_t sizes[] = {size_of_side(at.keys, a.key_width), size_of_side(a.value_width, at.keys),
                           size_of_side(at.chunk, a.key_width), size_of_side(at.chunk, a.value_width),
                           at.chunk * at.padded, noise.threshold ? at.chunk * at.padded : 0, size_of_bits(at.keys)};
  int64_t total = 0;
  for (int64_t size : sizes) total += size;
  float* next = scratch(total);
  float* parts[7];
  for (int i = 0; i < 7; i++) parts[i] = next, next += sizes[i];
  const Side keys{parts[0], at.keys}, values{parts[1], a.value_width}, queries{parts[2], at.chunk}, d_outs{parts[3], at.chunk};
  float *scores = parts[4], *dropped = noise.threshold ? parts[5] : nullptr;
  uint32_t* bits = reinterpret_cast<uint32_t*>(parts[6]);
  const Drop drop(noise, bits);
  const int64_t key = h * a.key_width, value = h * a.value_width;
  float* d_q = a.d_q + at.first_query * a.q_stride + key;
  float* d_k = a.d_k + at.first_key * a.k_stride + key;
  float* d_v = a.d_v + at.first_key * a.v_stride + value;
  copy(at.k, a.k_stride, at.keys, a.key_width, keys);
  copy_transposed(at.v, a.v_stride, at.keys, a.value_width, values);
  // The last chunk comes first: it sees all keys, so that the gradients of all keys are written before more is added.
  for (int64_t first = (at.queries - 1) / at.chunk * at.chunk; first >= 0; first -= at.chunk) {
    const int64_t rows = smaller(at.chunk, at.queries - first), seen = a.causal ? first + rows : at.keys;
    const bool add = first + rows < at.queries;
    const float* d_out = a.d_out + (at.first_query + first) * a.out_stride + value;
    multiply({d_out, a.out_stride, 1}, rows, a.value_width, values, rounded(seen, W), scores, at.padded, false);
    for (int64_t r = 0; r < rows; r++) {
      const float* kept = at.weights + (first + r) * at.keys;
      float* row = scores + r * at.padded;
      if (noise.threshold) {
        draw_row(noise, at.first_query + first + r, h, seen, bits);
        softmax_backward(kept, row, dropped + r * at.padded, seen, static_cast<float>(a.scale), drop);
      } else {
        softmax_backward(kept, row, nullptr, seen, static_cast<float>(a.scale), Keep{});
      }
    }
    copy(at.q + first * a.q_stride, a.q_stride, rows, a.key_width, queries);
    copy(d_out, a.out_stride, rows, a.value_width, d_outs);
    const View given = dropped ? View{dropped, 1, at.padded} : View{at.weights + first * at.keys, 1, at.keys};
    multiply(given, seen, rows, d_outs, a.value_width, d_v, a.v_stride, add);
    multiply({scores, 1, at.padded}, seen, rows, queries, a.key_width, d_k, a.k_stride, add);
    multiply({scores, at.padded, 1}, rows, seen, keys, a.key_width, d_q + first * a.q_stride, a.q_stride, false);
  }
  if (!at.queries) {  // nobody asks: no gradient
    for (int64_t r = 0; r < at.keys; r++) {
      across(a.key_width, [&](int64_t j, auto span) { span.put(d_k + r * a.k_stride + j, Floats{}); });
      across(a.value_width, [&](int64_t j, auto span) { span.put(d_v + r * a.v_stride + j, Floats{}); });
    }
  }
  sum_columns(d_q, a.q_stride, at.queries, a.key_width, a.d_q_bias ? a.d_q_bias + key : nullptr);
  sum_columns(d_k, a.k_stride, at.keys, a.key_width, a.d_k_bias ? a.d_k_bias + key : nullptr);
  sum_columns(d_v, a.v_stride, at.keys, a.value_width, a.d_v_bias ? a.d_v_bias + value : nullptr);
}

void forward(const Attention& a, const Noise& noise) {
  const auto add_biases = [&](int64_t i) {
    add_bias(a.q, a.q_stride, a.query_offsets + i, a.q_bias, a.n_heads * a.key_width);
    add_bias(a.k, a.k_stride, a.key_offsets + i, a.k_bias, a.n_heads * a.key_width);
    add_bias(a.v, a.v_stride, a.key_offsets + i, a.v_bias, a.n_heads * a.value_width);
  };
  each_head(a, add_biases, [&](const Head& at, int64_t h) { forward_of(a, noise, at, h); });
}

void backward(const Attention& a, const Noise& noise) {
  const auto fetch_next = [&](int64_t i) {
    if (++i == a.n_sentences) return;
    fetch(a.q, a.q_stride, a.query_offsets + i, a.n_heads * a.key_width);
    fetch(a.k, a.k_stride, a.key_offsets + i, a.n_heads * a.key_width);
    fetch(a.v, a.v_stride, a.key_offsets + i, a.n_heads * a.value_width);
    fetch(a.d_out, a.out_stride, a.query_offsets + i, a.n_heads * a.value_width);
  };
  each_head(a, fetch_next, [&](const Head& at, int64_t h) { backward_of(a, noise, at, h); });
}

}  // namespace

#define TABLE_OF(isa) attention_kernels_##isa
#define TABLE(isa) TABLE_OF(isa)

namespace transduce::training {

extern const AttentionKernels TABLE(TRANSDUCE_ISA);
const AttentionKernels TABLE(TRANSDUCE_ISA) = {forward, backward};

}  // namespace transduce::training
