// The C interface, called from Python through ctypes (native/model.py). Pointers are to numpy arrays of the caller, row-major.
//
// A function that can fail gives null or a negative number when it has, and leaves a message for transduce_error() in its
// thread. isa: a number from 0 for transduce_isa. int8: 1 for matrix products in int8, 0 for float32. Whatever comes in is
// checked: ids, lengths, counts. Sentences stand one after the other in ids, with lengths [n]; none has BOS, EOS or padding.

#pragma once

#include <stdint.h>

#include "model.h"

#define TRANSDUCE_API extern "C" __attribute__((visibility("default")))

TRANSDUCE_API int32_t transduce_abi();        // goes up when this file changes
TRANSDUCE_API const char* transduce_error();  // of the latest failure in this thread

// The instruction sets that this machine can run, best first; null behind the last.
TRANSDUCE_API const char* transduce_isa(int32_t number);
TRANSDUCE_API int32_t transduce_columns(int32_t isa);

TRANSDUCE_API int64_t transduce_packed_size(const transduce::Shape*, int32_t isa, int32_t int8);
// arrays: the weights in the order of native/weights.py, float32. block: [packed_size], zeros.
TRANSDUCE_API int32_t transduce_pack(const transduce::Shape*, int32_t isa, int32_t int8, const float* const* arrays, char* block);

TRANSDUCE_API void* transduce_open(const transduce::Shape*, int32_t isa, int32_t int8, const char* block);
TRANSDUCE_API void transduce_close(void* model);

TRANSDUCE_API void* transduce_session(void* model, int32_t n_threads);
TRANSDUCE_API void transduce_session_close(void* session);
TRANSDUCE_API int32_t transduce_session_add(void* session, const int64_t* ids, const int32_t* lengths, int32_t n);
// parents, ids: [n]. Either best_ids, best_log_probs: [n][k] and eos: [n], or all: [n][tgt_vocab] and the others null.
TRANSDUCE_API int32_t transduce_session_step(void* session, const int64_t* parents, const int64_t* ids, int32_t n, int32_t k,
                                             int64_t* best_ids, float* best_log_probs, float* eos, float* all);

// log_probs: [sum of (tgt length + 1)], those of EOS last in each pair.
TRANSDUCE_API int32_t transduce_score(void* model, int32_t n_threads, const int64_t* src, const int32_t* src_lengths,
                                      const int64_t* tgt, const int32_t* tgt_lengths, int32_t n, float* log_probs);
// layer: of the decoder, from 0. weights: of each pair [tgt length + 1][src length + 1], one after the other.
TRANSDUCE_API int32_t transduce_cross_attention(void* model, int32_t n_threads, const int64_t* src, const int32_t* src_lengths,
                                                const int64_t* tgt, const int32_t* tgt_lengths, int32_t n, int32_t layer,
                                                float* weights);

// minima, limits: [n] tokens of a hypothesis. penalties: [n_penalties], at least the largest limit + 2; see search.h.
// shortlists: target ids one after the other, with shortlist_lengths [n]; ascending, the control ids first; or both null.
// search: where the handle is put before this returns, so that whoever is interrupted right after has it and can close it.
TRANSDUCE_API int32_t transduce_search(void* model, int32_t n_threads, int32_t beam_size, int32_t n_best, int32_t rows,
                                     const int64_t* ids, const int32_t* lengths, const int32_t* minima, const int32_t* limits,
                                     int32_t n, const double* penalties, int32_t n_penalties, const int32_t* shortlists,
                                     const int32_t* shortlist_lengths, void** search);
// 1: done, 0: not yet, -1: failed, -2: the model gave a number that is no log-probability, which is the message.
TRANSDUCE_API int32_t transduce_search_wait(void* search, int32_t milliseconds);
// counts: [n] hypotheses of each sentence; total: [1] ids of all of them.
TRANSDUCE_API void transduce_search_sizes(void* search, int32_t n, int32_t* counts, int64_t* total);
// lengths, log_probs, scores: [sum of counts]; ids: [total].
TRANSDUCE_API void transduce_search_results(void* search, int32_t n, int32_t* lengths, int32_t* ids, double* log_probs,
                                            double* scores);
TRANSDUCE_API void transduce_search_close(void* search);
