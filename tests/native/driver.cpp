// Calls the C interface from many sides, for builds with sanitizers: random models of awkward shapes, searches by several
// threads at once, steps, scores, attention, shortlists, and calls that must be refused. Prints what was wrong, exit code 1.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

#include "api.h"

using transduce::Shape;

namespace {

constexpr int kVocab = 37;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "failed: %s (%s)\n", what, transduce_error());
  std::exit(1);
}

// Random weights in the order of native/weights.py.
std::vector<std::vector<float>> random_weights(const Shape& s, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0f, 0.3f);
  std::vector<std::vector<float>> made;
  const auto add = [&](int size) {
    made.emplace_back(size);
    for (float& x : made.back()) x = normal(random);
  };
  const auto linear = [&](int in, int out) { add(in * out), add(out); };
  const auto attention = [&] {
    linear(s.d_model, s.n_heads * s.d_k), linear(s.d_model, s.n_heads * s.d_k), linear(s.d_model, s.n_heads * s.d_v);
    linear(s.n_heads * s.d_v, s.d_model);
    add(s.d_model), add(s.d_model);
  };
  const auto feed_forward = [&] {
    linear(s.d_model, s.d_ff), linear(s.d_ff, s.d_model);
    add(s.d_model), add(s.d_model);
  };
  add(s.src_vocab * s.d_model), add(s.tgt_vocab * s.d_model), add(s.tgt_vocab * s.d_model);
  if (s.n_positions) add(s.n_positions * s.d_model), add(s.n_positions * s.d_model);
  for (int i = 0; i < s.n_encoder_layers; i++) attention(), feed_forward();
  for (int i = 0; i < s.n_decoder_layers; i++) attention(), attention(), feed_forward();
  if (s.pre_norm) add(s.d_model), add(s.d_model), add(s.d_model), add(s.d_model);
  return made;
}

struct Opened {
  std::vector<char> block;
  void* model;

  Opened(const Shape& shape, int isa, int bytes) : block(transduce_packed_size(&shape, isa, bytes)) {
    const auto weights = random_weights(shape, 7);
    std::vector<const float*> pointers;
    for (const auto& w : weights) pointers.push_back(w.data());
    require(transduce_pack(&shape, isa, bytes, pointers.data(), block.data()) == 0, "pack");
    model = transduce_open(&shape, isa, bytes, block.data());
    require(model, "open");
  }
  ~Opened() { transduce_close(model); }
};

struct Sources {
  std::vector<int64_t> ids;
  std::vector<int32_t> lengths, minima, limits;
  std::vector<double> penalties;

  Sources(unsigned seed, int n, int longest) {
    std::mt19937 random(seed);
    for (int i = 0; i < n; i++) {
      lengths.push_back(static_cast<int>(random() % (longest + 1)));
      for (int j = 0; j < lengths.back(); j++) ids.push_back(4 + static_cast<int64_t>(random() % (kVocab - 4)));
      minima.push_back(static_cast<int>(random() % 2));
      limits.push_back(lengths.back() + 3);
    }
    for (int i = 0; i < longest + 6; i++) penalties.push_back(std::pow((5.0 + i) / 6.0, 0.6));
  }
  int n() const { return static_cast<int>(lengths.size()); }
  int n_penalties() const { return static_cast<int>(penalties.size()); }
};

std::vector<double> search(void* model, const Sources& s, int n_threads, int beam_size, int rows, bool shortlist) {
  std::vector<int32_t> listed, list_lengths;
  for (int i = 0; i < s.n(); i++) {
    for (int id = 0; id < 4 + i % 9; id++) listed.push_back(id);
    list_lengths.push_back(4 + i % 9);
  }
  void* running;
  require(transduce_search(model, n_threads, beam_size, 1, rows, s.ids.data(), s.lengths.data(), s.minima.data(), s.limits.data(),
                           s.n(), s.penalties.data(), s.n_penalties(), shortlist ? listed.data() : nullptr,
                           shortlist ? list_lengths.data() : nullptr, &running) == 0,
          "search");
  int32_t done;
  while ((done = transduce_search_wait(running, 5)) == 0) {
  }
  require(done == 1, "search ends well");
  std::vector<int32_t> counts(s.n());
  int64_t total = 0;
  transduce_search_sizes(running, s.n(), counts.data(), &total);
  size_t found = 0;
  for (int32_t count : counts) found += count;
  std::vector<int32_t> lengths(found), ids(total);
  std::vector<double> log_probs(found), scores(found);
  transduce_search_results(running, s.n(), lengths.data(), ids.data(), log_probs.data(), scores.data());
  transduce_search_close(running);
  return scores;
}

