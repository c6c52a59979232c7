// Compiled once for each instruction set, as TRANSDUCE_ISA. See training.h for what the functions do.

#include <cmath>

#include "noise.h"
#include "training.h"

namespace {

using transduce::training::Embedding;
using transduce::training::Loss;
using transduce::training::Noise;
using transduce::training::Norm;
using transduce::training::Relu;
using transduce::training::scratch;

// Call work(row, drop) for every row, where drop(j) is what elements j to j + W are multiplied by.
template <typename Work>
ALWAYS void each_row(const Noise& noise, float* room_for_bits, int64_t n, int64_t d, Work&& work) {
  if (!noise.threshold) {
    for (int64_t r = 0; r < n; r++) work(r, Keep{});
    return;
  }
  uint32_t* bits = reinterpret_cast<uint32_t*>(room_for_bits);
  const Drop drop(noise, bits);
  for (int64_t r = 0; r < n; r++) {
    draw(noise, noise.positions[r], noise.numbers[r], 0, d, bits);
    work(r, drop);
  }
}

// Sums of columns. Some rows are summed by themselves first: of thousands of rows one after the other, the last would be
// rounded to the size of the sum.
class Columns {
 public:
  Columns(float* total, float* some, int64_t d) : total_(total), some_(some), d_(d) {
    for (int64_t j = 0; total_ && j < d_; j++) some_[j] = 0.0f;
  }

  template <typename Span>
  ALWAYS void add(int64_t j, Floats x, Span span) const {
    if (total_) span.put(some_ + j, span.get(some_ + j) + x);
  }

  // Behind row r of n.
  ALWAYS void end_row(int64_t r, int64_t n) const {
    if (!total_ || ((r + 1) % kTogether && r + 1 != n)) return;
    across(d_, [&](int64_t j, auto span) {
      span.put(total_ + j, span.get(total_ + j) + span.get(some_ + j));
      span.put(some_ + j, Floats{});
    });
  }

