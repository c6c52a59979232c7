#include "forward.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace transduce {

namespace {

// The tools of one member: the model, the kernels and the member's own memory.
struct Worker {
  const Model& model;
  const Member& member;
  Shared& shared;
  Scratch& scratch;
  const Kernels& kernels = model.kernels;
  const Widths& widths = model.widths;

  // What matrix products read: rows of numbers, and the same in bytes where products are in int8.
  struct Input {
    const float* values;
    Bytes bytes;
  };

  Input input(const float* values, int rows, int width) {
    if (!model.is_int8) return {values, {nullptr, nullptr}};
    uint8_t* bytes = scratch.bytes.get(static_cast<size_t>(rows) * width);
    float* scale = scratch.scale.get(rows);
    for (int r = 0; r < rows; r++) {
      const size_t at = static_cast<size_t>(r) * width;
      kernels.quantize(values + at, width, bytes + at, scale + r);
    }
    return {values, {bytes, scale}};
  }

  // Columns first..end-1 (multiples of a panel) of a matrix product. Returns when this member's columns are done.
  void multiply(const Panels& w, Input in, int rows, float* out, int out_stride, int first, int end, bool relu = false) {
    first /= kernels.columns, end /= kernels.columns;
    if (model.is_int8) kernels.multiply_bytes(w, in.bytes, w.inner, rows, out, out_stride, first, end, relu);
    else kernels.multiply(w, in.values, w.inner, rows, out, out_stride, first, end, relu);
  }

  // This member's share of the panels of a matrix product.
  void multiply_share(const Panels& w, const float* in, int rows, float* out, int out_stride, bool relu = false) {
    const int columns = kernels.columns;
    multiply(w, input(in, rows, w.inner), rows, out, out_stride, member.begin(w.n_panels) * columns,
             member.end(w.n_panels) * columns, relu);
  }

  // A whole matrix product, shared by panels. The others' columns are there when this returns.
  void multiply_together(const Panels& w, const float* in, int rows, float* out, bool relu = false) {
    multiply_share(w, in, rows, out, w.n_panels * kernels.columns, relu);
    member.wait();
  }

  // What a sublayer reads: the stream itself, or its normalization.
  const float* sublayer_input(float* stream, int rows, const Norm& norm) {
    return model.shape.pre_norm ? normalized(stream, nullptr, rows, norm, scratch.normed) : stream;
  }

  // stream += change, and what follows it in post-norm.
  void add_to_stream(float* stream, const float* change, int rows, const Norm& norm) {
    for (int r = 0; r < rows; r++) {
      float* x = stream + static_cast<size_t>(r) * widths.model;
      const float* add = change + static_cast<size_t>(r) * widths.model;
      if (model.shape.pre_norm) kernels.sum_into(x, add, widths.model);
      else kernels.normalize(x, add, model.shape.d_model, widths.model, norm.gain, norm.bias, x);
    }
  }

  const float* normalized(float* stream, const float* add, int rows, const Norm& norm, Buffer<float>& into) {
    float* out = into.get(static_cast<size_t>(rows) * widths.model);
    for (int r = 0; r < rows; r++) {
      const size_t at = static_cast<size_t>(r) * widths.model;
      kernels.normalize(stream + at, add ? add + at : nullptr, model.shape.d_model, widths.model, norm.gain, norm.bias, out + at);
    }
    return out;
  }

  void embed(const float* table, int32_t token, const float* position, float* out) {
    const float* row = table + static_cast<size_t>(token) * widths.model;
    for (int i = 0; i < widths.model; i++) out[i] = row[i] * model.embedding_scale + position[i];
  }

  void feed_forward(const Panels& up, const Panels& down, float* stream, int rows, const Norm& norm) {
    float* inner = shared.inner.get(0);
    float* fed = shared.fed.get(0);
    multiply_together(up, sublayer_input(stream, rows, norm), rows, inner, true);
    multiply_together(down, inner, rows, fed);
    add_to_stream(stream, fed, rows, norm);
  }

