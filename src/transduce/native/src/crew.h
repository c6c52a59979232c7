// Threads that compute the same rows together, each its own columns and heads.

#pragma once

#include <atomic>
#include <thread>

namespace transduce {

// Waits in a short spin, since the parts between two barriers take microseconds; gives the core away if it takes longer.
class Barrier {
 public:
  explicit Barrier(int members) : members_(members) {}

  void wait() {
    if (members_ == 1) return;
    const int round = round_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) == members_ - 1) {
      arrived_.store(0, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
      return;
    }
    for (int spins = 0; round_.load(std::memory_order_acquire) == round; spins++) {
      if (spins > kSpins) std::this_thread::yield();
      else pause();
    }
  }

 private:
  static constexpr int kSpins = 4000;

  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  const int members_;
  std::atomic<int> arrived_{0};
  std::atomic<int> round_{0};
};

struct Crew {
  explicit Crew(int members) : size(members), barrier(members) {}
  const int size;
  Barrier barrier;
};

// One thread's place in a crew.
struct Member {
  Crew& crew;
  int id;  // 0..size-1

  void wait() const { crew.barrier.wait(); }
  // This member's part of `count` things, as [begin, end).
  int begin(int count) const { return static_cast<int>(static_cast<int64_t>(count) * id / crew.size); }
  int end(int count) const { return static_cast<int>(static_cast<int64_t>(count) * (id + 1) / crew.size); }
};

}  // namespace transduce
