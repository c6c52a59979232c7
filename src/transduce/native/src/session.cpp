#include "session.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <unordered_set>

namespace transduce {

namespace {

constexpr int kRowsTogether = 128;  // by one thread
constexpr int kRowsOfACrew = 4;     // with so few for each thread, all threads compute all rows together

}  // namespace

void Session::add(const std::vector<std::vector<int32_t>>& sources) {
  std::vector<Extended> added;
  for (const auto& source : sources) {
    added.push_back({std::make_shared<Sentence>(), {}});
    added.back().sentence->src = source;
    added.back().sentence->src.push_back(kEos);
  }
  const int n = static_cast<int>(added.size()), n_threads = static_cast<int>(workspaces_.size());
  if (n == 1) {
    Sentence* only = added.front().sentence.get();
    by_crew(n_threads, [&](const Member& member) {
      encode(model_, member, workspaces_[0].shared, workspaces_[member.id].scratch, &only, 1);
    });
  } else {
    in_parallel(n, n_threads, [&](int i, int thread) {
      Crew alone(1);
      Sentence* sentence = added[i].sentence.get();
      encode(model_, Member{alone, 0}, workspaces_[thread].shared, workspaces_[thread].scratch, &sentence, 1);
    });
  }
  rows_.insert(rows_.end(), added.begin(), added.end());
}

void Session::check(const int64_t* parents, const int64_t* ids, int n, int k) const {
  if (k < 1 || k > model_.shape.tgt_vocab - kControls) throw std::out_of_range("k is " + std::to_string(k));
  std::unordered_set<const Sentence*> seen;
  const Sentence* latest = nullptr;
  for (int r = 0; r < n; r++) {
    const std::string row = "row " + std::to_string(r);
    if (parents[r] < 0 || parents[r] >= static_cast<int64_t>(rows_.size()))
      throw std::out_of_range(row + " names a parent that is not there: " + std::to_string(parents[r]));
    const Extended& parent = rows_[parents[r]];
    if (ids[r] < 0 || ids[r] >= model_.shape.tgt_vocab) throw std::out_of_range(row + " has the id " + std::to_string(ids[r]));
    if (model_.shape.n_positions && static_cast<int64_t>(parent.slots.size()) >= model_.shape.n_positions)
      throw std::out_of_range(row + " is longer than the model's positions");
    if (parent.sentence.get() != latest && !seen.insert(latest = parent.sentence.get()).second)
      throw std::out_of_range(row + " stands apart from the other rows of its sentence");
  }
}

void Session::step(const int64_t* parents, const int64_t* ids, int n, int k, int64_t* best_ids, float* best_log_probs, float* eos,
                   float* all) {
  check(parents, ids, n, k);
  std::vector<Extended> extended(n);
  for (int r = 0; r < n; r++) extended[r] = rows_[parents[r]];
  rows_ = std::move(extended);
  take_slots();
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
  const int n_threads = static_cast<int>(workspaces_.size()), share = (n + n_threads - 1) / n_threads;
  if (share <= kRowsOfACrew) {
    by_crew(n_threads, [&](const Member& member) {
      advance(model_, member, workspaces_[0].shared, workspaces_[member.id].scratch, rows.data(), n);
      for (int r = member.begin(n); r < member.end(n); r++) finish(workspaces_[0].shared, 0, r);
    });
    return;
  }
  // Rows write into the caches of their sentences at slots of their own, so parts may run side by side.
  const int size = std::min(share, kRowsTogether), parts = (n + size - 1) / size;
  in_parallel(parts, n_threads, [&](int part, int thread) {
    Crew alone(1);
    Workspace& own = workspaces_[thread];
    const int first = part * size, count = std::min(size, n - first);
    advance(model_, Member{alone, 0}, own.shared, own.scratch, rows.data() + first, count);
    for (int r = 0; r < count; r++) finish(own.shared, first, r);
  });
}

void Session::take_slots() {
  std::vector<std::vector<int32_t>*> slots;
  for (size_t first = 0, end; first < rows_.size(); first = end) {
    Sentence& sentence = *rows_[first].sentence;
    slots.clear();
    for (end = first; end < rows_.size() && rows_[end].sentence.get() == &sentence; end++) slots.push_back(&rows_[end].slots);
    sentence.take_slots(model_, slots);
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
  in_parallel(static_cast<int>(pairs.size()), n_threads, [&](int i, int) {
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
  in_parallel(static_cast<int>(pairs.size()), n_threads, [&](int i, int) {
    CrossRecord record{layer, {}};
    read_pair(model, pairs[i], &record, [&](int first, int count, const float*) {
      const size_t width = pairs[i].src.size();
      for (int r = 0; r < count; r++) std::copy(record.rows[r].begin(), record.rows[r].end(), weights + at[i] + (first + r) * width);
    });
  });
}

}  // namespace transduce