  // Queries, keys and values of this member's heads, into `projected`: [rows][queries, keys, values].
  void project_own_heads(const Attention& w, const float* values, int rows, float* projected, int stride) {
    const int first = member.begin(model.shape.n_heads), end = member.end(model.shape.n_heads);
    const Input in = input(values, rows, widths.model);
    multiply(w.queries, in, rows, projected, stride, first * widths.key, end * widths.key);
    float* keys_values = projected + widths.keys;
    multiply(w.keys_values, in, rows, keys_values, stride, first * widths.key, end * widths.key);
    multiply(w.keys_values, in, rows, keys_values, stride, widths.keys + first * widths.value, widths.keys + end * widths.value);
  }

  // One head of one query. keys, values: at this head's columns of slot 0.
  void attend(const float* q, const float* keys, int key_stride, const float* values, int value_stride, const int32_t* index, int n,
              float* out) {
    float* weights = scratch.weights.get(n + 64);
    kernels.attend(q, keys, key_stride, values, value_stride, index, n, widths.key, widths.value, model.query_scale, weights, out);
  }

  int first_head() const { return member.begin(model.shape.n_heads); }
  int end_head() const { return member.end(model.shape.n_heads); }
  int stride() const { return 2 * widths.keys + widths.values; }  // of a row of `projected`: queries, keys, values
  int cached() const { return widths.keys + widths.values; }      // of a position in a cache

  // The encoder's self-attention: every position reads its sentence.
  void read_own_sentence(const EncoderLayer& layer, float* stream, int rows, Sentence* const* sentences, int n) {
    float* projected = shared.projected.get(0);
    float* attended = shared.attended.get(0);
    project_own_heads(layer.self, sublayer_input(stream, rows, layer.self_norm), rows, projected, stride());
    for (int i = 0, first = 0; i < n; i++) {
      const int length = static_cast<int>(sentences[i]->src.size());
      const float* of_sentence = projected + static_cast<size_t>(first) * stride();
      for (int h = first_head(); h < end_head(); h++)
        for (int r = 0; r < length; r++)
          attend(of_sentence + static_cast<size_t>(r) * stride() + h * widths.key, of_sentence + widths.keys + h * widths.key,
                 stride(), of_sentence + 2 * widths.keys + h * widths.value, stride(), nullptr, length,
                 attended + static_cast<size_t>(first + r) * widths.values + h * widths.value);
      first += length;
    }
    member.wait();
    multiply_together(layer.self.out, attended, rows, shared.mixed.get(0));
    add_to_stream(stream, shared.mixed.get(0), rows, layer.self_norm);
  }

  // The decoder's self-attention: every row reads its own hypothesis, through the cache.
  void read_what_is_written(const DecoderLayer& layer, int number, float* stream, const Row* rows, int n) {
    float* projected = shared.projected.get(0);
    float* attended = shared.attended.get(0);
    project_own_heads(layer.self, sublayer_input(stream, n, layer.self_norm), n, projected, stride());
    const int first = first_head(), count = end_head() - first;
    for (int r = 0; r < n; r++) {  // all rows first: a row may be an earlier position of another
      const float* from = projected + static_cast<size_t>(r) * stride() + widths.keys;
      float* to = rows[r].sentence->cache[number].data() + static_cast<size_t>(rows[r].slots[rows[r].position]) * cached();
      std::memcpy(to + first * widths.key, from + first * widths.key, sizeof(float) * count * widths.key);
      from += widths.keys, to += widths.keys;
      std::memcpy(to + first * widths.value, from + first * widths.value, sizeof(float) * count * widths.value);
    }
    for (int r = 0; r < n; r++) {
      const float* cache = rows[r].sentence->cache[number].data();
      for (int h = first_head(); h < end_head(); h++)
        attend(projected + static_cast<size_t>(r) * stride() + h * widths.key, cache + h * widths.key, cached(),
               cache + widths.keys + h * widths.value, cached(), rows[r].slots, rows[r].position + 1,
               attended + static_cast<size_t>(r) * widths.values + h * widths.value);
    }
    member.wait();
    multiply_together(layer.self.out, attended, n, shared.mixed.get(0));
    add_to_stream(stream, shared.mixed.get(0), n, layer.self_norm);
  }

