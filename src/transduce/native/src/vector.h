// Portable vectors: the little that the kernels need, over the vector types of GCC and Clang.
//
// One source serves every instruction set; what differs is the width W and a few instructions that the compilers do not
// find by themselves. Included by kernels.cpp only, which is compiled once for each instruction set. Everything is in an
// unnamed namespace, so that no function compiled for a newer processor can take the place of one for an older.

#pragma once

#include <cstdint>
#include <cstring>

// TRANSDUCE_PLAIN_WIDTH=N builds vectors of N floats without a single instruction of ours: the tests hold it against the rest.
#if defined(TRANSDUCE_PLAIN_WIDTH)
#elif defined(__AVX512F__) && defined(__AVX512VNNI__)
#define TRANSDUCE_AVX512 1
#elif defined(__AVX2__)
#define TRANSDUCE_AVX2 1
#elif defined(__x86_64__)
#define TRANSDUCE_SSE 1
#elif defined(__aarch64__)
#define TRANSDUCE_NEON 1
#endif

#if TRANSDUCE_AVX512 || TRANSDUCE_AVX2 || TRANSDUCE_SSE
#include <immintrin.h>
#elif TRANSDUCE_NEON
#include <arm_neon.h>
#endif

namespace {

#if TRANSDUCE_AVX512
constexpr int W = 16;  // floats in a vector
constexpr int kRegisters = 32;
#elif TRANSDUCE_AVX2
constexpr int W = 8;
constexpr int kRegisters = 16;
#elif defined(TRANSDUCE_PLAIN_WIDTH)
constexpr int W = TRANSDUCE_PLAIN_WIDTH;
constexpr int kRegisters = 16;
#elif TRANSDUCE_NEON
constexpr int W = 4;
constexpr int kRegisters = 32;
#else
constexpr int W = 4;
constexpr int kRegisters = 16;
#endif

typedef float Floats __attribute__((vector_size(W * 4)));
typedef int32_t Ints __attribute__((vector_size(W * 4)));
typedef float FloatsInMemory __attribute__((vector_size(W * 4), aligned(4), may_alias));
typedef int32_t IntsInMemory __attribute__((vector_size(W * 4), aligned(1), may_alias));

#define ALWAYS inline __attribute__((always_inline))

ALWAYS Floats load(const float* p) { return *reinterpret_cast<const FloatsInMemory*>(p); }
ALWAYS void store(float* p, Floats x) { *reinterpret_cast<FloatsInMemory*>(p) = x; }
ALWAYS Ints load_ints(const void* p) { return *reinterpret_cast<const IntsInMemory*>(p); }
ALWAYS Floats all(float x) { return x - Floats{}; }
ALWAYS Ints all_ints(int32_t x) { return x - Ints{}; }

ALWAYS Floats as_floats(Ints x) { return reinterpret_cast<Floats>(x); }
ALWAYS Ints as_ints(Floats x) { return reinterpret_cast<Ints>(x); }

// Where one of the two is NaN it is b, on x86: so b is what may be NaN and must stay it.
ALWAYS Floats larger(Floats a, Floats b) {
#if TRANSDUCE_AVX512
  return _mm512_maskz_max_ps(0xffff, a, b);  // the plain form makes GCC 12 warn of its own header
#elif TRANSDUCE_AVX2
  return _mm256_max_ps(a, b);
#elif TRANSDUCE_SSE
  return _mm_max_ps(a, b);
#elif TRANSDUCE_NEON
  return vmaxq_f32(a, b);
#else
  return a > b ? a : b;  // b if one is NaN
#endif
}

// The lanes where a > b, as a mask of bits.
ALWAYS uint32_t lanes_above(Floats a, Floats b) {
#if TRANSDUCE_AVX512
  return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ);
#elif TRANSDUCE_AVX2
  return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_GT_OQ)));
#elif TRANSDUCE_SSE
  return static_cast<uint32_t>(_mm_movemask_ps(_mm_cmpgt_ps(a, b)));
