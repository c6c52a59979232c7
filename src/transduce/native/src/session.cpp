#include "session.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace transduce {

namespace {

constexpr int kRowsTogether = 128;

// Run a part of the forward pass by a crew: work(member) in every one of its threads.
template <typename Work>
void by_crew(int size, Work&& work) {
  Crew crew(size);
  in_parallel(size, size, [&](int id) { work(Member{crew, id}); });
}

}  // namespace

void Session::add(const std::vector<std::vector<int32_t>>& sources) {
  std::vector<Sentence*> entering;
  for (const auto& source : sources) {
    auto sentence = std::make_shared<Sentence>();
    sentence->src = source;
    sentence->src.push_back(kEos);
    entering.push_back(sentence.get());
    rows_.push_back({std::move(sentence), {}});
  }
  const int n = static_cast<int>(entering.size()), parts = std::min(n_threads_, n);
  if (n == 1) {
    Shared shared;
    by_crew(n_threads_, [&](const Member& member) {
      Scratch scratch;
      encode(model_, member, shared, scratch, entering.data(), 1);
    });
    return;
  }
  in_parallel(parts, parts, [&](int part) {  // each thread its own sentences
    Crew alone(1);
    Shared shared;
    Scratch scratch;
    for (int i = part; i < n; i += parts) encode(model_, Member{alone, 0}, shared, scratch, entering.data() + i, 1);
  });
}

void Session::check(const int64_t* parents, const int64_t* ids, int n, int k) const {
  if (k < 1 || k > model_.shape.tgt_vocab - kControls) throw std::out_of_range("k is " + std::to_string(k));
  for (int r = 0; r < n; r++) {
    if (parents[r] < 0 || parents[r] >= static_cast<int64_t>(rows_.size()))
      throw std::out_of_range("row " + std::to_string(r) + " names a parent that is not there: " + std::to_string(parents[r]));
    if (ids[r] < 0 || ids[r] >= model_.shape.tgt_vocab)
      throw std::out_of_range("row " + std::to_string(r) + " has the id " + std::to_string(ids[r]));
    if (model_.shape.n_positions && static_cast<int64_t>(rows_[parents[r]].slots.size()) >= model_.shape.n_positions)
      throw std::out_of_range("row " + std::to_string(r) + " is longer than the model's positions");
  }
}

void Session::step(const int64_t* parents, const int64_t* ids, int n, int k, int64_t* best_ids, float* best_log_probs, float* eos,
                   float* all) {
  check(parents, ids, n, k);
  std::vector<Extended> extended(n);
  for (int r = 0; r < n; r++) extended[r] = rows_[parents[r]];
  rows_ = std::move(extended);
  take_slots(rows_);
  std::vector<Row> rows(n);
  for (int r = 0; r < n; r++)
    rows[r] = {rows_[r].sentence.get(), static_cast<int32_t>(ids[r]), static_cast<int>(rows_[r].slots.size()) - 1, rows_[r].slots.data()};

  const auto finish = [&](Shared& shared, int first, int r) {
    const Sentence& sentence = *rows[first + r].sentence;
    const float* logits = shared.logits.get(0) + static_cast<size_t>(r) * model_.widths.logits;
    const size_t row = first + r;
    if (all) {
      all_tokens(model_, sentence, logits, all + row * model_.shape.tgt_vocab);
      return;
    }
    std::vector<int32_t> found(k);
    best_tokens(model_, sentence, logits, k, {found.data(), best_log_probs + row * k, eos + row});
    std::copy(found.begin(), found.end(), best_ids + row * k);
  };
  // Rows write into the caches of their sentences at slots of their own, so parts may run side by side.
  const int size = (n + n_threads_ - 1) / n_threads_;
  if (size <= 4) {  // few rows: all threads work on all of them
    Shared shared;
    by_crew(n_threads_, [&](const Member& member) {
      Scratch scratch;
      advance(model_, member, shared, scratch, rows.data(), n);
      for (int r = member.begin(n); r < member.end(n); r++) finish(shared, 0, r);
      member.wait();
    });
    return;
  }
  const int step = std::min(size, kRowsTogether), parts = (n + step - 1) / step;
  in_parallel(parts, n_threads_, [&](int part) {
    Crew alone(1);
    Shared shared;
    Scratch scratch;
    const int first = part * step, count = std::min(step, n - first);
    advance(model_, Member{alone, 0}, shared, scratch, rows.data() + first, count);
    for (int r = 0; r < count; r++) finish(shared, first, r);
  });
}

