// The queue of the pieces in which a product's blocks are copied, which its threads share.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <vector>

#include "host_memory/host_call.h"

namespace duogemm {

class CopyQueue {
 public:
  enum class Way { to_device, to_host };
  // Floats `begin` to `end` - 1 of the copy of a window.
  struct Piece {
    Way way;
    std::size_t number;  // of the upload or the download
    std::int64_t begin;
    std::int64_t end;
  };

  // piece_floats: the most floats of a piece. `plan` must outlive this.
  CopyQueue(const StreamPlan& plan, std::int64_t piece_floats) : plan_(plan), piece_floats_(piece_floats) {
    for (const Upload& upload : plan.uploads) {
      uploads_.copies.push_back({upload.window.floats(), upload.window.floats()});
    }
    for (const Download& download : plan.downloads) {
      downloads_.copies.push_back({download.window.floats(), download.window.floats()});
    }
  }

  // The next piece whose turn has come, waiting for one; nothing when there is no more, or an end was put to
  // it. Where both ways have one, that of the preferred way.
  std::optional<Piece> take(Way preferred) {
    const Way other = preferred == Way::to_device ? Way::to_host : Way::to_device;
    std::unique_lock lock(mutex_);
    for (;;) {
      if (stopped_) {
        return std::nullopt;
      }
      for (const Way way : {preferred, other}) {
        if (const std::optional<std::size_t> number = find_turn(way)) {
          return cut(way, *number);
        }
      }
      if (uploads_.empty() && downloads_.empty()) {
        return std::nullopt;
      }
      changed_.wait(lock);
    }
  }

  void copied(const Piece& piece) {
    const std::lock_guard lock(mutex_);
    copied_floats_ += piece.end - piece.begin;
    Copy& copy = line(piece.way).copies[piece.number];
    copy.left -= piece.end - piece.begin;
    if (!copy.done()) {
      return;
    }
    downloads_done_ += piece.way == Way::to_host;
    while (uploads_done_ < uploads_.copies.size() && uploads_.copies[uploads_done_].done()) {
      ++uploads_done_;
    }
    changed_.notify_all();
  }

  void multiplied() {
    const std::lock_guard lock(mutex_);
    ++steps_done_;
    changed_.notify_all();
  }

  // Whoever waits will throw the reason, if there is one.
  void stop(std::exception_ptr reason = nullptr) noexcept {
    const std::lock_guard lock(mutex_);
    if (!failure_) {
      failure_ = std::move(reason);
    }
    stopped_ = true;
    changed_.notify_all();
  }

  // The thread that multiplies waits by these.
  bool may_start(std::size_t step) {
    const std::lock_guard lock(mutex_);
    return step_has_all(step);
  }
  void wait_for_step(std::size_t step) {
    wait_until([&] { return step_has_all(step); });
  }
  // The first answers how many downloads are complete; the second waits until there are more than that.
  std::size_t downloaded() {
    const std::lock_guard lock(mutex_);
    return downloads_done_;
  }
  void wait_for_download(std::size_t after) {
    wait_until([&] { return downloads_done_ > after; });
  }
  std::uint64_t copied_bytes() {
    const std::lock_guard lock(mutex_);
    return sizeof(float) * static_cast<std::uint64_t>(copied_floats_);
  }

 private:
  struct Copy {
    std::int64_t floats;
    std::int64_t left;     // to be copied
    std::int64_t cut = 0;  // into pieces that are taken
    bool done() const { return left == 0; }
  };
  struct Line {
    std::vector<Copy> copies;
    std::size_t next = 0;  // all before it are cut
    bool empty() const { return next == copies.size(); }
  };

  bool is_downloaded(const std::optional<std::size_t>& number) const {
    return !number || downloads_.copies[*number].done();
  }

  bool has_turn(Way way, std::size_t number) const {
    if (way == Way::to_host) {
      return steps_done_ >= plan_.downloads[number].after_steps;
    }
    const Upload& upload = plan_.uploads[number];
    return steps_done_ >= upload.after_steps && is_downloaded(upload.after_download);
  }

  // The first copy whose turn has come. One that waits for its slot holds up none after it: the next blocks
  // of B come while those of A wait for steps.
  std::optional<std::size_t> find_turn(Way way) {
    constexpr std::size_t reach = 256;  // in which to look while others wait
    const Line& line = this->line(way);
    const std::size_t end = std::min(line.copies.size(), line.next + reach);
    for (std::size_t number = line.next; number < end; ++number) {
      if (line.copies[number].cut < line.copies[number].floats && has_turn(way, number)) {
        return number;
      }
    }
    return std::nullopt;
  }

  Piece cut(Way way, std::size_t number) {
    Line& line = this->line(way);
    Copy& copy = line.copies[number];
    const Piece piece{way, number, copy.cut, std::min(copy.cut + piece_floats_, copy.floats)};
    copy.cut = piece.end;
    while (!line.empty() && line.copies[line.next].cut == line.copies[line.next].floats) {
      ++line.next;
    }
    return piece;
  }

  bool step_has_all(std::size_t step) const {
    const StreamStep& wanted = plan_.steps[step];
    return uploads_done_ >= wanted.uploads && is_downloaded(wanted.after_download);
  }

  template <typename Condition>
  void wait_until(const Condition& condition) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return failure_ || condition(); });
    if (failure_) {
      std::rethrow_exception(failure_);
    }
  }

  Line& line(Way way) { return way == Way::to_device ? uploads_ : downloads_; }

  const StreamPlan& plan_;
  const std::int64_t piece_floats_;
  std::mutex mutex_;  // of all that follows
  std::condition_variable changed_;
  Line uploads_, downloads_;
  std::size_t uploads_done_ = 0;  // all before this number are
  std::size_t downloads_done_ = 0;
  std::size_t steps_done_ = 0;
  std::int64_t copied_floats_ = 0;
  bool stopped_ = false;
  std::exception_ptr failure_;
};

}  // namespace duogemm
