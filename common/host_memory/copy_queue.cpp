#include "host_memory/copy_queue.h"

#include <algorithm>

namespace duogemm {

CopyQueue::CopyQueue(const StreamPlan& plan, std::int64_t piece_floats)
    : plan_(plan), piece_floats_(piece_floats) {
  for (const Upload& upload : plan.uploads) {
    uploads_.copies.push_back({upload.window.floats(), upload.window.floats()});
  }
  for (const Download& download : plan.downloads) {
    downloads_.copies.push_back({download.window.floats(), download.window.floats()});
  }
}

bool CopyQueue::has_turn(Way way, std::size_t number) const {
  if (way == Way::to_host) {
    return steps_done_ >= plan_.downloads[number].after_steps;
  }
  const Upload& upload = plan_.uploads[number];
  return steps_done_ >= upload.after_steps &&
         (!upload.after_download || downloads_.copies[*upload.after_download].done());
}

std::optional<std::size_t> CopyQueue::find_turn(Way way) const {
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

CopyQueue::Piece CopyQueue::cut(Way way, std::size_t number) {
  Line& line = this->line(way);
  Copy& copy = line.copies[number];
  const Piece piece{way, number, copy.cut, std::min(copy.cut + piece_floats_, copy.floats)};
  copy.cut = piece.end;
  while (!line.empty() && line.copies[line.next].cut == line.copies[line.next].floats) {
    ++line.next;
  }
  return piece;
}

std::optional<CopyQueue::Piece> CopyQueue::take(Way preferred) {
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

void CopyQueue::copied(const Piece& piece) {
  const std::lock_guard lock(mutex_);
  copied_floats_ += piece.end - piece.begin;
  Copy& copy = line(piece.way).copies[piece.number];
  copy.left -= piece.end - piece.begin;
  if (!copy.done()) {
    return;
  }
  if (piece.way == Way::to_host) {
    ++downloads_done_;
  }
  while (uploads_done_ < uploads_.copies.size() && uploads_.copies[uploads_done_].done()) {
    ++uploads_done_;
  }
  changed_.notify_all();
}

void CopyQueue::multiplied() {
  const std::lock_guard lock(mutex_);
  ++steps_done_;
  changed_.notify_all();
}

void CopyQueue::stop() noexcept {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

void CopyQueue::fail(std::exception_ptr reason) noexcept {
  const std::lock_guard lock(mutex_);
  if (!failure_) {
    failure_ = std::move(reason);
  }
  stopped_ = true;
  changed_.notify_all();
}

void CopyQueue::throw_failure() const {
  if (failure_) {
    std::rethrow_exception(failure_);
  }
}

bool CopyQueue::step_has_all(std::size_t step) const {
  const StreamStep& wanted = plan_.steps[step];
  return uploads_done_ >= wanted.uploads &&
         (!wanted.after_download || downloads_.copies[*wanted.after_download].done());
}

bool CopyQueue::may_start(std::size_t step) {
  const std::lock_guard lock(mutex_);
  return step_has_all(step);
}

void CopyQueue::wait_for_step(std::size_t step) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return failure_ || step_has_all(step); });
  throw_failure();
}

std::size_t CopyQueue::downloaded() {
  const std::lock_guard lock(mutex_);
  return downloads_done_;
}

void CopyQueue::wait_for_download(std::size_t after) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return failure_ || downloads_done_ > after; });
  throw_failure();
}

std::uint64_t CopyQueue::copied_bytes() {
  const std::lock_guard lock(mutex_);
  return sizeof(float) * static_cast<std::uint64_t>(copied_floats_);
}

}  // namespace duogemm
