#include "entry.h"

#include <numeric>
#include <string>

#include "system/log.h"

namespace duogemm::cublas {
namespace {

std::atomic<const Entry*> last = nullptr;

// Each Reason has one.
constexpr std::array<const char*, reasons> texts = {"other types than FP32",
                                                    "TF32, pedantic or emulated arithmetic",
                                                    "vectors of alpha or beta",
                                                    "an epilogue other than a bias, RELU and GELU",
                                                    "matrices stored in an order that duogemm does not take",
                                                    "nothing to compute or arguments not allowed",
                                                    "not possible"};

[[gnu::destructor]] void log_all() {
  for (const Entry* entry = last; entry != nullptr; entry = entry->before()) {
    entry->log();
  }
}

}  // namespace

// For the drop-in BLAS library, which tells when a program has called neither.
extern "C" bool duogemm_cublas_reached() {
  for (const Entry* entry = last; entry != nullptr; entry = entry->before()) {
    if (entry->calls() != 0) {
      return true;
    }
  }
  return false;
}

thread_local int calls_in_cublas = 0;

Entry::Entry(NextLibrary& library, const char* name) : library_(library), name_(name), before_(last) {
  while (!last.compare_exchange_weak(before_, this)) {
  }
}

std::uint64_t Entry::Counts::all() const {
  return std::accumulate(passed_on.begin(), passed_on.end(), served.load());
}

std::uint64_t Entry::calls() const { return counts_[0].all() + counts_[1].all(); }

void Entry::log() const {
  for (const Counts& counts : counts_) {
    const std::uint64_t all = counts.all();
    if (all == 0) {
      continue;
    }
    std::string why;
    for (std::size_t reason = 0; reason < texts.size(); ++reason) {
      if (const std::uint64_t count = counts.passed_on[reason]) {
        why += (why.empty() ? " (" : "; ") + std::to_string(count) + ": " + texts[reason];
      }
    }
    const std::string captured = &counts == &counts_[1] ? " in captures" : "";
    log_line(name_ + captured + ": " + std::to_string(counts.served) + " served, " +
             std::to_string(all - counts.served) + " passed on" + (why.empty() ? "" : why + ")"));
  }
}

void* Entry::next() {
  void* function = next_.load(std::memory_order_acquire);
  if (function == nullptr) {
    function = library_.find(name_);
    if (function == nullptr) {
      warn_line(std::string(name_) + " cannot be passed on: no cuBLAS was found");
    }
    next_.store(function, std::memory_order_release);
  }
  return function;
}

}  // namespace duogemm::cublas