  // Put projected keys and values ([src][keys, values]) in the order in which attention reads them: head by head.
  void gather_memory(const float* from, int length, float* to) {
    for (int h = 0; h < model.shape.n_heads; h++) {
      for (int s = 0; s < length; s++, to += widths.key)
        std::memcpy(to, from + static_cast<size_t>(s) * cached() + h * widths.key, sizeof(float) * widths.key);
      for (int s = 0; s < length; s++, to += widths.value)
        std::memcpy(to, from + static_cast<size_t>(s) * cached() + widths.keys + h * widths.value, sizeof(float) * widths.value);
    }
  }

  // Cross-attention: every row reads the memory of its sentence.
  void read_source(const DecoderLayer& layer, int number, float* stream, const Row* rows, int n, CrossRecord* record) {
    float* queries = shared.projected.get(0);
    float* attended = shared.attended.get(0);
    const Input in = input(sublayer_input(stream, n, layer.cross_norm), n, widths.model);
    multiply(layer.cross.queries, in, n, queries, stride(), first_head() * widths.key, end_head() * widths.key);
    for (int r = 0; r < n; r++) {
      const float* memory = rows[r].sentence->memory[number].data();
      const int length = static_cast<int>(rows[r].sentence->src.size());
      for (int h = first_head(); h < end_head(); h++) {
        const float* of_head = memory + static_cast<size_t>(h) * length * (widths.key + widths.value);
        attend(queries + static_cast<size_t>(r) * stride() + h * widths.key, of_head, widths.key,
               of_head + static_cast<size_t>(length) * widths.key, widths.value, nullptr, length,
               attended + static_cast<size_t>(r) * widths.values + h * widths.value);
        if (record) record->add(r, scratch.weights.get(0), length, model.shape.n_heads);
      }
    }
    member.wait();
    multiply_together(layer.cross.out, attended, n, shared.crossed.get(0));
    add_to_stream(stream, shared.crossed.get(0), n, layer.cross_norm);
  }
};

// Memory for so many rows, made by one member while the others wait.
void make_room(const Model& model, const Member& member, Shared& shared, int rows, int logits) {
  if (member.id == 0) {
    const Widths& w = model.widths;
    const size_t n = rows;
    shared.projected.get(n * (2 * w.keys + w.values));
    shared.attended.get(n * w.values);
    shared.mixed.get(n * w.model);
    shared.crossed.get(n * w.model);
    shared.inner.get(n * w.inner);
    shared.fed.get(n * w.model);
    shared.logits.get(static_cast<size_t>(logits) * w.logits);
  }
  member.wait();
}

}  // namespace

void Sentence::reserve(const Model& model, int slots) {
  if (slots <= n_slots) return;
  n_slots = std::max(slots, n_slots + n_slots / 2);
  cache.resize(model.shape.n_decoder_layers);
  for (auto& layer : cache) layer.resize(static_cast<size_t>(n_slots) * (model.widths.keys + model.widths.values));
}

void Sentence::take_slots(const Model& model, const std::vector<std::vector<int32_t>*>& hypotheses) {
  std::vector<char> taken(n_slots, 0);
  for (const auto* slots : hypotheses)
    for (int32_t slot : *slots) taken[slot] = 1;
  int32_t slot = 0;
  for (auto* slots : hypotheses) {
    while (slot < n_slots && taken[slot]) slot++;
    if (slot == n_slots) {
      reserve(model, slot + 1);
      taken.resize(n_slots, 0);
    }
    slots->push_back(slot++);
  }
}

