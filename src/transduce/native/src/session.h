// Search step by step from outside: the session of decoding/engine.py. And whole given targets: scores and attention.

#pragma once

#include <memory>
#include <vector>

#include "forward.h"

namespace transduce {

// The memory of one thread, for rows that it computes alone, and what it shares when it computes with others.
struct Workspace {
  Shared shared;
  Scratch scratch;
};

class Session {
 public:
  Session(const Model& model, int n_threads) : model_(model), workspaces_(n_threads) {}

  const Model& model() const { return model_; }

  void add(const std::vector<std::vector<int32_t>>& sources);  // without EOS

  // Extend rows; either the best k tokens of each (best_ids, best_log_probs: [n][k], eos: [n]) or, where `all` is given, the
  // whole vocabulary ([n][tgt_vocab]).
  void step(const int64_t* parents, const int64_t* ids, int n, int k, int64_t* best_ids, float* best_log_probs, float* eos,
            float* all);

 private:
  struct Extended {
    std::shared_ptr<Sentence> sentence;
    std::vector<int32_t> slots;
  };
  void check(const int64_t* parents, const int64_t* ids, int n, int k) const;
  void take_slots();

  const Model& model_;
  std::vector<Workspace> workspaces_;  // one for each thread
  std::vector<Extended> rows_;  // of the latest step, and those that were added since
};

struct Pair {
  std::vector<int32_t> src, tgt;  // with EOS; with BOS
};

// Log-probability of every token of the targets and of EOS, one array after the other.
void score_pairs(const Model&, int n_threads, std::vector<Pair>&, float* log_probs);

// Where one decoder layer looks: for each pair [tgt positions][src], mean over the heads, one array after the other.
void cross_attention(const Model&, int n_threads, std::vector<Pair>&, int layer, float* weights);

}  // namespace transduce
