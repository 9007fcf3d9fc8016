#include "timing/stopwatch.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>

#include "plan/lower.h"
#include "timing/measure.h"

namespace duogemm::bench {
namespace {

constexpr int most_repeats = 50;

}  // namespace

Stopwatch::Stopwatch(Device& device, ProgramCache& programs)
    : device_(device), programs_(programs), queue_(device.create_queue()) {
  measure_device();
}

std::vector<double> Stopwatch::seconds(std::span<const Schedule> schedules, const Problem& problem,
                                       const Effort& effort) {
  // Operands only grow: those of one problem are often those of the next.
  const Extents needed = Extents::of(problem);
  if (!matrices_ || !extents_.hold(needed)) {
    extents_ = larger(extents_, needed);
    matrices_.reset();
    matrices_.emplace(extents_, test_data().c, 1, device_, *queue_);
  }
  const PreparedPlan::Operands operands = matrices_->operands();
  std::deque<SelfContainedPlan> plans;
  std::vector<Contender> contenders;
  for (const Schedule& schedule : schedules) {
    const SelfContainedPlan& plan =
        plans.emplace_back(lower(schedule, problem, device_.info()), device_, programs_);
    if (effort.multiply_alone) {
      plan.enqueue(*queue_, operands);
    }
    const auto enqueue =
        effort.multiply_alone ? &SelfContainedPlan::enqueue_multiply : &SelfContainedPlan::enqueue;
    contenders.push_back({"", [&, enqueue, this_plan = &plan, once = 0.0](int repeats) mutable {
                            occupy(repeats, once);
                            const double taken = queue_->timed([&] {
                              for (int i = 0; i < repeats; ++i) {
                                (this_plan->*enqueue)(*queue_, operands);
                              }
                            });
                            once = taken / repeats;
                            return taken;
                          }});
  }
  const MeasureOptions options{.noise = 0.0,
                               .seconds = std::numeric_limits<double>::infinity(),
                               .min_samples = effort.samples,
                               .hopeless = effort.hopeless,
                               .max_samples = effort.samples,
                               .sample_seconds = effort.sample_seconds,
                               .most_repeats = most_repeats};
  std::vector<double> medians;
  for (const Samples& samples : measure(contenders, options, [](const std::string&) {})) {
    medians.push_back(samples.median());
  }
  return medians;
}

// A driver may hand over what is enqueued on a thread of its own, which has to wake up first: twice as long
// as it mostly takes at most.
void Stopwatch::occupy(int launches, double seconds) {
  constexpr double negligible = 0.02;
  const double busy = 2.0 * (launches * host_seconds_ + wake_up_);
  if (busy < negligible * launches * seconds || moving_ <= 0.0) {
    return;
  }
  for (double moved = 0.0; moved < busy; moved += moving_) {
    mover_->enqueue(*queue_, {{{}, {}, {stream_.get()}}});
  }
}

void Stopwatch::measure_device() {
  const DeviceInfo& info = device_.info();
  const bool gpu = info.kind == DeviceKind::gpu;
  // More than caches hold, and no large part of the memory.
  const std::size_t bytes = std::min(std::size_t{1} << (gpu ? 29 : 26), info.max_allocation_bytes / 4);
  const auto elements = static_cast<std::int64_t>(bytes / sizeof(float));
  stream_ = device_.allocate(static_cast<std::size_t>(elements) * sizeof(float));
  // C <- -C, which reads and writes each element once and never ends in zeros or infinities.
  const auto negation = [&](std::int64_t count) {
    return std::make_unique<SelfContainedPlan>(plan_sgemm(Problem::packed(count, 1, 1, 0.0f, -1.0f), info),
                                               device_, programs_);
  };
  // In ascending order.
  const auto times = [&](const SelfContainedPlan& plan, int repeats) {
    std::array<double, 10> seconds = {};
    for (double& each : seconds) {
      occupy(repeats, 0.0);
      const double taken = queue_->timed([&] {
        const auto start = std::chrono::steady_clock::now();
        for (int j = 0; j < repeats; ++j) {
          plan.enqueue(*queue_, {{{}, {}, {stream_.get()}}});
        }
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
        host_seconds_ = spent.count() / repeats;
      });
      each = taken / repeats;
    }
    std::ranges::sort(seconds);
    return seconds;
  };
  const auto tiny = negation(1);
  mover_ = negation(elements / 8);
  if (gpu) {
    wake_up_ = times(*tiny, 1)[8];
    moving_ = times(*mover_, 10).front();
  }
  launch_ = times(*tiny, most_repeats).front();
}

}  // namespace duogemm::bench
