#include "api.h"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <string>

#include "search.h"
#include "session.h"

namespace {

using namespace transduce;

thread_local std::string last_error;

// Nothing may be thrown through C: what fails leaves its message.
template <typename Work, typename Result>
Result guarded(Result failed, Work&& work) {
  try {
    return work();
  } catch (const std::exception& error) {
    last_error = error.what();
  } catch (...) {
    last_error = "unknown failure";
  }
  return failed;
}

const Kernels& kernels_of(int32_t isa) {
  const Kernels* const* tables = usable_kernels();
  for (int32_t i = 0; tables[i]; i++)
    if (i == isa) return *tables[i];
  throw std::out_of_range("no instruction set number " + std::to_string(isa));
}

const Model& model_of(void* model) { return *static_cast<const Model*>(model); }

void check_at_least(int32_t least, int32_t value, const char* name) {
  if (value < least) throw std::out_of_range(std::string(name) + " is " + std::to_string(value));
}

// Every id must be in the vocabulary.
void check_ids(const int64_t* ids, const int32_t* lengths, int32_t n, int32_t vocab) {
  for (int32_t i = 0; i < n; i++) {
    check_at_least(0, lengths[i], "the length of a sentence");
    for (int32_t j = 0; j < lengths[i]; j++, ids++)
      if (*ids < 0 || *ids >= vocab)
        throw std::out_of_range("sentence " + std::to_string(i) + " has the id " + std::to_string(*ids) + ", and the vocabulary " +
                                std::to_string(vocab) + " entries");
  }
}

// A shortlist: ascending target ids, the control ids first.
void check_shortlist(const int32_t* ids, int32_t length, int32_t vocab) {
  check_at_least(kControls, length, "the length of a shortlist");
  for (int32_t i = 0; i < length; i++)
    if (i < kControls ? ids[i] != i : ids[i] <= ids[i - 1] || ids[i] >= vocab)
      throw std::out_of_range("a shortlist has the id " + std::to_string(ids[i]) + " at place " + std::to_string(i));
}

// Cut ids that lie one after the other into sentences.
std::vector<std::vector<int32_t>> sentences_of(const int64_t* ids, const int32_t* lengths, int32_t n, int32_t vocab) {
  check_ids(ids, lengths, n, vocab);
  std::vector<std::vector<int32_t>> found(n);
  for (int32_t i = 0; i < n; i++, ids += lengths[i - 1]) found[i].assign(ids, ids + lengths[i]);
  return found;
}

// Learned positions end somewhere; one more than the tokens is needed, for EOS or BOS.
void check_positions(const Shape& shape, int32_t n, const int32_t* lengths) {
  for (int32_t i = 0; shape.n_positions && i < n; i++)
    if (lengths[i] >= shape.n_positions)
      throw std::out_of_range("sentence " + std::to_string(i) + " may have " + std::to_string(lengths[i]) +
                              " tokens, and the model has " + std::to_string(shape.n_positions) + " positions");
}

std::vector<Pair> pairs_of(const Model& model, const int64_t* src, const int32_t* src_lengths, const int64_t* tgt,
                           const int32_t* tgt_lengths, int32_t n) {
  check_positions(model.shape, n, src_lengths);
  check_positions(model.shape, n, tgt_lengths);
  auto sources = sentences_of(src, src_lengths, n, model.shape.src_vocab);
  auto targets = sentences_of(tgt, tgt_lengths, n, model.shape.tgt_vocab);
  std::vector<Pair> pairs(n);
  for (int32_t i = 0; i < n; i++) {
    pairs[i] = {std::move(sources[i]), std::move(targets[i])};
    pairs[i].src.push_back(kEos);
    pairs[i].tgt.insert(pairs[i].tgt.begin(), kBos);
  }
  return pairs;
}

}  // namespace

int32_t transduce_abi() { return 3; }

const char* transduce_error() { return last_error.c_str(); }

const char* transduce_isa(int32_t number) {
  return guarded(static_cast<const char*>(nullptr), [&] { return kernels_of(number).name; });
}

int32_t transduce_columns(int32_t isa) {
  return guarded(-1, [&] { return kernels_of(isa).columns; });
}

int64_t transduce_packed_size(const Shape* shape, int32_t isa, int32_t int8) {
  return guarded(int64_t{-1}, [&] { return static_cast<int64_t>(Model::packed_size(*shape, kernels_of(isa), int8)); });
}

int32_t transduce_pack(const Shape* shape, int32_t isa, int32_t int8, const float* const* arrays, char* block) {
  return guarded(-1, [&] {
    Model::pack(*shape, kernels_of(isa), int8, arrays, block);
    return 0;
  });
}

void* transduce_open(const Shape* shape, int32_t isa, int32_t int8, const char* block) {
  return guarded(static_cast<void*>(nullptr), [&]() -> void* { return new Model(*shape, kernels_of(isa), int8, block); });
}

void transduce_close(void* model) { delete static_cast<Model*>(model); }

void* transduce_session(void* model, int32_t n_threads) {
  return guarded(static_cast<void*>(nullptr), [&]() -> void* {
    check_at_least(1, n_threads, "n_threads");
    return new Session(model_of(model), n_threads);
  });
}

void transduce_session_close(void* session) { delete static_cast<Session*>(session); }

int32_t transduce_session_add(void* session, const int64_t* ids, const int32_t* lengths, int32_t n) {
  return guarded(-1, [&] {
    Session& own = *static_cast<Session*>(session);
    check_positions(own.model().shape, n, lengths);
    own.add(sentences_of(ids, lengths, n, own.model().shape.src_vocab));
    return 0;
  });
}

