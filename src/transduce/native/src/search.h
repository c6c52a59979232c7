// Beam search over many sentences, with rows kept full: finished sentences leave and waiting ones enter.
//
// The search itself is that of decoding/beam.py, which is its oracle: the same results to the last bit.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "forward.h"

namespace transduce {

struct SearchSettings {
  int32_t beam_size, n_best, n_threads;
  int32_t rows;                   // about so many hypotheses are computed together by one thread
  std::vector<double> penalties;  // [largest limit + 2]: what the log-probability of so many tokens, EOS counted, is divided by
};

struct SourceView {
  const int64_t* ids;  // without EOS
  int32_t length;
  int32_t min_tokens, max_tokens;  // of the translation, without EOS
  const int32_t* shortlist;        // ascending target ids with the control ids, or null
  int32_t n_shortlist;
};

struct Finished {
  std::vector<int32_t> ids;
  double log_prob, score;
};

// One search: starts its threads when it is made.
class Search {
 public:
  Search(const Model&, std::vector<SourceView>, SearchSettings);
  ~Search();  // stops what is still going on

  // True: done. False: the time is over. Throws what a thread has thrown: std::domain_error for what is no log-probability.
  bool wait_for(int milliseconds);

  const std::vector<Finished>& results(size_t sentence) const { return results_[sentence]; }

 private:
  struct Beam;
  struct Team;

  void work(Team&, int member);
  bool step(Team&, const Member&);
  void watch_stalls(Team&);
  void refill(Team&);
  void make_rows(Team&);
  void keep_best(Team&);
  void extend(Beam&, const int32_t* ids, const float* log_probs, const float* eos);
  void fail(std::exception_ptr);

  const Model& model_;
  const std::vector<SourceView> sources_;
  SearchSettings settings_;
  const int k_;                 // tokens that one hypothesis can be extended by: the beam size, or all that there are
  std::vector<int32_t> order_;  // of the sentences: the longest first, so that the last ones to run are short
  std::vector<std::vector<Finished>> results_;

  std::mutex mutex_;
  std::condition_variable done_;
  size_t next_ = 0;      // in order_
  int running_ = 0;      // threads
  std::atomic<bool> stop_{false};
  std::exception_ptr error_;
  Gate gate_;
  std::vector<std::unique_ptr<Team>> teams_;
  std::vector<std::thread> threads_;
};

}  // namespace transduce
