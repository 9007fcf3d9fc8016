// The call on host memory where the device has memory of its own: blocks are copied to the device and back by
// several threads while others are multiplied.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <semaphore>
#include <string>
#include <system_error>
#include <thread>

#include "host_memory/copy_queue.h"
#include "host_memory/host_call.h"

namespace duogemm {
namespace {

std::size_t bytes_of(std::int64_t floats) { return sizeof(float) * static_cast<std::size_t>(floats); }

// An operand with all members of the batch, which are listed or a stride apart.
template <typename Element>
struct HostMatrices {
  std::int64_t ld;
  Element* first;
  std::int64_t stride;
  Element* const* list;
  Element* place(std::int64_t member) const {
    return list != nullptr ? list[member] : first + member * stride;
  }
};

// Floats `begin` to `end` - 1 of a window's copy are whole columns and pieces of columns: visits each with
// its place among them, where it stands with the caller, and its length.
template <typename Element, typename Visit>
void each_piece(const HostMatrices<Element>& matrices, const Window& window, std::int64_t begin,
                std::int64_t end, const Visit& visit) {
  const std::int64_t member_floats = window.rows * window.cols;
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t col = at % member_floats / window.rows;
    const std::int64_t row = at % window.rows;
    const std::int64_t length = std::min(window.rows - row, end - at);
    Element* const member = matrices.place(window.member + at / member_floats);
    visit(at - begin, member + (window.col + col) * matrices.ld + window.row + row,
          static_cast<std::size_t>(length));
    at += length;
  }
}

std::size_t threads_for(const CopyOptions& options, const StreamPlan& plan) {
  if (plan.copied_bytes() < options.bytes_for_threads) {
    return 0;
  }
  // One core copies 5 to 10 GB/s, a bus takes 50 at most, and a spare core multiplies.
  return options.threads > 0 ? options.threads
                             : std::clamp<std::size_t>(std::thread::hardware_concurrency() / 2, 1, 8);
}

// A queue with staging memory: what one thread copies with.
class Carrier {
 public:
  Carrier(Device& device, std::int64_t floats)
      : staging_(device.allocate_staging(bytes_of(floats))), queue_(device.create_queue()) {}
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
    queue_->start_write(to, bytes_of(at + piece.begin), floats(), bytes_of(piece.end - piece.begin));
    queue_->finish();
  }

  // changed: set before the first element is.
  void download(const Buffer& from, std::int64_t at, const HostMatrices<float>& to, const Window& window,
                const CopyQueue::Piece& piece, std::atomic<bool>& changed) {
    queue_->start_read(from, bytes_of(at + piece.begin), floats(), bytes_of(piece.end - piece.begin));
    queue_->finish();
    changed = true;
    each_piece(to, window, piece.begin, piece.end, [&](std::int64_t place, float* part, std::size_t length) {
      std::memcpy(part, floats() + place, sizeof(float) * length);
    });
  }

 private:
  float* floats() { return reinterpret_cast<float*>(staging_.get()); }

  Staging staging_;
  std::unique_ptr<Queue> queue_;
};

// One product at a time needs this: a queue, staging memory, and memory on the device, which grows.
struct Stream {
  Stream(Runtime& of, const CopyOptions& copied)
      : runtime(of), options(copied), queue(of.device().create_queue()) {}
  ~Stream() { queue->finish_whatever_happens(); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  static constexpr std::size_t workspace = 3;  // after A, B and C

  std::size_t kept() const {
    std::size_t bytes = 0;
    for (const auto& buffer : memory) {
      bytes += buffer ? buffer->bytes() : 0;
    }
    return bytes;
  }

  // What is kept, with what was kept before, is at most `most_kept` bytes where that does.
  void reserve(const Blocks& blocks, std::size_t most_kept) {
    const std::array<std::size_t, 4> needed = {blocks.bytes(0), blocks.bytes(1), blocks.bytes(2),
                                               blocks.workspace_bytes};
    std::size_t together = 0;
    for (std::size_t i = 0; i < memory.size(); ++i) {
      together += std::max(needed[i], memory[i] ? memory[i]->bytes() : 0);
    }
    if (together > most_kept) {
      memory = {};
    }
    for (std::size_t i = 0; i < memory.size(); ++i) {
      if (needed[i] > (memory[i] ? memory[i]->bytes() : 0)) {
        memory[i].reset();
        memory[i] = runtime.device().allocate(needed[i]);
        const float first = 0.0f;  // OpenCL may find out that there is no memory when it is first used
        queue->write(*memory[i], &first, sizeof first);
      }
    }
  }

  Runtime& runtime;
  const CopyOptions options;
  std::array<std::unique_ptr<Buffer>, 4> memory;
  std::unique_ptr<Queue> queue;  // of the products
  std::vector<std::unique_ptr<Carrier>> carriers;
};

class Product {
 public:
  Product(Stream& stream, const Problem& p, const StreamPlan& plan, const HostOperands& operands,
          const ProgressListener& progress)
      : stream_(stream),
        plan_(plan),
        progress_(progress),
        a_{p.lda, operands.a, p.a_stride, operands.a_list},
        b_{p.ldb, operands.b, p.b_stride, operands.b_list},
        old_c_{p.ldc, operands.c, p.c_stride, operands.c_list},
        c_{p.ldc, operands.c, p.c_stride, operands.c_list},
        copies_(plan, stream.options.piece_floats) {}

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
    while (stream_.carriers.size() < std::max<std::size_t>(threads, 1)) {
      stream_.carriers.push_back(
          std::make_unique<Carrier>(stream_.runtime.device(), stream_.options.piece_floats));
    }
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
        copying.emplace_back([this, i] { copy(*stream_.carriers[i], i); });
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

