#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "kernels.h"
#include "training.h"

namespace transduce::training {

// Which of them there are: see dispatch.cpp.
#define TRANSDUCE_TABLES(isa)                \
  extern const RowKernels row_kernels_##isa; \
  extern const AttentionKernels attention_kernels_##isa;
TRANSDUCE_TABLES(base)
#if TRANSDUCE_HAVE_AVX2
TRANSDUCE_TABLES(avx2)
#endif
#if TRANSDUCE_HAVE_AVX512
TRANSDUCE_TABLES(avx512)
#endif
#if TRANSDUCE_HAVE_NEON_DOT
TRANSDUCE_TABLES(neon_dot)
#endif

namespace {

struct Tables {
  const RowKernels* rows;
  const AttentionKernels* attention;
};

constexpr Tables kTables[] = {
    {&row_kernels_base, &attention_kernels_base},
#if TRANSDUCE_HAVE_AVX2
    {&row_kernels_avx2, &attention_kernels_avx2},
#endif
#if TRANSDUCE_HAVE_AVX512
    {&row_kernels_avx512, &attention_kernels_avx512},
#endif
#if TRANSDUCE_HAVE_NEON_DOT
    {&row_kernels_neon_dot, &attention_kernels_neon_dot},
#endif
};

// What this machine can run is decided once, by usable_kernels(): here the same names are looked up.
const Tables& tables_of(int32_t isa) {
  const Kernels* const* usable = usable_kernels();
  for (int32_t i = 0; usable[i]; i++)
    for (const Tables& tables : kTables)
      if (i == isa && !std::strcmp(usable[i]->name, tables.rows->name)) return tables;
  throw std::out_of_range("no instruction set number " + std::to_string(isa));
}

thread_local std::string last_error;

const Noise kNoNoise{};

// Nothing may be thrown through C: what fails leaves its message.
template <typename Work>
int32_t guarded(Work&& work) {
  try {
    work();
    return 0;
  } catch (const std::exception& error) {
    last_error = error.what();
  } catch (...) {
    last_error = "unknown failure";
  }
  return -1;
}

void require(bool condition, const std::string& what) {
  if (!condition) throw std::out_of_range(what);
}

const Noise& checked(const Noise* noise) {
  if (!noise) return kNoNoise;
  require(noise->threshold < 65536, "a dropout's threshold is " + std::to_string(noise->threshold) + " of 65536");
  require(noise->site < 65536, "a dropout's site is " + std::to_string(noise->site) + ", and sites are below 65536");
  require(!noise->threshold || (noise->positions && noise->numbers), "a dropout has no positions or no pair numbers");
  return *noise;
}

template <typename Index>
void check_indexes(const Index* indexes, int64_t n, int64_t end, const char* what) {
  for (int64_t r = 0; r < n; r++)
    if (indexes[r] < 0 || indexes[r] >= end)
      throw std::out_of_range("row " + std::to_string(r) + " has the " + what + " " + std::to_string(indexes[r]) +
                              ", and there are " + std::to_string(end));
}

void check_shape(int64_t n, int64_t d) {
  require(n >= 0 && d >= 1, "a matrix cannot have " + std::to_string(n) + " rows of " + std::to_string(d) + " numbers");
}

void check(const Embedding& e) {
  check_shape(e.n, e.d);
  check_indexes(e.ids, e.n, e.vocab, "id");
  check_indexes(e.positions, e.n, e.n_positions, "position");
}

void check(const Attention& a) {
  require(a.n_sentences >= 0 && a.n_heads >= 1 && a.key_width >= 1 && a.value_width >= 1, "attention of nothing");
  for (int64_t i = 0; i < a.n_sentences; i++) {
    const int64_t queries = int64_t{a.query_offsets[i + 1]} - a.query_offsets[i];
    const int64_t keys = int64_t{a.key_offsets[i + 1]} - a.key_offsets[i];
    require(queries >= 0 && keys >= 1 && a.query_offsets[i] >= 0 && a.key_offsets[i] >= 0 && (!a.causal || queries == keys),
            "sentence " + std::to_string(i) + " has " + std::to_string(queries) + " queries and " + std::to_string(keys) + " keys");
  }
}

struct Freed {
  float* memory = nullptr;
  size_t n_floats = 0;
  ~Freed() { std::free(memory); }
};

}  // namespace

float* scratch(size_t n_floats) {
  constexpr size_t kAlignment = 64;
  thread_local Freed own;
  if (own.n_floats < n_floats || !own.memory) {
    std::free(own.memory);
    own = {};
    const size_t bytes = (n_floats * sizeof(float) + kAlignment) / kAlignment * kAlignment;
    own.memory = static_cast<float*>(std::aligned_alloc(kAlignment, bytes));
    if (!own.memory) throw std::bad_alloc();
    own.n_floats = n_floats;
  }
  return own.memory;
}

}  // namespace transduce::training

using namespace transduce::training;

int32_t transduce_training_abi() { return 1; }

const char* transduce_training_error() { return last_error.c_str(); }

int32_t transduce_training_embed(int32_t isa, const Embedding* e, const Noise* noise) {
  return guarded([&] { check(*e), tables_of(isa).rows->embed(*e, checked(noise)); });
}

int32_t transduce_training_embed_backward(int32_t isa, const Embedding* e, const Noise* noise) {
  return guarded([&] { check(*e), tables_of(isa).rows->embed_backward(*e, checked(noise)); });
}

int32_t transduce_training_residual_norm(int32_t isa, const Norm* a, const Noise* noise) {
  return guarded([&] { check_shape(a->n, a->d), tables_of(isa).rows->residual_norm(*a, checked(noise)); });
}

int32_t transduce_training_residual_norm_backward(int32_t isa, const Norm* a, const Noise* noise) {
  return guarded([&] {
    check_shape(a->n, a->d);
    const Noise& known = checked(noise);
    require(!known.threshold || !a->d_x || a->d_x != a->d_y, "with dropout, d_x and d_y cannot be the same memory");
    tables_of(isa).rows->residual_norm_backward(*a, known);
  });
}

int32_t transduce_training_relu(int32_t isa, const Relu* a, const Noise* noise) {
  return guarded([&] { check_shape(a->n, a->d), tables_of(isa).rows->relu(*a, checked(noise)); });
}

int32_t transduce_training_relu_backward(int32_t isa, const Relu* a, const Noise* noise) {
  return guarded([&] { check_shape(a->n, a->d), tables_of(isa).rows->relu_backward(*a, checked(noise)); });
}

int32_t transduce_training_attention(int32_t isa, const Attention* a, const Noise* noise) {
  return guarded([&] { check(*a), tables_of(isa).attention->forward(*a, checked(noise)); });
}

int32_t transduce_training_attention_backward(int32_t isa, const Attention* a, const Noise* noise) {
  return guarded([&] { check(*a), tables_of(isa).attention->backward(*a, checked(noise)); });
}

int32_t transduce_training_loss(int32_t isa, const Loss* a, double* nats, double* nll_nats) {
  return guarded([&] {
    check_shape(a->n, a->vocab);
    check_indexes(a->labels, a->n, a->vocab, "label");
    tables_of(isa).rows->loss(*a, nats, nll_nats);
  });
}
