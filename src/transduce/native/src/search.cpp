#include "search.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

namespace transduce {

// The open hypotheses of one sentence, all equally long, the best first.
struct Search::Beam {
  struct Hypothesis {
    std::vector<int32_t> ids;    // BOS first
    std::vector<int32_t> slots;  // where the positions of `ids` lie in the cache
    double log_prob;
  };

  int32_t number;  // of the sentence
  int32_t min_tokens, max_tokens;
  Sentence sentence;
  std::vector<Hypothesis> open;
  double worst_kept = -INFINITY;  // score of the n_best-th finished hypothesis
};

// The threads that compute the same rows, and what they share.
struct Search::Team {
  explicit Team(int members) : crew(members), alone(1), scratch(members) {}

  Crew crew;
  Crew alone;        // takes over when the crew's threads only wait for each other
  int bad_steps = 0; // in a row
  bool is_alone = false;
  Shared shared;
  std::vector<Scratch> scratch;
  std::vector<std::unique_ptr<Beam>> beams;
  std::vector<Sentence*> entering;
  std::vector<Row> rows;
  std::vector<int32_t> ids;  // [rows][k]
  std::vector<float> log_probs, eos;
  std::vector<std::vector<int32_t>*> slots;
};

namespace {

constexpr size_t kEncodedTogether = 512;  // tokens that enter in one step; one longer sentence enters alone
constexpr int kStalls = 2;                // long waits that make a step a bad one
constexpr int kBadSteps = 3;              // in a row, before a crew gives up
constexpr int kSearchesAlone = 50;        // after that, before crews are tried again

struct Candidate {
  double log_prob;
  int32_t order;  // by parent, then EOS, then the better token: decides between equals
  int32_t parent;
  int32_t id;
};

bool before(const Candidate& a, const Candidate& b) { return a.log_prob != b.log_prob ? a.log_prob > b.log_prob : a.order < b.order; }

}  // namespace

Search::Search(const Model& model, std::vector<SourceView> sources, SearchSettings settings)
    : model_(model),
      sources_(std::move(sources)),
      settings_(std::move(settings)),
      k_(std::min(settings_.beam_size, model.shape.tgt_vocab - kControls)),
      order_(sources_.size()),
      results_(sources_.size()) {
  std::iota(order_.begin(), order_.end(), 0);
  std::stable_sort(order_.begin(), order_.end(), [&](int32_t a, int32_t b) { return sources_[a].length > sources_[b].length; });

  const int n_teams = static_cast<int>(std::min<size_t>(settings_.n_threads, sources_.size()));
  if (model_.searches_alone.load() > 0 && n_teams < settings_.n_threads) {
    model_.searches_alone.fetch_sub(1);
    settings_.n_threads = n_teams;
  }
  for (int t = 0; t < n_teams; t++) {
    const int members = settings_.n_threads / n_teams + (t < settings_.n_threads % n_teams);
    teams_.push_back(std::make_unique<Team>(members));
    running_ += members;
  }
  try {
    for (auto& team : teams_)
      for (int member = 0; member < team->crew.size; member++)
        threads_.emplace_back([this, &team = *team, member] {
          if (gate_.wait()) work(team, member);
        });
  } catch (...) {  // the machine gives no more threads
    gate_.cancel();
    for (std::thread& thread : threads_) thread.join();
    throw;
  }
  gate_.open();
}

Search::~Search() {
  stop_ = true;
  for (std::thread& thread : threads_) thread.join();
}

bool Search::wait_for(int milliseconds) {
  std::unique_lock<std::mutex> lock(mutex_);
  const bool done = done_.wait_for(lock, std::chrono::milliseconds(milliseconds), [&] { return running_ == 0; });
  if (done && error_) std::rethrow_exception(error_);
  return done;
}

void Search::fail(std::exception_ptr error) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!error_) error_ = error;
  stop_ = true;
}

