// Things that one thread at a time uses, made when none is idle and kept for the next.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace duogemm {

template <typename Thing>
class Pool {
 public:
  // An idle thing, or null.
  std::unique_ptr<Thing> take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) {
      return nullptr;
    }
    std::unique_ptr<Thing> thing = std::move(idle_.back());
    idle_.pop_back();
    return thing;
  }

  void give_back(std::unique_ptr<Thing> thing) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(thing));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Thing>> idle_;
};

}  // namespace duogemm
