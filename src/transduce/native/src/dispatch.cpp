// Which kernels this machine can run: asked of the processor once, when the library is first used.

#include "kernels.h"

#if defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace transduce {

// Which of them there are depends on the machine and the compiler that built this: native/build.py says so.
extern const Kernels kernels_base;
#if TRANSDUCE_HAVE_AVX2
extern const Kernels kernels_avx2;
#endif
#if TRANSDUCE_HAVE_AVX512
extern const Kernels kernels_avx512;
#endif
#if TRANSDUCE_HAVE_NEON_DOT
extern const Kernels kernels_neon_dot;
#endif

namespace {

struct Usable {
  const Kernels* tables[4] = {};
  Usable() {
    const Kernels** next = tables;
#if TRANSDUCE_HAVE_AVX512
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vnni"))
      *next++ = &kernels_avx512;
#endif
#if TRANSDUCE_HAVE_AVX2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) *next++ = &kernels_avx2;
#endif
#if TRANSDUCE_HAVE_NEON_DOT && defined(__linux__)
    if (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) *next++ = &kernels_neon_dot;
#elif TRANSDUCE_HAVE_NEON_DOT && defined(__APPLE__)
    *next++ = &kernels_neon_dot;  // every Apple processor of this kind has it
#endif
    *next = &kernels_base;
  }
};

}  // namespace

const Kernels* const* usable_kernels() {
  static const Usable usable;
  return usable.tables;
}

}  // namespace transduce
