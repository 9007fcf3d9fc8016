// The queue of the pieces in which a product's blocks are copied. The threads that copy and the one that
// multiplies share it.
#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <vector>

#include "host_memory/stream_plan.h"

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
  CopyQueue(const StreamPlan& plan, std::int64_t piece_floats);

  // The next piece whose turn has come, waiting for one; nothing when there is no more, or an end was put to
  // it. Where both ways have one, that of the preferred way.
  std::optional<Piece> take(Way preferred);
  void copied(const Piece& piece);
  void multiplied();
  void stop() noexcept;
  // The same, for a reason that whoever waits will throw.
  void fail(std::exception_ptr reason) noexcept;

  // The thread that multiplies waits by these.
  bool may_start(std::size_t step);
  void wait_for_step(std::size_t step);
  // The first answers how many downloads are complete; the second waits until there are more than that.
  std::size_t downloaded();
  void wait_for_download(std::size_t after);
  std::uint64_t copied_bytes();

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

  // The first copy whose turn has come. One that waits for its slot holds up none after it: the next blocks
  // of B come while those of A wait for steps.
  std::optional<std::size_t> find_turn(Way way) const;
  bool has_turn(Way way, std::size_t number) const;
  bool step_has_all(std::size_t step) const;
  Piece cut(Way way, std::size_t number);
  void throw_failure() const;
  Line& line(Way way) { return way == Way::to_device ? uploads_ : downloads_; }
  const Line& line(Way way) const { return way == Way::to_device ? uploads_ : downloads_; }

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
