// The model's forward pass: encode sentences, and advance rows of translations by one position each.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "crew.h"
#include "model.h"

namespace transduce {

// Memory that is kept from call to call and never cleared: numbers in it are written before they are read, but for padding.
template <typename T>
class Buffer {
 public:
  T* get(size_t count) {
    if (count > size_) {
      data_.reset(new T[count]());
      size_ = count;
    }
    return data_.get();
  }

 private:
  std::unique_ptr<T[]> data_;
  size_t size_ = 0;
};

// What all members of a crew read and write, each its own columns.
struct Shared {
  Buffer<float> projected, attended, mixed, crossed, inner, fed, logits;
};

// What one member has for itself: it normalizes and quantizes every row by itself, which is quicker than to wait for others.
struct Scratch {
  Buffer<float> stream, normed, weights, scale;
  Buffer<uint8_t> bytes;
};

// The outputs that a sentence may use, when a shortlist was given: a small output matrix of its own.
struct Shortlist {
  std::vector<int32_t> ids;  // ascending, the control ids among them
  std::vector<char> block;
  Panels panels;
};

// A source and what was computed of it. The caches are append-only: a hypothesis names its positions by their slots, and
// nothing is moved when the search reorders. Slots that no living hypothesis descends from are used again.
struct Sentence {
  std::vector<int32_t> src;                // with EOS
  std::vector<std::vector<float>> memory;  // of each decoder layer and head: [src][key], then [src][value]
  std::vector<std::vector<float>> cache;   // of each decoder layer: [slots][keys, values]
  int n_slots = 0;
  std::unique_ptr<Shortlist> shortlist;

  // Make room for so many slots in all; old ones keep their content. By one member alone.
  void reserve(const Model&, int slots);

  // Give the newest position of each of its hypotheses a slot that none of them descends from. By one member alone.
  void take_slots(const Model&, const std::vector<std::vector<int32_t>*>& hypotheses);
};

// One position of one hypothesis. Positions of one hypothesis may stand in one call, in order: later ones see the earlier.
struct Row {
  Sentence* sentence;
  int32_t token;
  int position;
  const int32_t* slots;  // [position + 1]: where its own and all earlier positions lie in the cache, its own last
};

// Compute the memory of sentences. All members call it.
void encode(const Model&, const Member&, Shared&, Scratch&, Sentence* const* sentences, int n);

// Where cross-attention of one layer looks, as the mean over the heads; asked for by crews of one only.
struct CrossRecord {
  int layer;
  std::vector<std::vector<float>> rows;  // [rows][src]

  void add(int row, const float* weights, int length, int n_heads) {
    rows[row].resize(length);
    for (int s = 0; s < length; s++) rows[row][s] += weights[s] / static_cast<float>(n_heads);
  }
};

// Extend hypotheses: writes keys and values into the cache, and logits into shared.logits: [n][widths.logits]. All members call it.
void advance(const Model&, const Member&, Shared&, Scratch&, const Row* rows, int n, CrossRecord* record = nullptr);

// The best k tokens after a row of logits, control ids left out, and EOS. All log-probabilities are at most 0, or NaN.
struct Best {
  int32_t* ids;      // [k]
  float* log_probs;  // [k]
  float* eos;
};
void best_tokens(const Model&, const Sentence&, const float* logits, int k, Best);

// Log-probabilities of the whole vocabulary: [tgt_vocab].
void all_tokens(const Model&, const Sentence&, const float* logits, float* log_probs);

// Take the columns of a shortlist out of the model's output matrix.
std::unique_ptr<Shortlist> take_shortlist(const Model&, const int32_t* ids, int n);

constexpr int kBos = 1, kEos = 2, kControls = 4;  // PAD 0, BOS 1, EOS 2, UNK 3: tokenizer/protocol.py

}  // namespace transduce
