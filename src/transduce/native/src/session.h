// Search step by step from outside: the session of decoding/engine.py. And whole given targets: scores and attention.

#pragma once

#include <list>

#include "forward.h"

namespace transduce {

class Session {
 public:
  Session(const Model& model, int n_threads) : model_(model), n_threads_(n_threads) {}

  void add(const std::vector<std::vector<int32_t>>& sources);  // without EOS

  // Extend rows; either the best k tokens of each or, with `all`, the whole vocabulary.
  void step(const int64_t* parents, const int64_t* ids, int n, int k, int64_t* best_ids, float* best_log_probs, float* eos,
            float* all);

 private:
  struct Extended {
    std::shared_ptr<Sentence> sentence;
    std::vector<int32_t> slots;
  };
  void check(const int64_t* parents, const int64_t* ids, int n, int k) const;
  void take_slots(std::vector<Extended>& rows);

  const Model& model_;
  const int n_threads_;
  std::vector<Extended> rows_;  // of the latest step, and those that were added since
};

struct Pair {
  std::vector<int32_t> src, tgt;  // with EOS; with BOS
};

// Log-probability of every token of the targets and of EOS, one array after the other.
void score_pairs(const Model&, int n_threads, std::vector<Pair>&, float* log_probs);

// Where one decoder layer looks: for each pair [tgt positions][src], mean over the heads, one array after the other.
void cross_attention(const Model&, int n_threads, std::vector<Pair>&, int layer, float* weights);

// Call work(i) for i in 0..n-1, by so many threads; an exception is thrown here.
template <typename Work>
void in_parallel(int n, int n_threads, Work&& work) {
  std::atomic<int> next{0};
  std::exception_ptr error;
  std::mutex mutex;
  const auto run = [&] {
    try {
      for (int i; (i = next.fetch_add(1)) < n;) work(i);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex);
      error = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  for (int t = 1; t < std::min(n_threads, n); t++) others.emplace_back(run);
  run();
  for (std::thread& thread : others) thread.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace transduce
