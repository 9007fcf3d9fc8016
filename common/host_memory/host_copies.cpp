// The call on host memory where the device has memory of its own.
#include <algorithm>
#include <limits>
#include <mutex>
#include <semaphore>

#include "host_memory/host_call.h"
#include "host_memory/pool.h"

namespace duogemm {
namespace {

// Enough for one to pack, one to be copied and one to compute; each has memory of its own on the device.
constexpr std::ptrdiff_t most_streams = 4;

// Without a limit some is left for others, and for the programs. A device that does not tell has what it
// takes.
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
    const Turns::Taken taken(turns_, alone ? most_streams : 1);
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
      stream->multiply(problem, plan, operands, share(), progress);
    }
    streams_.give_back(std::move(stream));
  }

 private:
  // Each may have this when there are several at once.
  std::size_t share() const { return memory_.bytes / most_streams; }

  // Lets this many products run at once, or one that takes all.
  class Turns {
   public:
    class Taken {
     public:
      Taken(Turns& turns, std::ptrdiff_t count) : turns_(turns), count_(count) {
        const std::lock_guard lock(turns_.taking_);  // two that want all must not have half of them each
        for (std::ptrdiff_t i = 0; i < count_; ++i) {
          turns_.free_.acquire();
        }
      }
      ~Taken() { turns_.free_.release(count_); }
      Taken(const Taken&) = delete;
      Taken& operator=(const Taken&) = delete;

     private:
      Turns& turns_;
      const std::ptrdiff_t count_;
    };

   private:
    std::mutex taking_;
    std::counting_semaphore<most_streams> free_{most_streams};
  };

  Runtime& runtime_;
  const DeviceMemory memory_;
  const CopyOptions options_;
  Turns turns_;
  Pool<Stream> streams_;
};

}  // namespace

std::unique_ptr<HostCall> multiply_copies(Runtime& runtime, std::optional<std::size_t> device_memory,
                                          const CopyOptions& options) {
  return std::make_unique<Copies>(runtime, device_memory, options);
}

}  // namespace duogemm