void encode(const Model& model, const Member& member, Shared& shared, Scratch& scratch, Sentence* const* sentences, int n) {
  int rows = 0;
  for (int i = 0; i < n; i++) rows += static_cast<int>(sentences[i]->src.size());
  make_room(model, member, shared, rows, 0);
  Worker worker{model, member, shared, scratch};
  const Widths& w = model.widths;

  float* stream = scratch.stream.get(static_cast<size_t>(rows) * w.model);
  for (int i = 0, r = 0; i < n; i++)
    for (size_t j = 0; j < sentences[i]->src.size(); j++, r++)
      worker.embed(model.src_embedding, sentences[i]->src[j], model.src_position(static_cast<int>(j)),
                   stream + static_cast<size_t>(r) * w.model);
  for (const EncoderLayer& layer : model.encoder) {
    worker.read_own_sentence(layer, stream, rows, sentences, n);
    worker.feed_forward(layer.up, layer.down, stream, rows, layer.feed_forward_norm);
  }
  const float* memory =
      model.shape.pre_norm ? worker.normalized(stream, nullptr, rows, model.encoder_norm, scratch.normed) : stream;

  // What cross-attention will read in every step, computed once: keys and values of each decoder layer.
  const int width = w.keys + w.values;
  float* projected = shared.projected.get(0);
  for (int d = 0; d < model.shape.n_decoder_layers; d++) {
    worker.multiply_together(model.decoder[d].cross.keys_values, memory, rows, projected);
    if (member.id == 0) {
      const float* from = projected;
      for (int i = 0; i < n; i++) {
        Sentence& sentence = *sentences[i];
        sentence.memory.resize(model.shape.n_decoder_layers);
        sentence.memory[d].resize(sentence.src.size() * width);
        worker.gather_memory(from, static_cast<int>(sentence.src.size()), sentence.memory[d].data());
        from += sentence.src.size() * width;
      }
    }
    member.wait();
  }
}

void advance(const Model& model, const Member& member, Shared& shared, Scratch& scratch, const Row* rows, int n,
             CrossRecord* record) {
  make_room(model, member, shared, n, n);
  Worker worker{model, member, shared, scratch};
  const Widths& w = model.widths;

  float* stream = scratch.stream.get(static_cast<size_t>(n) * w.model);
  for (int r = 0; r < n; r++)
    worker.embed(model.tgt_embedding, rows[r].token, model.tgt_position(rows[r].position), stream + static_cast<size_t>(r) * w.model);
  for (int d = 0; d < model.shape.n_decoder_layers; d++) {
    const DecoderLayer& layer = model.decoder[d];
    worker.read_what_is_written(layer, d, stream, rows, n);
    worker.read_source(layer, d, stream, rows, n, record && record->layer == d ? record : nullptr);
    worker.feed_forward(layer.up, layer.down, stream, n, layer.feed_forward_norm);
  }
  const float* hidden = model.shape.pre_norm ? worker.normalized(stream, nullptr, n, model.decoder_norm, scratch.normed) : stream;

  float* logits = shared.logits.get(0);
  for (int r = 0; r < n;) {  // rows with the same output matrix together
    const Shortlist* shortlist = rows[r].sentence->shortlist.get();
    int end = r + 1;
    while (end < n && rows[end].sentence->shortlist.get() == shortlist) end++;
    const Panels& output = shortlist ? shortlist->panels : model.output;
    worker.multiply_share(output, hidden + static_cast<size_t>(r) * w.model, end - r, logits + static_cast<size_t>(r) * w.logits,
                          w.logits);
    r = end;
  }
  member.wait();
}

namespace {

constexpr int kFew = 64;  // up to so many are found by insertion while the logits are read

float top_of_many(const Kernels& kernels, const float* logits, int end, int k, const Best& best) {
  const float log_total = kernels.top(logits, kControls, end, 1, best.ids, best.log_probs);
  std::vector<int32_t> order(end - kControls);
  std::iota(order.begin(), order.end(), kControls);
  const int found = std::min<int>(k, static_cast<int>(order.size()));
  std::partial_sort(order.begin(), order.begin() + found, order.end(),
                    [&](int32_t a, int32_t b) { return logits[a] != logits[b] ? logits[a] > logits[b] : a < b; });
  for (int i = 0; i < k; i++) {
    best.ids[i] = i < found ? order[i] : -1;
    best.log_probs[i] = i < found ? logits[order[i]] : -INFINITY;
  }
  return log_total;
}

}  // namespace

