#include "host_memory/stream.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <system_error>
#include <thread>

#include "host_memory/copy_queue.h"

namespace duogemm {
namespace {

std::size_t threads_for(const CopyOptions& options, const StreamPlan& plan) {
  if (plan.copied_bytes() < options.bytes_for_threads) {
    return 0;
  }
  // One core copies 5 to 10 GB/s, a bus takes 50 at most, and a spare core multiplies.
  return options.threads > 0 ? options.threads
                             : std::clamp<std::size_t>(std::thread::hardware_concurrency() / 2, 1, 8);
}

}  // namespace

// A queue with staging memory: what one thread copies with.
class Stream::Carrier {
 public:
  Carrier(Device& device, std::int64_t floats)
      : staging_(device.allocate_staging(sizeof(float) * static_cast<std::size_t>(floats))),
        queue_(device.create_queue()) {}
  ~Carrier() { queue_->finish_whatever_happens(); }
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;

  // A piece of a window, to where it belongs in `to` from float `at` on.
  void upload(const HostMatrices<const float>& from, const Window& window, const CopyQueue::Piece& piece,
              const Buffer& to, std::int64_t at) {
    each_piece(from, window, piece.begin, piece.end,
               [&](std::int64_t place, const float* part, std::size_t length) {
                 std::memcpy(floats() + place, part, sizeof(float) * length);
               });
    queue_->start_write(to, bytes(at + piece.begin), floats(), bytes(piece.end - piece.begin));
    queue_->finish();
  }

  // changed: set before the first element is.
  void download(const Buffer& from, std::int64_t at, const HostMatrices<float>& to, const Window& window,
                const CopyQueue::Piece& piece, std::atomic<bool>& changed) {
    queue_->start_read(from, bytes(at + piece.begin), floats(), bytes(piece.end - piece.begin));
    queue_->finish();
    changed = true;
    each_piece(to, window, piece.begin, piece.end, [&](std::int64_t place, float* part, std::size_t length) {
      std::memcpy(part, floats() + place, sizeof(float) * length);
    });
  }

 private:
  static std::size_t bytes(std::int64_t count) { return sizeof(float) * static_cast<std::size_t>(count); }
  float* floats() { return reinterpret_cast<float*>(staging_.get()); }

  Staging staging_;
  std::unique_ptr<Queue> queue_;
};

class Stream::Product {
 public:
  Product(Stream& stream, const Problem& p, const StreamPlan& plan, const HostOperands& operands,
          const ProgressListener& progress)
      : stream_(stream),
        plan_(plan),
        progress_(progress),
        a_(p.lda, operands.a, p.a_stride, operands.a_list),
        b_(p.ldb, operands.b, p.b_stride, operands.b_list),
        old_c_(p.ldc, operands.c, p.c_stride, operands.c_list),
        c_(p.ldc, operands.c, p.c_stride, operands.c_list),
        copies_(plan, stream.options_.piece_floats) {}

  // Once a part of C has changed, whatever fails is a device_error (see Status).
  void run(std::size_t threads) {
    try {
      copy_and_multiply(threads);
    } catch (const Error& error) {
      throw Error(c_changed_ ? Status::device_error : error.status(), error.what());
    }
  }

 private:
  void copy_and_multiply(std::size_t threads) {
    alone_ = threads == 0;
    stream_.carrier(threads == 0 ? 0 : threads - 1);
    std::vector<std::jthread> copying;
    try {
      start(copying, threads);
      multiply_all();
    } catch (...) {
      copies_.stop();  // or the threads would be waited for in vain
      throw;
    }
  }

  void start(std::vector<std::jthread>& copying, std::size_t threads) {
    try {
      for (std::size_t i = 0; i < threads; ++i) {
        copying.emplace_back([this, i] { copy(*stream_.carriers_[i], i); });
      }
    } catch (const std::system_error& error) {
      throw Error(Status::out_of_memory, std::string("a thread cannot be started: ") + error.what());
    }
  }

  void multiply_all() {
    for (std::size_t step = 0; step < plan_.steps.size(); ++step) {
      multiply(step);
      report(step + 1, copies_.downloaded());
    }
    for (std::size_t done = copies_.downloaded(); done < plan_.downloads.size();) {
      wait_for_download(done);
      done = copies_.downloaded();
      report(plan_.steps.size(), done);
    }
    if (reported_ < 1.0) {
      report(plan_.steps.size(), plan_.downloads.size());
    }
  }

  // Each thread does this. Some prefer one way and some the other, so that both are in use whenever they can
  // be.
  void copy(Carrier& carrier, std::size_t number) noexcept {
    try {
      const CopyQueue::Way preferred = number % 2 == 0 ? CopyQueue::Way::to_device : CopyQueue::Way::to_host;
      while (const std::optional<CopyQueue::Piece> piece = copies_.take(preferred)) {
        copy(carrier, *piece);
      }
    } catch (...) {
      copies_.fail(std::current_exception());
    }
  }

