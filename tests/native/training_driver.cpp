// Calls the kernels of training with memory of exactly the size that they may touch, for builds with sanitizers: awkward
// widths, every tail, sentences of one token and of many, threads at once. Prints what was wrong, exit code 1.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

#include "api.h"
#include "training.h"

namespace {

using Floats = std::vector<float>;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "failed: %s (%s)\n", what, transduce_training_error());
  std::exit(1);
}

Floats random_floats(int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Floats made(n);
  for (float& x : made) x = normal(random);
  return made;
}

void finite(const Floats& numbers, const char* what) {
  for (float x : numbers) require(std::isfinite(x), what);
}

struct Rows {
  std::vector<int32_t> offsets{0}, positions, numbers;
  int64_t n = 0;

  explicit Rows(const std::vector<int>& lengths) {
    for (size_t i = 0; i < lengths.size(); i++) {
      for (int t = 0; t < lengths[i]; t++) positions.push_back(t), numbers.push_back(static_cast<int>(i));
      offsets.push_back(static_cast<int>(n += lengths[i]));
    }
  }
  transduce::training::Noise noise(uint32_t threshold) const { return {{1, 2}, 3, threshold, positions.data(), numbers.data()}; }
};

void rows(int isa, const Rows& r, int64_t d, const transduce::training::Noise& noise) {
  const int64_t n = r.n, vocab = 5, places = 400;
  std::vector<int64_t> ids(n);
  for (int64_t i = 0; i < n; i++) ids[i] = i % vocab;
  Floats weight = random_floats(vocab * d, 1), table = random_floats(places * d, 2), out(n * d);
  transduce::training::Embedding e{weight.data(), table.data(), ids.data(), r.positions.data(), out.data(), out.data(), weight.data(),
                         table.data(),  n,            d,          vocab,              places,     2.0};
  require(transduce_training_embed(isa, &e, &noise) == 0, "embed");
  require(transduce_training_embed_backward(isa, &e, &noise) == 0, "embed backward");
  finite(weight, "the gradient of the embedding");

  Floats x = random_floats(n * d, 3), y = random_floats(n * d, 4), gain = random_floats(d, 5), mean(n), inverse(n);
  Floats d_x(n * d), d_y(n * d), d_gain(d), d_bias(d), d_y_bias(d);
  transduce::training::Norm norm{x.data(),   y.data(), gain.data(), gain.data(),   gain.data(),   out.data(),      mean.data(), inverse.data(), x.data(),
                       out.data(), d_x.data(), d_y.data(), d_gain.data(), d_bias.data(), d_y_bias.data(), n,           d,              1e-5};
  require(transduce_training_residual_norm(isa, &norm, &noise) == 0, "norm");
  require(transduce_training_residual_norm_backward(isa, &norm, &noise) == 0, "norm backward");
  finite(d_y, "the gradient of the sublayer");

  transduce::training::Relu relu{y.data(), gain.data(), x.data(), d_bias.data(), n, d};
  require(transduce_training_relu(isa, &relu, &noise) == 0, "relu");
  require(transduce_training_relu_backward(isa, &relu, &noise) == 0, "relu backward");
  finite(d_bias, "the gradient of the bias");

  std::vector<int64_t> labels(n, d - 1);
  Floats nll(n);
  double nats = 0, nll_nats = 0;
  transduce::training::Loss loss{y.data(), labels.data(), nll.data(), n, d, d, 1, 0.1, 0.5};
  require(transduce_training_loss(isa, &loss, &nats, &nll_nats) == 0 && std::isfinite(nats), "loss");
  finite(y, "the gradient of the logits");
}

void attention(int isa, const Rows& queries, const Rows& keys, int64_t heads, int64_t d_k, int64_t d_v, int causal,
               const transduce::training::Noise& noise) {
  Floats q = random_floats(queries.n * heads * d_k, 1), k = random_floats(keys.n * heads * d_k, 2);
  Floats v = random_floats(keys.n * heads * d_v, 3), out(queries.n * heads * d_v), d_out = out;
  Floats d_q(q.size()), d_keys(k.size()), d_values(v.size()), key_bias(heads * d_k), value_bias(heads * d_v);
  int64_t size = 0;
  for (size_t i = 0; i + 1 < queries.offsets.size(); i++)
    size += heads * (queries.offsets[i + 1] - queries.offsets[i]) * (keys.offsets[i + 1] - keys.offsets[i]);
  Floats weights(size);
  transduce::training::Attention a{};
  a.q = q.data(), a.k = k.data(), a.v = v.data(), a.weights = weights.data(), a.out = out.data(), a.d_out = d_out.data();
  a.q_bias = a.k_bias = key_bias.data(), a.v_bias = value_bias.data();
  a.d_q = d_q.data(), a.d_k = d_keys.data(), a.d_v = d_values.data();
  a.d_q_bias = a.d_k_bias = key_bias.data(), a.d_v_bias = value_bias.data();
  a.query_offsets = queries.offsets.data(), a.key_offsets = keys.offsets.data();
  a.q_stride = a.k_stride = heads * d_k, a.v_stride = a.out_stride = heads * d_v;
  a.n_sentences = static_cast<int64_t>(queries.offsets.size()) - 1, a.n_heads = heads;
  a.key_width = d_k, a.value_width = d_v, a.causal = causal, a.scale = 0.3;
  require(transduce_training_attention(isa, &a, &noise) == 0, "attention");
  require(transduce_training_attention_backward(isa, &a, &noise) == 0, "attention backward");
  finite(out, "attention");
  finite(d_keys, "the gradient of the keys");
}

void all(int isa) {
  const Rows many({1, 7, 8, 17, 33}), other({5, 1, 20, 0, 9}), keys({3, 16, 1, 15, 30}), longer({300});
  for (uint32_t threshold : {0u, 20000u}) {
    for (int64_t d : {1, 2, 7, 8, 16, 31, 100, 129, 300}) rows(isa, many, d, many.noise(threshold));
    for (int64_t d : {1, 3, 8, 20, 64})
      for (int causal : {0, 1}) {
        attention(isa, many, many, 2, d, 65 - d, causal, many.noise(threshold));
        attention(isa, longer, longer, 1, d, d, causal, longer.noise(threshold));
      }
    attention(isa, other, keys, 3, 5, 9, 0, other.noise(threshold));
  }
  const transduce::training::Noise wrong{{0, 0}, 0, 65536, many.positions.data(), many.numbers.data()};
  const transduce::training::Relu none{};
  require(transduce_training_relu(isa, &none, &wrong) < 0, "refuse a threshold");
}

}  // namespace

int main() {
  for (int isa = 0; transduce_isa(isa); isa++) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; t++) threads.emplace_back(all, isa);
    for (std::thread& thread : threads) thread.join();
  }
  std::puts("ok");
}