 private:
  static constexpr int64_t kTogether = 64;
  float *total_, *some_;
  int64_t d_;
};

void embed(const Embedding& e, const Noise& noise) {
  const float scale = static_cast<float>(e.scale);
  each_row(noise, scratch(size_of_bits(e.d)), e.n, e.d, [&](int64_t r, const auto& drop) {
    const float *weight = e.weight + e.ids[r] * e.d, *place = e.table + e.positions[r] * e.d;
    float* out = e.out + r * e.d;
    across(e.d, [&](int64_t j, auto span) {
      span.put(out + j, (span.get(weight + j) * scale + span.get(place + j)) * drop(j));
    });
  });
}

void embed_backward(const Embedding& e, const Noise& noise) {
  const float scale = static_cast<float>(e.scale);
  each_row(noise, scratch(size_of_bits(e.d)), e.n, e.d, [&](int64_t r, const auto& drop) {
    const float* d_out = e.d_out + r * e.d;
    float* d_weight = e.d_weight + e.ids[r] * e.d;
    float* d_place = e.d_table ? e.d_table + e.positions[r] * e.d : nullptr;
    across(e.d, [&](int64_t j, auto span) {
      const Floats g = span.get(d_out + j) * drop(j);
      span.put(d_weight + j, span.get(d_weight + j) + g * scale);
      if (d_place) span.put(d_place + j, span.get(d_place + j) + g);
    });
  });
}

// y += bias, dropped, += x; returns the sum of the row.
template <typename Dropping>
ALWAYS float add_residual(const float* x, float* y, const float* y_bias, int64_t d, const Dropping& drop) {
  Floats total{};
  across(d, [&](int64_t j, auto span) {
    Floats s = span.get(y + j);
    if (y_bias) s += span.get(y_bias + j);
    s = s * drop(j);
    if (x) s += span.get(x + j);
    span.put(y + j, s);
    total += s;
  });
  return sum(total);
}

ALWAYS float sum_of_row(const float* s, int64_t d) {
  Floats total{};
  across(d, [&](int64_t j, auto span) { total += span.get(s + j); });
  return sum(total);
}

void residual_norm(const Norm& a, const Noise& noise) {
  const bool sums = a.x || a.y_bias || noise.threshold;
  const float width = static_cast<float>(a.d);
  each_row(noise, scratch(size_of_bits(a.d)), a.n, a.d, [&](int64_t r, const auto& drop) {
    float* y = a.y + r * a.d;
    const float mean =
        (sums ? add_residual(a.x ? a.x + r * a.d : nullptr, y, a.y_bias, a.d, drop) : sum_of_row(y, a.d)) / width;
    if (!a.out) return;
    Floats squares{};
    across(a.d, [&](int64_t j, auto span) {
      const Floats away = span.fill(span.get(y + j) - mean, 0.0f);
      squares += away * away;
    });
    const float inverse = 1.0f / std::sqrt(sum(squares) / width + static_cast<float>(a.eps));
    float* out = a.out + r * a.d;
    across(a.d, [&](int64_t j, auto span) {
      span.put(out + j, (span.get(y + j) - mean) * inverse * span.get(a.gain + j) + span.get(a.bias + j));
    });
    a.mean[r] = mean;
    a.inverse[r] = inverse;
  });
}

// With z = (s - mean) * inverse and g = d_out * gain: d_s = inverse * (g - mean of g - z * mean of g z). Two passes, since the
// means come first; the row stays in the cache between them.
void residual_norm_backward(const Norm& a, const Noise& noise) {
  const int64_t room = (a.d + W - 1) / W * W;
  float* memory = scratch(3 * room + size_of_bits(a.d));
  const bool norm = a.d_out;
  const Columns d_gain(norm ? a.d_gain : nullptr, memory, a.d), d_bias(norm ? a.d_bias : nullptr, memory + room, a.d);
  const Columns d_y_bias(a.d_y_bias, memory + 2 * room, a.d);
  const float width = static_cast<float>(a.d);
  each_row(noise, memory + 3 * room, a.n, a.d, [&](int64_t r, const auto& drop) {
    const int64_t start = r * a.d;
    const float *d_out = norm ? a.d_out + start : nullptr, *s = norm ? a.y + start : nullptr;
    const float* d_stream = a.d_stream ? a.d_stream + start : nullptr;
    float *d_x = a.d_x ? a.d_x + start : nullptr, *d_y = a.d_y ? a.d_y + start : nullptr;
    const float mean = norm ? a.mean[r] : 0.0f, inverse = norm ? a.inverse[r] : 0.0f;
    Floats sum_g{}, sum_gz{};
    if (norm)
      across(a.d, [&](int64_t j, auto span) {
        const Floats d = span.get(d_out + j), z = span.fill((span.get(s + j) - mean) * inverse, 0.0f);
        const Floats g = d * span.get(a.gain + j);
        sum_g += g;
        sum_gz += g * z;
        d_gain.add(j, d * z, span);
        d_bias.add(j, d, span);
      });
    const float mean_g = sum(sum_g) / width, mean_gz = sum(sum_gz) / width;
    across(a.d, [&](int64_t j, auto span) {
      Floats d{};
      if (norm) {
        const Floats z = (span.get(s + j) - mean) * inverse;
        d = (span.get(d_out + j) * span.get(a.gain + j) - mean_g - z * mean_gz) * inverse;
      }
      if (d_stream) d += span.get(d_stream + j);
      if (d_x) span.put(d_x + j, d);
      d = d * drop(j);
      if (d_y) span.put(d_y + j, d);
      d_y_bias.add(j, d, span);
    });
    d_gain.end_row(r, a.n), d_bias.end_row(r, a.n), d_y_bias.end_row(r, a.n);
  });
}

void relu(const Relu& a, const Noise& noise) {
  each_row(noise, scratch(size_of_bits(a.d)), a.n, a.d, [&](int64_t r, const auto& drop) {
    float* h = a.h + r * a.d;
    across(a.d, [&](int64_t j, auto span) {
      Floats x = span.get(h + j);
      if (a.bias) x += span.get(a.bias + j);
      span.put(h + j, larger(Floats{}, x) * drop(j));
    });
  });
}

// What was dropped or was not positive is 0 in h, so that the masks need not be drawn again.
void relu_backward(const Relu& a, const Noise& noise) {
  const Columns d_bias(a.d_bias, scratch((a.d + W - 1) / W * W), a.d);
  const Ints scale = as_ints(all(65536.0f / static_cast<float>(65536 - noise.threshold)));
  for (int64_t r = 0; r < a.n; r++) {
    const float* h = a.h + r * a.d;
    float* d_h = a.d_h + r * a.d;
    across(a.d, [&](int64_t j, auto span) {
      const Ints positive = span.get(h + j) > Floats{};
      const Floats d = span.get(d_h + j) * as_floats(positive & scale);
      span.put(d_h + j, d);
      d_bias.add(j, d, span);
    });
    d_bias.end_row(r, a.n);
  }
}

// Lanes summed in float for this many elements, then in double: a vocabulary is long.
constexpr int64_t kStretch = 64 * W;

struct Logits {
  float most;
  double sum;
};

ALWAYS Logits survey(const float* z, int64_t vocab) {
  Floats high = all(-INFINITY);
  double total = 0.0;
  for (int64_t start = 0; start < vocab; start += kStretch) {
    const int64_t end = start + kStretch < vocab ? start + kStretch : vocab;
    Floats some{};
    across(end - start, [&](int64_t j, auto span) {
      const Floats x = span.get(z + start + j);
      some += x;
      high = larger(high, span.fill(x, -INFINITY));
    });
    total += static_cast<double>(sum(some));
  }
  return {largest(high), total};
}

// e^(z - most), written over z where it is wanted; returns the sum.
ALWAYS double exponentials(float* z, int64_t vocab, float most, bool write) {
  double total = 0.0;
  for (int64_t start = 0; start < vocab; start += kStretch) {
    const int64_t end = start + kStretch < vocab ? start + kStretch : vocab;
    Floats some{};
    across(end - start, [&](int64_t j, auto span) {
      const Floats e = span.fill(exponential(span.get(z + start + j) - most), 0.0f);
      if (write) span.put(z + start + j, e);
      some += e;
    });
    total += static_cast<double>(sum(some));
  }
  return total;
}

void loss(const Loss& a, double* nats, double* nll_nats) {
  const double eps = a.label_smoothing, other = eps / static_cast<double>(a.vocab);
  double smoothed = 0.0, plain = 0.0;
  for (int64_t r = 0; r < a.n; r++) {
    float* z = a.logits + r * a.stride;
    const Logits seen = survey(z, a.vocab);
    const double correct = static_cast<double>(z[a.labels[r]]);
    const double total = exponentials(z, a.vocab, seen.most, a.has_gradient);
    const double log_total = static_cast<double>(seen.most) + std::log(total), nll = log_total - correct;
    plain += nll;
    smoothed += (1.0 - eps) * nll;
    if (eps != 0.0) smoothed += other * (static_cast<double>(a.vocab) * log_total - seen.sum);
    if (a.nll) a.nll[r] = static_cast<float>(nll);
    if (!a.has_gradient) continue;
    const float share = static_cast<float>(a.grad_scale / total), even = static_cast<float>(other * a.grad_scale);
    across(a.vocab, [&](int64_t j, auto span) { span.put(z + j, span.get(z + j) * share - even); });
    z[a.labels[r]] -= static_cast<float>((1.0 - eps) * a.grad_scale);
  }
  *nats = smoothed;
  *nll_nats = plain;
}

}  // namespace

#define TABLE_OF(isa) row_kernels_##isa
#define TABLE(isa) TABLE_OF(isa)
#define TEXT_OF(isa) #isa
#define TEXT(isa) TEXT_OF(isa)

namespace transduce::training {

extern const RowKernels TABLE(TRANSDUCE_ISA);
const RowKernels TABLE(TRANSDUCE_ISA) = {TEXT(TRANSDUCE_ISA), embed, embed_backward, residual_norm, residual_norm_backward,
                                         relu,                relu_backward, loss};

}  // namespace transduce::training
