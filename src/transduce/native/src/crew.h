// Threads that compute the same rows together, each its own columns and heads.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace transduce {

// Thrown out of a barrier when another member has failed: nobody waits in vain.
struct Aborted {};

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
    for (int spins = 0; spins < kSpins; spins++) {
      if (round_.load(std::memory_order_acquire) != round) return;
      pause();
    }
    const auto begin = std::chrono::steady_clock::now();
    while (round_.load(std::memory_order_acquire) == round) {
      if (aborted_.load(std::memory_order_relaxed)) throw Aborted();
      std::this_thread::yield();
    }
    if (std::chrono::steady_clock::now() - begin > kStall) stalls_.fetch_add(1, std::memory_order_relaxed);
  }

  // How often somebody has waited for a thread that was not running: another process holds a core that we count on.
  int take_stalls() { return stalls_.exchange(0, std::memory_order_relaxed); }

  void abort() { aborted_.store(true, std::memory_order_relaxed); }

 private:
  static constexpr int kSpins = 1000;                       // some 20 microseconds
  static constexpr std::chrono::milliseconds kStall{1};     // unequal shares of the work take less

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
  std::atomic<int> stalls_{0};
  std::atomic<bool> aborted_{false};
};

// Threads that need each other wait here until all of them could be started, or none is to run.
class Gate {
 public:
  void open() { set(1); }
  void cancel() { set(-1); }

  // True: go on. False: another thread could not be started.
  bool wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return state_ != 0; });
    return state_ > 0;
  }

 private:
  void set(int state) {
    const std::lock_guard<std::mutex> lock(mutex_);
    state_ = state;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int state_ = 0;
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

// Keeps the first exception of several threads, to be thrown where they were started.
class FirstError {
 public:
  void keep(std::exception_ptr error) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!error_) error_ = error;
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
};

// Call work(i, thread) for i in 0..n-1, each thread the next that is left. With fewer threads than asked for it takes longer.
template <typename Work>
void in_parallel(int n, int n_threads, Work&& work) {
  std::atomic<int> next{0};
  FirstError error;
  const auto run = [&](int thread) {
    try {
      for (int i; (i = next.fetch_add(1)) < n;) work(i, thread);
    } catch (...) {
      error.keep(std::current_exception());
    }
  };
  std::vector<std::thread> others;
  try {
    for (int thread = 1; thread < n_threads && thread < n; thread++) others.emplace_back(run, thread);
  } catch (...) {  // the machine gives no more threads
  }
  run(0);
  for (std::thread& other : others) other.join();
  error.rethrow();
}

// Call work(member) in every thread of a crew, which wait for each other at its barrier.
template <typename Work>
void by_crew(int size, Work&& work) {
  Crew crew(size);
  Gate gate;
  FirstError error;
  const auto run = [&](int id) {
    try {
      work(Member{crew, id});
    } catch (const Aborted&) {
    } catch (...) {
      error.keep(std::current_exception());
      crew.barrier.abort();
    }
  };
  std::vector<std::thread> others;
  const auto join = [&] {
    for (std::thread& other : others) other.join();
  };
  try {
    for (int id = 1; id < size; id++)
      others.emplace_back([&, id] {
        if (gate.wait()) run(id);
      });
  } catch (...) {
    gate.cancel();
    join();
    throw;
  }
  gate.open();
  run(0);
  join();
  error.rethrow();
}

}  // namespace transduce
