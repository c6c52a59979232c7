// Dropout masks: the bits of Philox4x32-7 that native/training.py describes, computed for W counters at once; and rows whose
// width is no multiple of W. In an unnamed namespace, for the same reason as vector.h.
//
// Paper of Philox: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011. 7 rounds pass all tests there.

#pragma once

#include "training.h"
#include "vector.h"

namespace {

typedef uint32_t Words __attribute__((vector_size(W * 4)));
typedef uint64_t Longs __attribute__((vector_size(W * 4)));
typedef uint32_t WordsInMemory __attribute__((vector_size(W * 4), aligned(4), may_alias));

constexpr int kRounds = 7;
constexpr int kLanes = 16;                // blocks that a group of elements takes
constexpr int kGroup = 128;               // elements decided by them
constexpr int kGroupWords = kGroup / 2;   // 32-bit words that hold their bits
constexpr uint64_t kLowHalf = 0xffffffffu;

// The products of the even lanes, whose 64 bits take the place of two lanes.
ALWAYS Longs multiply_even(Longs a, uint32_t b) {
#if TRANSDUCE_AVX512
  return reinterpret_cast<Longs>(_mm512_maskz_mul_epu32(0xff, reinterpret_cast<__m512i>(a), _mm512_set1_epi64(b)));
#elif TRANSDUCE_AVX2
  return reinterpret_cast<Longs>(_mm256_mul_epu32(reinterpret_cast<__m256i>(a), _mm256_set1_epi64x(b)));
#elif TRANSDUCE_SSE
  return reinterpret_cast<Longs>(_mm_mul_epu32(reinterpret_cast<__m128i>(a), _mm_set1_epi64x(b)));
#elif TRANSDUCE_NEON
  return reinterpret_cast<Longs>(vmull_u32(vmovn_u64(reinterpret_cast<uint64x2_t>(a)), vdup_n_u32(b)));
#else
  return (a & kLowHalf) * static_cast<uint64_t>(b);
#endif
}

ALWAYS void multiply_wide(Words a, uint32_t b, Words& high, Words& low) {
  const Longs pairs = reinterpret_cast<Longs>(a);
  const Longs even = multiply_even(pairs, b), odd = multiply_even(pairs >> 32, b);
#if TRANSDUCE_AVX512
  high = reinterpret_cast<Words>(_mm512_mask_blend_epi32(0xaaaa, reinterpret_cast<__m512i>(even >> 32), reinterpret_cast<__m512i>(odd)));
  low = reinterpret_cast<Words>(_mm512_mask_blend_epi32(0xaaaa, reinterpret_cast<__m512i>(even), reinterpret_cast<__m512i>(odd << 32)));
#elif TRANSDUCE_AVX2
  high = reinterpret_cast<Words>(_mm256_blend_epi32(reinterpret_cast<__m256i>(even >> 32), reinterpret_cast<__m256i>(odd), 0xaa));
  low = reinterpret_cast<Words>(_mm256_blend_epi32(reinterpret_cast<__m256i>(even), reinterpret_cast<__m256i>(odd << 32), 0xaa));
#else
  // The pairs are stored with the even lane in the low half: every machine that we know is little-endian.
  high = reinterpret_cast<Words>((even >> 32) | (odd & ~kLowHalf));
  low = reinterpret_cast<Words>((even & kLowHalf) | (odd << 32));
#endif
}

ALWAYS void philox(Words counter[4], uint32_t key0, uint32_t key1) {
#pragma GCC unroll 8
  for (int round = 0; round < kRounds; round++) {
    Words high0, low0, high1, low1;
    multiply_wide(counter[0], 0xD2511F53u, high0, low0);
    multiply_wide(counter[2], 0xCD9E8D57u, high1, low1);
    counter[0] = high1 ^ counter[1] ^ key0;
    counter[1] = low1;
    counter[2] = high0 ^ counter[3] ^ key1;
    counter[3] = low0;
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
}

// The words that decide n elements from element 0 on; `bits` has room for whole groups. Of each group: word, then lane.
inline void draw(const transduce::training::Noise& noise, int32_t position, int32_t number, uint32_t head, int64_t n, uint32_t* bits) {
  Words lanes;
  for (int i = 0; i < W; i++) lanes[i] = static_cast<uint32_t>(i);
  const Words none{};
  for (int64_t group = 0; group * kGroup < n; group++, bits += kGroupWords) {
    const int64_t left = n - group * kGroup;
    for (int lane = 0; lane < kLanes && lane < left; lane += W) {
      Words counter[4] = {lanes + static_cast<uint32_t>(group * kLanes + lane), none + static_cast<uint32_t>(position),
                          none + static_cast<uint32_t>(number), none + (noise.site | head << 16)};
      philox(counter, noise.key[0], noise.key[1]);
      for (int word = 0; word < 4; word++) *reinterpret_cast<WordsInMemory*>(bits + word * kLanes + lane) = counter[word];
    }
  }
}

inline int64_t size_of_bits(int64_t n) { return (n + kGroup - 1) / kGroup * kGroupWords; }

// What elements of a row are multiplied by: 0 or the scale. A product, so that a NaN stays one.
struct Drop {
  const uint32_t* bits;
  Ints lowest_dropped, scale;  // threshold - 1; the bits of 65536 / (65536 - threshold)

  Drop(const transduce::training::Noise& noise, const uint32_t* bits)
      : bits(bits),
        lowest_dropped(all_ints(static_cast<int32_t>(noise.threshold) - 1)),
        scale(as_ints(all(65536.0f / static_cast<float>(65536 - noise.threshold)))) {}

  // Of the elements j to j + W; j is a multiple of W.
  ALWAYS Floats operator()(int64_t j) const {
    const uint32_t* at = bits + j / kGroup * kGroupWords + j / (2 * kLanes) % 4 * kLanes + j % kLanes;
    const Words pair = *reinterpret_cast<const WordsInMemory*>(at);
    const Ints drawn = reinterpret_cast<Ints>((pair >> static_cast<uint32_t>(j & kLanes)) & 0xffffu);
    return as_floats((drawn > lowest_dropped) & scale);
  }
};

struct Keep {
  ALWAYS float operator()(int64_t) const { return 1.0f; }
};

// W elements of a row, or fewer at its end.
struct Whole {
  ALWAYS Floats get(const float* p) const { return load(p); }
  ALWAYS void put(float* p, Floats x) const { store(p, x); }
  ALWAYS Floats fill(Floats x, float) const { return x; }
};

struct Part {
  int64_t n;  // at least 1, below W

  ALWAYS Ints there() const {
    Ints lanes;
    for (int i = 0; i < W; i++) lanes[i] = i;
    return lanes < all_ints(static_cast<int32_t>(n));
  }
  ALWAYS Floats get(const float* p) const {
#if TRANSDUCE_AVX512
    return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << n) - 1), p);
#elif TRANSDUCE_AVX2
    return _mm256_maskload_ps(p, reinterpret_cast<__m256i>(there()));
#else
    float lane[W] = {};
    for (int64_t i = 0; i < n; i++) lane[i] = p[i];
    return load(lane);
#endif
  }
  ALWAYS void put(float* p, Floats x) const {
#if TRANSDUCE_AVX512
    _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << n) - 1), x);
#elif TRANSDUCE_AVX2
    _mm256_maskstore_ps(p, reinterpret_cast<__m256i>(there()), x);
#else
    float lane[W];
    store(lane, x);
    for (int64_t i = 0; i < n; i++) p[i] = lane[i];
#endif
  }
  // Put something into the lanes that are not there, which `get` leaves 0.
  ALWAYS Floats fill(Floats x, float value) const {
    const Ints mask = there();
    return as_floats((as_ints(x) & mask) | (as_ints(all(value)) & ~mask));
  }
};

// Call body(j, Whole or Part) for the elements 0 to n, W at a time.
template <typename Body>
ALWAYS void across(int64_t n, Body&& body) {
  int64_t j = 0;
  for (; j + W <= n; j += W) body(j, Whole{});
  if (j < n) body(j, Part{n - j});
}

}  // namespace