// A thread from its start to its end. Whoever fails says so to the others of its team, who may be waiting for it.
void Search::work(Team& team, int id) {
  const Member member{team.crew, id};
  try {
    while (step(team, member)) {
    }
    // Results do not depend on how many threads there are, so this can happen between any two steps.
    if (team.is_alone && id == 0)
      while (step(team, Member{team.alone, 0})) {
      }
  } catch (const Aborted&) {
  } catch (...) {
    fail(std::current_exception());
    team.crew.barrier.abort();
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (--running_ == 0) done_.notify_all();
}

// One step of all sentences of a team. Only member 0 does bookkeeping, between barriers. False: there is nothing left.
bool Search::step(Team& team, const Member& member) {
  Scratch& scratch = team.scratch[member.id];
  const auto dissolved = [&] { return team.is_alone && member.crew.size > 1; };
  if (member.id == 0 && !dissolved()) refill(team);
  member.wait();
  if (dissolved() || team.beams.empty()) return false;
  if (!team.entering.empty())
    encode(model_, member, team.shared, scratch, team.entering.data(), static_cast<int>(team.entering.size()));
  if (member.id == 0) make_rows(team);
  member.wait();
  const int n = static_cast<int>(team.rows.size());
  for (int first = 0; first < n; first += settings_.rows) {
    const int count = std::min(n - first, settings_.rows);
    advance(model_, member, team.shared, scratch, team.rows.data() + first, count);
    for (int r = member.begin(count); r < member.end(count); r++) {
      const size_t row = first + r;
      best_tokens(model_, *team.rows[row].sentence, team.shared.logits.get(0) + static_cast<size_t>(r) * model_.widths.logits, k_,
                  {team.ids.data() + row * k_, team.log_probs.data() + row * k_, team.eos.data() + row});
    }
    member.wait();
  }
  if (member.id == 0) {
    keep_best(team);
    if (member.crew.size > 1) watch_stalls(team);
  }
  return true;  // the others see what has changed behind the barrier at the start of the next step
}

// Threads of one sentence meet at barriers. On a busy machine one of them is often not running, and all wait for it: then one
// thread alone is faster.
void Search::watch_stalls(Team& team) {
  team.bad_steps = team.crew.barrier.take_stalls() >= kStalls ? team.bad_steps + 1 : 0;
  if (team.bad_steps < kBadSteps) return;
  team.is_alone = true;
  model_.searches_alone.store(kSearchesAlone);
}

// Let waiting sentences in when a quarter of the places is free, but only what is encoded together: the next ones, almost as
// long, go to other teams. With all at once, one team would get the longest and the others would wait for it in the end.
void Search::refill(Team& team) {
  team.entering.clear();
  const size_t places = std::max(1, settings_.rows / settings_.beam_size), used = team.beams.size();
  if (stop_) {
    team.beams.clear();
    return;
  }
  if (used > places - places / 4) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  const size_t waiting = order_.size() - next_, fair = (waiting + teams_.size() - 1) / teams_.size();
  size_t tokens = 0;
  for (size_t i = std::min(places - used, fair); i > 0; i--, next_++) {
    const int32_t number = order_[next_];
    const SourceView& source = sources_[number];
    tokens += source.length + 1;
    if (tokens > kEncodedTogether && !team.entering.empty()) break;
    auto beam = std::make_unique<Beam>();
    beam->number = number;
    beam->min_tokens = source.min_tokens, beam->max_tokens = source.max_tokens;
    beam->sentence.src.assign(source.ids, source.ids + source.length);
    beam->sentence.src.push_back(kEos);
    if (source.shortlist) beam->sentence.shortlist = take_shortlist(model_, source.shortlist, source.n_shortlist);
    beam->open.push_back({{kBos}, {}, 0.0});
    team.entering.push_back(&beam->sentence);
    team.beams.push_back(std::move(beam));
  }
}

void Search::make_rows(Team& team) {
  team.rows.clear();
  for (auto& beam : team.beams) {
    // A translation is about as long as its source, and few hypotheses differ over more than some tokens.
    beam->sentence.reserve(model_, static_cast<int>(beam->sentence.src.size()) + 8 + settings_.beam_size * 3);
    team.slots.clear();
    for (Beam::Hypothesis& h : beam->open) team.slots.push_back(&h.slots);
    beam->sentence.take_slots(model_, team.slots);
    for (Beam::Hypothesis& h : beam->open)
      team.rows.push_back({&beam->sentence, h.ids.back(), static_cast<int>(h.ids.size()) - 1, h.slots.data()});
  }
  const size_t n = team.rows.size();
  team.ids.resize(n * k_), team.log_probs.resize(n * k_), team.eos.resize(n);
}

void Search::keep_best(Team& team) {
  size_t row = 0;
  for (auto& beam : team.beams) {
    const size_t n = beam->open.size();
    extend(*beam, team.ids.data() + row * k_, team.log_probs.data() + row * k_, team.eos.data() + row);
    row += n;
  }
  team.beams.erase(std::remove_if(team.beams.begin(), team.beams.end(), [](const auto& beam) { return beam->open.empty(); }),
                   team.beams.end());
}

// One step of one sentence: of all continuations the best beam_size stay; those that end are finished, the others open.
void Search::extend(Beam& beam, const int32_t* ids, const float* log_probs, const float* eos) {
  const int n_tokens = static_cast<int>(beam.open.front().ids.size()) - 1;
  std::vector<Candidate> candidates;
  candidates.reserve(beam.open.size() * (1 + k_));
  const auto offer = [&](float log_prob, int parent, int column, int32_t id) {
    if (!(log_prob <= 0.0f)) throw std::domain_error(std::to_string(log_prob));
    if (log_prob == -INFINITY) return;  // a shortlist has fewer tokens than the beam asks for
    candidates.push_back({beam.open[parent].log_prob + static_cast<double>(log_prob), parent * (1 + k_) + column, parent, id});
  };
  for (int parent = 0; parent < static_cast<int>(beam.open.size()); parent++) {
    if (n_tokens >= beam.min_tokens) offer(eos[parent], parent, 0, kEos);
    if (n_tokens < beam.max_tokens)
      for (int i = 0; i < k_; i++) offer(log_probs[parent * k_ + i], parent, 1 + i, ids[parent * k_ + i]);
  }
  const size_t kept = std::min<size_t>(settings_.beam_size, candidates.size());
  std::partial_sort(candidates.begin(), candidates.begin() + kept, candidates.end(), before);

  std::vector<Beam::Hypothesis> open;
  std::vector<Finished>& results = results_[beam.number];
  const double penalty = settings_.penalties[n_tokens + 1], worst_before = beam.worst_kept;
  for (size_t i = 0; i < kept; i++) {
    const Candidate& c = candidates[i];
    const Beam::Hypothesis& parent = beam.open[c.parent];
    if (c.id != kEos) {
      open.push_back({parent.ids, parent.slots, c.log_prob});
      open.back().ids.push_back(c.id);
      continue;
    }
    const double score = c.log_prob / penalty;
    if (!(score > worst_before)) continue;
    Finished finished{{parent.ids.begin() + 1, parent.ids.end()}, c.log_prob, score};
    const auto place = std::upper_bound(results.begin(), results.end(), score, [](double s, const Finished& f) { return s > f.score; });
    results.insert(place, std::move(finished));  // behind its equals: they finished first
    if (static_cast<int>(results.size()) > settings_.n_best) results.pop_back();
    if (static_cast<int>(results.size()) == settings_.n_best) beam.worst_kept = results.back().score;
  }
  // Log-probabilities only fall and the penalty is largest at the limit: nothing open can score more than this.
  if (!open.empty() && !(beam.worst_kept < open.front().log_prob / settings_.penalties[beam.max_tokens + 1])) open.clear();
  beam.open = std::move(open);
}

}  // namespace transduce