// As in search.cpp: a slot that no living row descends from is used again.
void Session::take_slots(std::vector<Extended>& rows) {
  for (size_t first = 0, end; first < rows.size(); first = end) {
    Sentence& sentence = *rows[first].sentence;
    end = first + 1;
    while (end < rows.size() && rows[end].sentence.get() == &sentence) end++;
    std::vector<char> taken(sentence.n_slots, 0);
    for (size_t r = first; r < end; r++)
      for (int32_t slot : rows[r].slots) taken[slot] = 1;
    int32_t slot = 0;
    for (size_t r = first; r < end; r++) {
      while (slot < sentence.n_slots && taken[slot]) slot++;
      if (slot == sentence.n_slots) {
        sentence.reserve(model_, slot + 1);
        taken.resize(sentence.n_slots, 0);
      }
      taken[slot++] = 1;
      rows[r].slots.push_back(slot - 1);
    }
  }
}

namespace {

// Read a whole target beside its source, some positions at a time: take(first position, rows, logits) after each part.
template <typename Take>
void read_pair(const Model& model, const Pair& pair, CrossRecord* record, Take&& take) {
  Crew alone(1);
  const Member member{alone, 0};
  Shared shared;
  Scratch scratch;
  Sentence sentence;
  sentence.src = pair.src;
  Sentence* one = &sentence;
  encode(model, member, shared, scratch, &one, 1);
  const int n = static_cast<int>(pair.tgt.size());
  sentence.reserve(model, n);
  std::vector<int32_t> slots(n);
  for (int t = 0; t < n; t++) slots[t] = t;
  for (int first = 0; first < n; first += kRowsTogether) {
    const int count = std::min(kRowsTogether, n - first);
    std::vector<Row> rows;
    for (int t = first; t < first + count; t++) rows.push_back({&sentence, pair.tgt[t], t, slots.data()});
    if (record) record->rows.assign(count, {});
    advance(model, member, shared, scratch, rows.data(), count, record);
    take(first, count, shared.logits.get(0));
  }
}

std::vector<size_t> starts(const std::vector<Pair>& pairs, size_t (*size)(const Pair&)) {
  std::vector<size_t> found{0};
  for (const Pair& pair : pairs) found.push_back(found.back() + size(pair));
  return found;
}

}  // namespace

void score_pairs(const Model& model, int n_threads, std::vector<Pair>& pairs, float* log_probs) {
  const auto at = starts(pairs, [](const Pair& pair) { return pair.tgt.size(); });
  in_parallel(static_cast<int>(pairs.size()), n_threads, [&](int i) {
    const Pair& pair = pairs[i];
    std::vector<float> all(model.shape.tgt_vocab);
    Sentence whole_vocabulary;
    read_pair(model, pair, nullptr, [&](int first, int count, const float* logits) {
      for (int r = 0; r < count; r++) {
        const size_t t = first + r;
        all_tokens(model, whole_vocabulary, logits + static_cast<size_t>(r) * model.widths.logits, all.data());
        log_probs[at[i] + t] = all[t + 1 < pair.tgt.size() ? pair.tgt[t + 1] : kEos];
      }
    });
  });
}

void cross_attention(const Model& model, int n_threads, std::vector<Pair>& pairs, int layer, float* weights) {
  const auto at = starts(pairs, [](const Pair& pair) { return pair.tgt.size() * pair.src.size(); });
  in_parallel(static_cast<int>(pairs.size()), n_threads, [&](int i) {
    CrossRecord record{layer, {}};
    read_pair(model, pairs[i], &record, [&](int first, int count, const float*) {
      const size_t width = pairs[i].src.size();
      for (int r = 0; r < count; r++) std::copy(record.rows[r].begin(), record.rows[r].end(), weights + at[i] + (first + r) * width);
    });
  });
}

}  // namespace transduce
