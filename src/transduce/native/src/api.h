// The C interface, called from Python through ctypes (native/model.py). Pointers are to numpy arrays of the caller.
//
// A function that can fail returns 0 when it has not, and else leaves a message for transduce_error() in its thread.

#pragma once

#include <stdint.h>

#include "model.h"

#define TRANSDUCE_API extern "C" __attribute__((visibility("default")))

TRANSDUCE_API int32_t transduce_abi();        // goes up when this file changes
TRANSDUCE_API const char* transduce_error();  // of the latest failure in this thread

// The instruction sets that this machine can run, best first; null behind the last.
TRANSDUCE_API const char* transduce_isa(int32_t number);
TRANSDUCE_API int32_t transduce_columns(int32_t isa);

TRANSDUCE_API int64_t transduce_packed_size(const transduce::Shape*, int32_t isa, int32_t bytes);
TRANSDUCE_API int32_t transduce_pack(const transduce::Shape*, int32_t isa, int32_t bytes, const float* const* arrays, char* block);

TRANSDUCE_API void* transduce_open(const transduce::Shape*, int32_t isa, int32_t bytes, const char* block);
TRANSDUCE_API void transduce_close(void* model);

// ids: all sources one after the other; lengths: [n]. Ids must be within the vocabulary: it is checked.
TRANSDUCE_API void* transduce_session(void* model, int32_t n_threads);
TRANSDUCE_API void transduce_session_close(void* session);
TRANSDUCE_API int32_t transduce_session_add(void* model, void* session, const int64_t* ids, const int32_t* lengths, int32_t n);
TRANSDUCE_API int32_t transduce_session_step(void* session, const int64_t* parents, const int64_t* ids, int32_t n, int32_t k,
                                             int64_t* best_ids, float* best_log_probs, float* eos, float* all);

TRANSDUCE_API int32_t transduce_score(void* model, int32_t n_threads, const int64_t* src, const int32_t* src_lengths,
                                      const int64_t* tgt, const int32_t* tgt_lengths, int32_t n, float* log_probs);
TRANSDUCE_API int32_t transduce_cross_attention(void* model, int32_t n_threads, const int64_t* src, const int32_t* src_lengths,
                                                const int64_t* tgt, const int32_t* tgt_lengths, int32_t n, int32_t layer,
                                                float* weights);

// shortlists: ids one after the other, with shortlist_lengths [n]; or null. penalties: see search.h.
TRANSDUCE_API void* transduce_search(void* model, int32_t n_threads, int32_t beam_size, int32_t n_best, int32_t rows,
                                     const int64_t* ids, const int32_t* lengths, const int32_t* minima, const int32_t* limits,
                                     int32_t n, const double* penalties, const int32_t* shortlists,
                                     const int32_t* shortlist_lengths);
// 1: done, 0: not yet, -1: failed.
TRANSDUCE_API int32_t transduce_search_wait(void* search, int32_t milliseconds);
// counts: [n] hypotheses of each sentence; total: [1] ids of all of them.
TRANSDUCE_API void transduce_search_sizes(void* search, int32_t n, int32_t* counts, int64_t* total);
TRANSDUCE_API void transduce_search_results(void* search, int32_t n, int32_t* lengths, int32_t* ids, double* log_probs,
                                            double* scores);
TRANSDUCE_API void transduce_search_close(void* search);