#else
  uint32_t mask = 0;
  for (int i = 0; i < W; i++) mask |= static_cast<uint32_t>(a[i] > b[i]) << i;
  return mask;
#endif
}

ALWAYS Floats magnitude(Floats x) { return as_floats(as_ints(x) & all_ints(0x7fffffff)); }
ALWAYS Floats to_floats(Ints x) { return __builtin_convertvector(x, Floats); }

// Sum of the lanes, always in the same order: halves onto halves.
ALWAYS float sum(Floats x) {
  float lane[W];
  store(lane, x);
  for (int half = W / 2; half > 0; half /= 2)
    for (int i = 0; i < half; i++) lane[i] += lane[i + half];
  return lane[0];
}

ALWAYS float largest(Floats x) {
  float lane[W], found;
  store(lane, x);
  found = lane[0];
  for (int i = 1; i < W; i++) found = lane[i] > found ? lane[i] : found;
  return found;
}

// Adding this number leaves the nearest integer in the low bits of a float (ties to even), for |x| < 2^22.
constexpr float kRounder = 12582912.0f;

ALWAYS Ints nearest(Floats x) { return as_ints(x + kRounder) - as_ints(all(kRounder)); }

// e^x for x <= 0, exactly 0 below -87, NaN for NaN; relative error below 2e-7. The method is that of Cephes: 2^n * e^r with
// |r| < ln 2 / 2.
ALWAYS Floats exponential(Floats x) {
  const Floats lowest = all(-87.0f);
  const Ints too_low = x < lowest;
  x = larger(lowest, x);
  const Floats shifted = x * 1.44269504f + kRounder;
  const Floats n = shifted - kRounder;
  Floats r = x - n * 0.693359375f;  // ln 2 in two parts, the first exact in a few bits
  r = r + n * 2.12194440e-4f;
  Floats y = all(1.9875691500e-4f);
  y = y * r + 1.3981999507e-3f;
  y = y * r + 8.3334519073e-3f;
  y = y * r + 4.1665795894e-2f;
  y = y * r + 1.6666665459e-1f;
  y = y * r + 5.0000001201e-1f;
  y = y * (r * r) + r + 1.0f;
  const Ints power = (as_ints(shifted) - as_ints(all(kRounder)) + 127) << 23;
  return as_floats(as_ints(y * as_floats(power)) & ~too_low);
}

// What a quantized activation of 0 is stored as: bytes are unsigned where the processor multiplies unsigned by signed.
#if TRANSDUCE_NEON && defined(__ARM_FEATURE_DOTPROD)
constexpr int kZeroPoint = 0;
#else
constexpr int kZeroPoint = 128;
#endif

// Adds to each 32-bit lane the products of its four activation bytes with its four weight bytes.
// Weights have 7 bits, so that two products fit the 16-bit sums of vpmaddubsw: 2 * 255 * 63 < 2^15.
ALWAYS Ints dot_bytes(Ints total, Ints activations, Ints weights) {
#if TRANSDUCE_AVX512
  return reinterpret_cast<Ints>(_mm512_dpbusd_epi32(reinterpret_cast<__m512i>(total), reinterpret_cast<__m512i>(activations),
                                                    reinterpret_cast<__m512i>(weights)));
#elif TRANSDUCE_AVX2
  const __m256i pairs = _mm256_maddubs_epi16(reinterpret_cast<__m256i>(activations), reinterpret_cast<__m256i>(weights));
  return total + reinterpret_cast<Ints>(_mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
#elif TRANSDUCE_NEON && defined(__ARM_FEATURE_DOTPROD)
  return vdotq_s32(total, vreinterpretq_s8_s32(activations), vreinterpretq_s8_s32(weights));
#else
  for (int byte = 0; byte < 4; byte++) {  // shifts that take the bytes out, unsigned and with their sign
    const Ints a = (activations >> (8 * byte)) & 0xff;
    const Ints b = (weights << (24 - 8 * byte)) >> 24;
    total += a * b;
  }
  return total;
#endif
}

}  // namespace