void steps(void* model, const Sources& s, int n_threads) {
  void* session = transduce_session(model, n_threads);
  require(session && transduce_session_add(session, s.ids.data(), s.lengths.data(), s.n()) == 0, "session");
  std::vector<int64_t> parents(s.n()), ids(s.n(), 1);
  for (int i = 0; i < s.n(); i++) parents[i] = i;
  for (int step = 0; step < 6; step++) {
    const int n = static_cast<int>(parents.size());
    std::vector<int64_t> best(n * 3);
    std::vector<float> log_probs(n * 3), eos(n), all(n * kVocab);
    const bool whole = step % 2;
    require(transduce_session_step(session, parents.data(), ids.data(), n, 3, best.data(), log_probs.data(), eos.data(),
                                   whole ? all.data() : nullptr) == 0,
            "step");
    std::vector<int64_t> next_parents, next_ids;
    for (int r = 0; r < n && next_parents.size() < 60; r++)
      for (int i = 0; i < 1 + r % 2; i++) next_parents.push_back(r), next_ids.push_back(whole ? 4 + (r + i) % 30 : best[r * 3 + i]);
    parents = next_parents, ids = next_ids;
  }
  const int64_t wrong_parent = 10000, wrong_id = kVocab, zero = 0;
  std::vector<float> all(kVocab);
  require(transduce_session_step(session, &wrong_parent, &zero, 1, 1, nullptr, nullptr, nullptr, all.data()) != 0, "refuse a parent");
  require(transduce_session_step(session, &zero, &wrong_id, 1, 1, nullptr, nullptr, nullptr, all.data()) != 0, "refuse an id");
  transduce_session_close(session);

  session = transduce_session(model, n_threads);
  const std::vector<int64_t> two_ids{5, 6}, bos{1, 1}, apart{0, 1, 0}, next{4, 4, 4};
  const std::vector<int32_t> two_lengths{1, 1};
  std::vector<float> of_all(3 * kVocab);
  require(transduce_session_add(session, two_ids.data(), two_lengths.data(), 2) == 0, "add");
  require(transduce_session_step(session, std::vector<int64_t>{0, 1}.data(), bos.data(), 2, 1, nullptr, nullptr, nullptr, of_all.data()) == 0,
          "step");
  require(transduce_session_step(session, apart.data(), next.data(), 3, 1, nullptr, nullptr, nullptr, of_all.data()) != 0,
          "refuse rows of a sentence that stand apart");
  transduce_session_close(session);
}

void targets(void* model, const Sources& src, const Sources& tgt, int n_threads) {
  size_t tokens = 0, cells = 0;
  for (int i = 0; i < src.n(); i++) tokens += tgt.lengths[i] + 1, cells += (tgt.lengths[i] + 1) * (src.lengths[i] + 1);
  std::vector<float> log_probs(tokens), weights(cells);
  require(transduce_score(model, n_threads, src.ids.data(), src.lengths.data(), tgt.ids.data(), tgt.lengths.data(), src.n(),
                          log_probs.data()) == 0,
          "score");
  require(transduce_cross_attention(model, n_threads, src.ids.data(), src.lengths.data(), tgt.ids.data(), tgt.lengths.data(),
                                    src.n(), 0, weights.data()) == 0,
          "attention");
  for (float log_prob : log_probs) require(log_prob <= 0, "log-probabilities are at most 0");
}