  // Each thread does this. Some prefer one way and some the other, so that both are in use.
  void copy(Carrier& carrier, std::size_t number) noexcept {
    try {
      const CopyQueue::Way preferred = number % 2 == 0 ? CopyQueue::Way::to_device : CopyQueue::Way::to_host;
      while (const std::optional<CopyQueue::Piece> piece = copies_.take(preferred)) {
        copy(carrier, *piece);
      }
    } catch (...) {
      copies_.stop(std::current_exception());
    }
  }

  void copy(Carrier& carrier, const CopyQueue::Piece& piece) {
    if (piece.way == CopyQueue::Way::to_device) {
      const Upload& upload = plan_.uploads[piece.number];
      const Buffer& to = *stream_.memory[upload.operand];
      const std::int64_t at = upload.slot * plan_.blocks.slot_floats[upload.operand];
      const HostMatrices<const float>& from = upload.operand == 0 ? a_ : upload.operand == 1 ? b_ : old_c_;
      carrier.upload(from, upload.window, piece, to, at);
    } else {
      const Download& download = plan_.downloads[piece.number];
      carrier.download(*stream_.memory[2], download.slot * plan_.blocks.slot_floats[2], c_, download.window,
                       piece, c_changed_);
    }
    copies_.copied(piece);
  }

  // Whoever waits for copies makes them where no other thread copies.
  void copy_one() {
    if (const std::optional<CopyQueue::Piece> piece = copies_.take(CopyQueue::Way::to_device)) {
      copy(*stream_.carriers[0], *piece);
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
      return MatrixPlace{stream_.memory[operand].get(),
                         step.slots[operand] * plan_.blocks.slot_floats[operand]};
    };
    const Buffer* const workspace = stream_.memory[Stream::workspace].get();
    stream_.runtime.enqueue(plan_.problems[step.problem], *stream_.queue, {{place(0), place(1), place(2)}},
                            LentWorkspace{workspace, 0, workspace == nullptr ? 0 : workspace->bytes()});
    stream_.queue->finish();
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

// Enough for one to pack, one to be copied and one to compute; each has memory of its own on the device.
constexpr std::ptrdiff_t most_streams = 4;

// Without a limit some is left for others, and for programs. A device that does not tell has enough.
DeviceMemory memory_for(const DeviceInfo& info, std::optional<std::size_t> limit) {
  constexpr std::size_t unknown = std::numeric_limits<std::int64_t>::max();
  const std::size_t all = info.memory_bytes > 0 ? info.memory_bytes : unknown;
  return {limit ? std::min(*limit, all) : all / 8 * 7,
          info.max_allocation_bytes > 0 ? info.max_allocation_bytes : unknown};
}

class Copies final : public HostCall {
 public:
  Copies(Runtime& runtime, std::optional<std::size_t> limit, const CopyOptions& options)
      : runtime_(runtime), memory_(memory_for(runtime.device().info(), limit)), options_(options) {}

  void multiply(const Problem& problem, const HostOperands& operands,
                const ProgressListener& progress) override {
    const WorkspaceBytes prepare = [&](const Problem& product) { return runtime_.prepare(product); };
    const StreamPlan plan = plan_stream(problem, choose_blocks(problem, memory_, prepare));
    const bool alone = plan.blocks.bytes() > share();
    const Turns taken(*this, alone ? most_streams : 1);
    std::unique_ptr<Stream> stream = streams_.take();
    while (alone && streams_.take()) {
      // The others give up what they keep on the device.
    }
    if (!stream) {
      stream = std::make_unique<Stream>(runtime_, options_);
    }
    {
      const auto alone_on_device = runtime_.device().exclusive_use();
      runtime_.require_right_results();  // before any block is reserved or copied
      // Until there is memory for all blocks, C is untouched.
      stream->reserve(plan.blocks, share());
      Product(*stream, problem, plan, operands, progress).run(threads_for(options_, plan));
      if (stream->kept() > share()) {
        stream->memory = {};
      }
    }
    streams_.give_back(std::move(stream));
  }

 private:
  // Each may have this when there are several at once.
  std::size_t share() const { return memory_.bytes / most_streams; }

  // Lets some products run at once, or one that takes all turns.
  class Turns {
   public:
    Turns(Copies& copies, std::ptrdiff_t count) : free_(copies.free_), count_(count) {
      const std::lock_guard lock(copies.taking_);  // two that want all must not have half of them each
      for (std::ptrdiff_t i = 0; i < count_; ++i) {
        free_.acquire();
      }
    }
    ~Turns() { free_.release(count_); }
    Turns(const Turns&) = delete;
    Turns& operator=(const Turns&) = delete;

   private:
    std::counting_semaphore<most_streams>& free_;
    const std::ptrdiff_t count_;
  };

  Runtime& runtime_;
  const DeviceMemory memory_;
  const CopyOptions options_;
  std::mutex taking_;
  std::counting_semaphore<most_streams> free_{most_streams};
  Pool<Stream> streams_;
};

}  // namespace

std::unique_ptr<HostCall> multiply_copies(Runtime& runtime, std::optional<std::size_t> device_memory,
                                          const CopyOptions& options) {
  return std::make_unique<Copies>(runtime, device_memory, options);
}

}  // namespace duogemm