void best_tokens(const Model& model, const Sentence& sentence, const float* logits, int k, Best best) {
  const Shortlist* shortlist = sentence.shortlist.get();
  const int end = shortlist ? static_cast<int>(shortlist->ids.size()) : model.shape.tgt_vocab;
  const float log_total = k <= kFew ? model.kernels.top(logits, kControls, end, k, best.ids, best.log_probs)
                                    : top_of_many(model.kernels, logits, end, k, best);
  model.kernels.log_softmax(best.log_probs, k, log_total, best.log_probs);
  model.kernels.log_softmax(logits + kEos, 1, log_total, best.eos);
  if (shortlist)
    for (int i = 0; i < k; i++)
      if (best.ids[i] >= 0) best.ids[i] = shortlist->ids[best.ids[i]];
}

void all_tokens(const Model& model, const Sentence& sentence, const float* logits, float* log_probs) {
  const Shortlist* shortlist = sentence.shortlist.get();
  const int end = shortlist ? static_cast<int>(shortlist->ids.size()) : model.shape.tgt_vocab;
  int32_t id;
  float value;
  const float log_total = model.kernels.top(logits, kControls, end, 1, &id, &value);
  if (!shortlist) {
    model.kernels.log_softmax(logits, end, log_total, log_probs);
    return;
  }
  std::fill(log_probs, log_probs + model.shape.tgt_vocab, -INFINITY);
  for (int i = 0; i < end; i++) model.kernels.log_softmax(logits + i, 1, log_total, log_probs + shortlist->ids[i]);
}

std::unique_ptr<Shortlist> take_shortlist(const Model& model, const int32_t* ids, int n) {
  auto made = std::make_unique<Shortlist>();
  made->ids.assign(ids, ids + n);
  const int columns = model.kernels.columns, unit = model.is_int8 ? 4 : 1;  // inputs that lie side by side
  const Panels& from = model.output;
  Panels& to = made->panels;
  to.inner = from.inner;
  to.n_panels = (n + columns - 1) / columns;
  const size_t outputs = static_cast<size_t>(to.n_panels) * columns;
  const size_t one = model.is_int8 ? sizeof(int8_t) : sizeof(float);
  made->block.assign(outputs * (to.inner * one + sizeof(float) * 2 + sizeof(int32_t)), 0);
  char* weights = made->block.data();
  float* bias = reinterpret_cast<float*>(weights + outputs * to.inner * one);
  float* scale = bias + outputs;
  int32_t* offset = reinterpret_cast<int32_t*>(scale + outputs);
  const char* source = model.is_int8 ? reinterpret_cast<const char*>(from.bytes) : reinterpret_cast<const char*>(from.weights);
  const size_t panel = static_cast<size_t>(to.inner) * columns * one, step = columns * unit * one, item = unit * one;
  for (size_t i = 0; i < outputs; i++) {
    bias[i] = -1e30f;  // a column that only pads
    if (i >= made->ids.size()) continue;
    const int column = made->ids[i];
    const char* a = source + column / columns * panel + column % columns * item;
    char* b = weights + i / columns * panel + i % columns * item;
    for (int k = 0; k < to.inner / unit; k++) std::memcpy(b + k * step, a + k * step, item);
    bias[i] = from.bias[column];
    if (model.is_int8) scale[i] = from.scale[column], offset[i] = from.offset[column];
  }
  to.bias = bias, to.scale = scale, to.offset = offset;
  if (model.is_int8) to.bytes = reinterpret_cast<const int8_t*>(weights);
  else to.weights = reinterpret_cast<const float*>(weights);
  return made;
}

}  // namespace transduce