int32_t transduce_session_step(void* session, const int64_t* parents, const int64_t* ids, int32_t n, int32_t k, int64_t* best_ids,
                               float* best_log_probs, float* eos, float* all) {
  return guarded(-1, [&] {
    static_cast<Session*>(session)->step(parents, ids, n, k, best_ids, best_log_probs, eos, all);
    return 0;
  });
}

int32_t transduce_score(void* model, int32_t n_threads, const int64_t* src, const int32_t* src_lengths, const int64_t* tgt,
                        const int32_t* tgt_lengths, int32_t n, float* log_probs) {
  return guarded(-1, [&] {
    auto pairs = pairs_of(model_of(model), src, src_lengths, tgt, tgt_lengths, n);
    score_pairs(model_of(model), n_threads, pairs, log_probs);
    return 0;
  });
}

int32_t transduce_cross_attention(void* model, int32_t n_threads, const int64_t* src, const int32_t* src_lengths, const int64_t* tgt,
                                  const int32_t* tgt_lengths, int32_t n, int32_t layer, float* weights) {
  return guarded(-1, [&] {
    check_at_least(0, layer, "layer");
    check_at_least(layer + 1, model_of(model).shape.n_decoder_layers, "the number of decoder layers");
    auto pairs = pairs_of(model_of(model), src, src_lengths, tgt, tgt_lengths, n);
    cross_attention(model_of(model), n_threads, pairs, layer, weights);
    return 0;
  });
}

namespace {

// A search with copies of all that it reads, so that the caller's arrays may go.
struct OwnedSearch {
  std::vector<int64_t> ids;
  std::vector<int32_t> shortlists;
  std::unique_ptr<Search> search;
};

}  // namespace

int32_t transduce_search(void* model, int32_t n_threads, int32_t beam_size, int32_t n_best, int32_t rows, const int64_t* ids,
                       const int32_t* lengths, const int32_t* minima, const int32_t* limits, int32_t n, const double* penalties,
                       int32_t n_penalties, const int32_t* shortlists, const int32_t* shortlist_lengths, void** search) {
  *search = nullptr;
  return guarded(-1, [&] {
    const Shape& shape = model_of(model).shape;
    check_at_least(1, n, "the number of sentences");
    check_at_least(1, n_threads, "n_threads");
    check_at_least(1, beam_size, "beam_size");
    check_at_least(1, n_best, "n_best");
    check_at_least(1, rows, "rows");
    check_ids(ids, lengths, n, shape.src_vocab);
    check_positions(shape, n, lengths);
    check_positions(shape, n, limits);
    check_at_least(*std::max_element(limits, limits + n) + 2, n_penalties, "n_penalties");
    auto owned = std::make_unique<OwnedSearch>();
    int64_t n_ids = 0, n_listed = 0;
    for (int32_t i = 0; i < n; i++) {
      n_ids += lengths[i];
      if (!shortlists) continue;
      check_shortlist(shortlists + n_listed, shortlist_lengths[i], shape.tgt_vocab);
      n_listed += shortlist_lengths[i];
    }
    owned->ids.assign(ids, ids + n_ids);
    if (shortlists) owned->shortlists.assign(shortlists, shortlists + n_listed);
    std::vector<SourceView> sources;
    const int64_t* at = owned->ids.data();
    const int32_t* listed = owned->shortlists.data();
    for (int32_t i = 0; i < n; i++) {
      check_at_least(0, minima[i], "a minimum");
      check_at_least(minima[i], limits[i], "a limit below its minimum");
      const int32_t n_shortlist = shortlists ? shortlist_lengths[i] : 0;
      sources.push_back({at, lengths[i], minima[i], limits[i], shortlists ? listed : nullptr, n_shortlist});
      at += lengths[i], listed += n_shortlist;
    }
    SearchSettings settings{beam_size, n_best, n_threads, rows, {penalties, penalties + n_penalties}};
    owned->search = std::make_unique<Search>(model_of(model), std::move(sources), std::move(settings));
    *search = owned.release();
    return 0;
  });
}

int32_t transduce_search_wait(void* search, int32_t milliseconds) {
  return guarded(-1, [&] {
    try {
      return static_cast<OwnedSearch*>(search)->search->wait_for(milliseconds) ? 1 : 0;
    } catch (const std::domain_error& error) {
      last_error = error.what();
      return -2;
    }
  });
}

void transduce_search_sizes(void* search, int32_t n, int32_t* counts, int64_t* total) {
  *total = 0;
  for (int32_t i = 0; i < n; i++) {
    const auto& found = static_cast<OwnedSearch*>(search)->search->results(i);
    counts[i] = static_cast<int32_t>(found.size());
    for (const Finished& one : found) *total += static_cast<int64_t>(one.ids.size());
  }
}

void transduce_search_results(void* search, int32_t n, int32_t* lengths, int32_t* ids, double* log_probs, double* scores) {
  for (int32_t i = 0; i < n; i++)
    for (const Finished& one : static_cast<OwnedSearch*>(search)->search->results(i)) {
      *lengths++ = static_cast<int32_t>(one.ids.size());
      ids = std::copy(one.ids.begin(), one.ids.end(), ids);
      *log_probs++ = one.log_prob;
      *scores++ = one.score;
    }
}

void transduce_search_close(void* search) { delete static_cast<OwnedSearch*>(search); }