  void copy(Carrier& carrier, const CopyQueue::Piece& piece) {
    if (piece.way == CopyQueue::Way::to_device) {
      const Upload& upload = plan_.uploads[piece.number];
      const Buffer& to = *stream_.memory_[upload.operand];
      const std::int64_t at = upload.slot * plan_.blocks.slot_floats[upload.operand];
      const HostMatrices<const float>& from = upload.operand == 0 ? a_ : upload.operand == 1 ? b_ : old_c_;
      carrier.upload(from, upload.window, piece, to, at);
    } else {
      const Download& download = plan_.downloads[piece.number];
      carrier.download(*stream_.memory_[2], download.slot * plan_.blocks.slot_floats[2], c_, download.window,
                       piece, c_changed_);
    }
    copies_.copied(piece);
  }

  // Whoever waits for copies makes them where no other thread copies.
  void copy_one() {
    if (const std::optional<CopyQueue::Piece> piece = copies_.take(CopyQueue::Way::to_device)) {
      copy(*stream_.carriers_[0], *piece);
    }
  }

  void wait_for_download(std::size_t done) {
    while (alone_ && copies_.downloaded() == done) {
      copy_one();
    }
    copies_.wait_for_download(done);
  }

  void multiply(std::size_t number) {
    while (alone_ && !copies_.may_start(number)) {
      copy_one();
    }
    copies_.wait_for_step(number);
    const StreamStep& step = plan_.steps[number];
    const auto place = [&](std::size_t operand) {
      return MatrixPlace{stream_.memory_[operand].get(),
                         step.slots[operand] * plan_.blocks.slot_floats[operand]};
    };
    const Buffer* const workspace = stream_.memory_[Stream::workspace].get();
    stream_.runtime_.enqueue(plan_.problems[step.problem], *stream_.queue_, {{place(0), place(1), place(2)}},
                             LentWorkspace{workspace, 0, workspace == nullptr ? 0 : workspace->bytes()});
    stream_.queue_->finish();
    copies_.multiplied();
  }

  void report(std::size_t steps, std::size_t downloads) {
    const std::size_t all = plan_.steps.size() + plan_.downloads.size();
    reported_ = static_cast<double>(steps + downloads) / static_cast<double>(all);
    if (progress_) {
      progress_({reported_, copies_.copied_bytes()});
    }
  }

  Stream& stream_;
  const StreamPlan& plan_;
  const ProgressListener& progress_;
  const HostMatrices<const float> a_, b_, old_c_;
  const HostMatrices<float> c_;
  CopyQueue copies_;
  std::atomic<bool> c_changed_ = false;
  bool alone_ = true;
  double reported_ = 0.0;
};

Stream::Stream(Runtime& runtime, const CopyOptions& options)
    : runtime_(runtime), options_(options), queue_(runtime.device().create_queue()) {}

Stream::~Stream() { queue_->finish_whatever_happens(); }

void Stream::multiply(const Problem& problem, const StreamPlan& plan, const HostOperands& operands,
                      std::size_t most_kept, const ProgressListener& progress) {
  reserve(plan.blocks, most_kept);
  Product(*this, problem, plan, operands, progress).run(threads_for(options_, plan));
  if (kept() > most_kept) {
    memory_ = {};
  }
}

std::size_t Stream::kept() const {
  std::size_t bytes = 0;
  for (const auto& buffer : memory_) {
    bytes += buffer ? buffer->bytes() : 0;
  }
  return bytes;
}

void Stream::reserve(const Blocks& blocks, std::size_t most_kept) {
  const std::array<std::size_t, 4> needed = {blocks.bytes(0), blocks.bytes(1), blocks.bytes(2),
                                             blocks.workspace_bytes};
  std::size_t together = 0;
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    together += std::max(needed[i], memory_[i] ? memory_[i]->bytes() : 0);
  }
  if (together > most_kept) {
    memory_ = {};
  }
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    reserve(i, needed[i]);
  }
}

// OpenCL may find out that there is no memory when it is first used.
void Stream::reserve(std::size_t which, std::size_t bytes) {
  std::unique_ptr<Buffer>& buffer = memory_[which];
  if (bytes > (buffer ? buffer->bytes() : 0)) {
    buffer.reset();
    buffer = runtime_.device().allocate(bytes);
    const float first = 0.0f;
    queue_->write(*buffer, &first, sizeof first);
  }
}

// All up to this number.
Stream::Carrier& Stream::carrier(std::size_t number) {
  while (carriers_.size() <= number) {
    carriers_.push_back(std::make_unique<Carrier>(runtime_.device(), options_.piece_floats));
  }
  return *carriers_[number];
}

}  // namespace duogemm
