#include "model.h"

#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>

namespace transduce {

namespace {

int padded(int width, int unit) { return (width + unit - 1) / unit * unit; }

constexpr size_t kAlignment = 64;  // a cache line, and the widest vector
constexpr float kNever = -1e30f;   // the logit of a column that only pads the vocabulary

// A weight that is NaN or infinite; the number of its array.
struct NotFinite : std::domain_error {
  explicit NotFinite(int array)
      : std::domain_error("array " + std::to_string(array) + " holds a number that is NaN or infinite") {}
};

}  // namespace

Widths::Widths(const Shape& shape, int columns)
    : model(padded(shape.d_model, columns)),
      inner(padded(shape.d_ff, columns)),
      key(padded(shape.d_k, columns)),
      value(padded(shape.d_v, columns)),
      keys(shape.n_heads * key),
      values(shape.n_heads * value),
      logits(padded(shape.tgt_vocab, columns)) {}

// Walks through a block in one fixed order. Without a block it only counts; with arrays it also fills the block.
struct Model::Binder {
  const Shape& shape;
  const Kernels& kernels;
  Widths widths;
  bool is_int8;
  char* block;                 // may be null: count
  const float* const* arrays;  // may be null: bind only
  size_t used = 0;
  int n_read = 0;

  template <typename T>
  T* take(size_t count) {
    T* at = block ? reinterpret_cast<T*>(block + used) : nullptr;
    used += (count * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
    return at;
  }

  // The next of the weights, of so many numbers; null where nothing is to be filled.
  const float* next_array(size_t count) {
    if (!arrays) return nullptr;
    const float* array = arrays[n_read++];
    for (size_t i = 0; i < count; i++)  // a NaN would become an ordinary number in bytes, and pass unnoticed
      if (!std::isfinite(array[i])) throw NotFinite(n_read - 1);
    return array;
  }

  // A vector of numbers, padded with zeros.
  const float* vector(int width, int padded_width) {
    float* to = take<float>(padded_width);
    const float* from = next_array(width);
    if (from && to) std::memcpy(to, from, sizeof(float) * width);
    return to;
  }

  // A table of rows, each padded with zeros.
  const float* table(int rows, int width, int padded_width) {
    float* to = take<float>(static_cast<size_t>(rows) * padded_width);
    const float* from = next_array(static_cast<size_t>(rows) * width);
    if (from && to)
      for (int r = 0; r < rows; r++)
        std::memcpy(to + static_cast<size_t>(r) * padded_width, from + static_cast<size_t>(r) * width, sizeof(float) * width);
    return to;
  }

  Norm norm() {
    const float* gain = vector(shape.d_model, widths.model);
    return {gain, vector(shape.d_model, widths.model)};
  }

  // Numbers that stand in groups (heads), each group padded: where number i is stored.
  struct Grouped {
    int count, group, padded_group;
    int place(int i) const { return i / group * padded_group + i % group; }
    int padded_count() const { return count / group * padded_group; }
  };

  Panels panels(int inner, int outputs) {
    Panels made;
    made.inner = inner;
    made.n_panels = outputs / kernels.columns;
    const size_t size = static_cast<size_t>(inner) * outputs;
    if (is_int8) {
      made.bytes = take<int8_t>(size);
      made.scale = take<float>(outputs);
      made.offset = take<int32_t>(outputs);
    } else {
      made.weights = take<float>(size);
    }
    made.bias = take<float>(outputs);
    return made;
  }

  // Put the next matrix and its bias into panels, from column `first` on.
  void fill_next(const Panels& to, int first, Grouped out, Grouped in) {
    const float* weights = next_array(static_cast<size_t>(out.count) * in.count);
    fill(to, first, out, in, weights, next_array(out.count));
  }

  // Put a matrix [out.count][in.count] and its bias into panels, from column `first` on.
  void fill(const Panels& to, int first, Grouped out, Grouped in, const float* weights, const float* bias) {
    if (!block || !weights) return;
    for (int i = 0; i < out.count; i++) {
      const int column = first + out.place(i);
      const float* row = weights + static_cast<size_t>(i) * in.count;
      if (bias) const_cast<float*>(to.bias)[column] = bias[i];
      if (is_int8) fill_bytes(to, column, in, row);
      else fill_floats(to, column, in, row);
    }
  }

  void fill_floats(const Panels& to, int column, Grouped in, const float* row) {
    const int columns = kernels.columns;
    float* panel = const_cast<float*>(to.weights) + static_cast<size_t>(column / columns) * to.inner * columns;
    for (int k = 0; k < in.count; k++) panel[static_cast<size_t>(in.place(k)) * columns + column % columns] = row[k];
  }

  void fill_bytes(const Panels& to, int column, Grouped in, const float* row) {
    const int columns = kernels.columns;
    int8_t* panel = const_cast<int8_t*>(to.bytes) + static_cast<size_t>(column / columns) * to.inner * columns;
    float most = 1e-8f;
    for (int k = 0; k < in.count; k++) most = std::max(most, std::fabs(row[k]));
    const float step = most / 63.0f;
    int32_t total = 0;
    for (int k = 0; k < in.count; k++) {
      const int32_t weight = static_cast<int32_t>(std::lrintf(row[k] / step));
      const int place = in.place(k);
      panel[static_cast<size_t>(place / 4) * columns * 4 + column % columns * 4 + place % 4] = static_cast<int8_t>(weight);
      total += weight;
    }
    const_cast<float*>(to.scale)[column] = step;
    const_cast<int32_t*>(to.offset)[column] = total;
  }

  Grouped stream() const { return {shape.d_model, shape.d_model, widths.model}; }
  Grouped feed() const { return {shape.d_ff, shape.d_ff, widths.inner}; }
  Grouped heads_of_keys() const { return {shape.n_heads * shape.d_k, shape.d_k, widths.key}; }
  Grouped heads_of_values() const { return {shape.n_heads * shape.d_v, shape.d_v, widths.value}; }

  Panels linear(Grouped in, Grouped out) {
    const Panels made = panels(in.padded_count(), out.padded_count());
    fill_next(made, 0, out, in);
    return made;
  }

  Attention attention() {
    Attention made;
    made.queries = linear(stream(), heads_of_keys());
    made.keys_values = panels(widths.model, widths.keys + widths.values);
    fill_next(made.keys_values, 0, heads_of_keys(), stream());
    fill_next(made.keys_values, widths.keys, heads_of_values(), stream());
    made.out = linear(heads_of_values(), stream());
    return made;
  }

  void walk(Model* model) {
    Model& m = *model;
    m.src_embedding = table(shape.src_vocab, shape.d_model, widths.model);
    m.tgt_embedding = table(shape.tgt_vocab, shape.d_model, widths.model);
    m.output = panels(widths.model, widths.logits);
    const float* output = next_array(static_cast<size_t>(shape.tgt_vocab) * shape.d_model);
    fill(m.output, 0, {shape.tgt_vocab, shape.tgt_vocab, widths.logits}, stream(), output, nullptr);
    if (block && arrays)
      for (int i = shape.tgt_vocab; i < widths.logits; i++) const_cast<float*>(m.output.bias)[i] = kNever;
    if (shape.n_positions) {
      m.src_positions_ = table(shape.n_positions, shape.d_model, widths.model);
      m.tgt_positions_ = table(shape.n_positions, shape.d_model, widths.model);
    }
    m.encoder.resize(shape.n_encoder_layers);
    for (EncoderLayer& layer : m.encoder) {
      layer.self = attention();
      layer.self_norm = norm();
      layer.up = linear(stream(), feed());
      layer.down = linear(feed(), stream());
      layer.feed_forward_norm = norm();
    }
    m.decoder.resize(shape.n_decoder_layers);
    for (DecoderLayer& layer : m.decoder) {
      layer.self = attention();
      layer.self_norm = norm();
      layer.cross = attention();
      layer.cross_norm = norm();
      layer.up = linear(stream(), feed());
      layer.down = linear(feed(), stream());
      layer.feed_forward_norm = norm();
    }
    if (shape.pre_norm) {
      m.encoder_norm = norm();
      m.decoder_norm = norm();
    }
  }
};

Model::Model(const Shape& its_shape, const Kernels& its_kernels, bool in_int8, const char* block)
    : shape(its_shape),
      kernels(its_kernels),
      widths(its_shape, its_kernels.columns),
      is_int8(in_int8),
      embedding_scale(std::sqrt(static_cast<float>(its_shape.d_model))),
      query_scale(1.0f / std::sqrt(static_cast<float>(its_shape.d_k))) {
  Binder{shape, kernels, widths, is_int8, const_cast<char*>(block), nullptr}.walk(this);  // const: without arrays nothing is written
  if (!shape.n_positions) tables_.reset(new std::atomic<float*>[kTables]());
}

size_t Model::packed_size(const Shape& shape, const Kernels& kernels, bool is_int8) {
  Model model(shape, kernels, is_int8, nullptr);
  Binder binder{model.shape, kernels, model.widths, is_int8, nullptr, nullptr};
  binder.walk(&model);
  return binder.used;
}

void Model::pack(const Shape& shape, const Kernels& kernels, bool is_int8, const float* const* arrays, char* block) {
  Model model(shape, kernels, is_int8, nullptr);
  Binder{model.shape, kernels, model.widths, is_int8, block, arrays}.walk(&model);
}

const float* Model::position_row(const float* learned, int position) const {
  if (learned) {
    if (position >= shape.n_positions)
      throw std::out_of_range("position " + std::to_string(position) + " of a model with " + std::to_string(shape.n_positions) +
                              " learned positions");
    return learned + static_cast<size_t>(position) * widths.model;
  }
  const int number = position / kTable;
  if (number >= kTables) throw std::out_of_range("position " + std::to_string(position) + " is out of reach");
  float* table = tables_[number].load(std::memory_order_acquire);
  if (!table) {
    const std::lock_guard<std::mutex> lock(growing_);
    table = tables_[number].load(std::memory_order_acquire);
    if (!table) {  // PE(pos, 2i) = sin(pos / 10000^(2i / d_model)), PE(pos, 2i + 1) the cosine. Paper: section 3.5.
      owned_.emplace_back(new float[static_cast<size_t>(kTable) * widths.model]());
      table = owned_.back().get();
      for (int i = 0; i < shape.d_model; i += 2) {
        const double divisor = std::pow(10000.0, static_cast<double>(i) / shape.d_model);
        for (int row = 0; row < kTable; row++) {
          const double angle = (number * kTable + row) / divisor;
          table[static_cast<size_t>(row) * widths.model + i] = static_cast<float>(std::sin(angle));
          table[static_cast<size_t>(row) * widths.model + i + 1] = static_cast<float>(std::cos(angle));
        }
      }
      tables_[number].store(table, std::memory_order_release);
    }
  }
  return table + static_cast<size_t>(position % kTable) * widths.model;
}

}  // namespace transduce