void stop_in_the_middle(void* model, const Sources& s) {
  void* running;
  require(transduce_search(model, 2, 4, 1, 8, s.ids.data(), s.lengths.data(), s.minima.data(), s.limits.data(), s.n(),
                           s.penalties.data(), s.n_penalties(), nullptr, nullptr, &running) == 0,
          "search");
  transduce_search_close(running);
}

// Calls that must be refused, one number wrong in each.
void refusals(void* model, const std::vector<double>& penalties) {
  struct Call {
    int64_t id = 5;
    int32_t length = 1, low = 0, high = 2, beam_size = 4, n_best = 1, n_threads = 1, rows = 8, n_penalties = 4;
    std::vector<int32_t> shortlist{0, 1, 2, 3, 7, 9};
  };
  const auto refused = [&](const char* what, auto&& spoil) {
    Call c;
    spoil(c);
    const int32_t listed = static_cast<int32_t>(c.shortlist.size());
    void* running;
    require(transduce_search(model, c.n_threads, c.beam_size, c.n_best, c.rows, &c.id, &c.length, &c.low, &c.high, 1,
                             penalties.data(), c.n_penalties, c.shortlist.data(), &listed, &running) < 0 &&
                !running,
            what);
  };
  refused("refuse an id", [](Call& c) { c.id = kVocab; });
  refused("refuse a negative length", [](Call& c) { c.length = -1; });
  refused("refuse a limit below the minimum", [](Call& c) { c.low = 3; });
  refused("refuse few penalties", [](Call& c) { c.n_penalties = 3; });
  refused("refuse a beam of 0", [](Call& c) { c.beam_size = 0; });
  refused("refuse 0 results", [](Call& c) { c.n_best = 0; });
  refused("refuse 0 threads", [](Call& c) { c.n_threads = 0; });
  refused("refuse 0 rows", [](Call& c) { c.rows = 0; });
  refused("refuse a doubled id in a shortlist", [](Call& c) { c.shortlist.back() = 7; });
  refused("refuse a shortlist without control ids", [](Call& c) { c.shortlist = {1, 2, 3, 7}; });
  refused("refuse a shortlist beyond the vocabulary", [](Call& c) { c.shortlist.back() = kVocab; });
  const int64_t id = 5;
  const int32_t one = 1;
  std::vector<float> weights(4);
  require(transduce_cross_attention(model, 1, &id, &one, &id, &one, 1, 99, weights.data()) < 0, "refuse a layer");
}

}  // namespace

int main() {
  const Shape shapes[] = {
      {38, 51, 5, 7, 3, 1, 2, kVocab, kVocab, 1, 0},
      {16, 32, 2, 8, 8, 2, 1, kVocab, kVocab, 0, 0},
      {20, 24, 3, 9, 30, 1, 1, kVocab, kVocab, 0, 64},
  };
  for (int isa = 0; transduce_isa(isa); isa++)
    for (const Shape& shape : shapes)
      for (int bytes = 0; bytes < 2; bytes++) {
        const Opened opened(shape, isa, bytes);
        const Sources src(1, 23, 20), tgt(2, 23, 20), one(3, 1, 20), many(4, 60, 30);
        const auto alone = search(opened.model, src, 1, 4, 128, false);
        require(search(opened.model, src, 3, 4, 8, false) == alone, "threads and rows change nothing");
        require(search(opened.model, one, 2, 4, 128, false) == search(opened.model, one, 1, 4, 1, false), "a crew changes nothing");
        search(opened.model, src, 2, 70, 100, false);
        search(opened.model, src, 2, 4, 128, true);
        steps(opened.model, src, 2);
        targets(opened.model, src, tgt, 2);
        stop_in_the_middle(opened.model, many);
        std::vector<std::thread> threads;
        for (int t = 0; t < 3; t++)
          threads.emplace_back([&] { require(search(opened.model, src, 2, 4, 16, false) == alone, "searches share a model"); });
        for (std::thread& thread : threads) thread.join();
        refusals(opened.model, src.penalties);
      }
  std::puts("ok");
}
