#include "timing/stopwatch.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "plan/lower.h"
#include "timing/measure.h"

namespace duogemm::bench {
namespace {

constexpr int most_repeats = 50;

// C <- -C, which reads and writes each element once and never ends in zeros or infinities.
Problem negation(std::int64_t elements) {
  Problem problem = Problem::packed(elements, 1, 1, 0.0f, -1.0f);
  return problem;
}

// More than caches hold, and no large part of the memory.
std::int64_t stream_elements(const DeviceInfo& info) {
  const std::size_t wanted = info.kind == DeviceKind::gpu ? std::size_t{1} << 29 : std::size_t{1} << 26;
  return static_cast<std::int64_t>(std::min(wanted, info.max_allocation_bytes / 4) / sizeof(float));
}

}  // namespace

Stopwatch::Stopwatch(Device& device, ProgramCache& programs)
    : device_(device), programs_(programs), queue_(device.create_queue()) {
  measure_device();
}

double Stopwatch::seconds(const Plan& plan, const Problem& problem, const Effort& effort) {
  return seconds(std::vector{plan}, problem, effort).front();
}

std::vector<double> Stopwatch::seconds(const std::vector<Plan>& plans, const Problem& problem,
                                       const Effort& effort) {
  reserve(problem);
  std::vector<std::unique_ptr<SelfContainedPlan>> prepared;
  std::vector<Contender> contenders;
  for (const Plan& plan : plans) {
    prepared.push_back(std::make_unique<SelfContainedPlan>(plan, device_, programs_));
    if (effort.multiply_alone) {
      prepared.back()->enqueue(*queue_, operands_);
    }
    contenders.push_back({"", [this, &own = *prepared.back(), &effort, once = 0.0](int repeats) mutable {
                            const double taken = sample(own, effort.multiply_alone, repeats, once);
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

double Stopwatch::sample(const SelfContainedPlan& plan, bool multiply_alone, int repeats, double once) {
  occupy(repeats, once);
  return queue_->timed([&] {
    for (int i = 0; i < repeats; ++i) {
      if (multiply_alone) {
        plan.enqueue_multiply(*queue_, operands_);
      } else {
        plan.enqueue(*queue_, operands_);
      }
    }
  });
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

// Operands only grow: those of one problem are often those of the next.
void Stopwatch::reserve(const Problem& problem) {
  const Extents needed = Extents::of(problem);
  if (!matrices_ || !extents_.hold(needed)) {
    extents_ = larger(extents_, needed);
    matrices_.reset();
    matrices_.emplace(extents_, test_data().c, 1, device_, *queue_);
    operands_ = matrices_->operands();
  }
}

void Stopwatch::measure_device() {
  const DeviceInfo& info = device_.info();
  const std::int64_t elements = stream_elements(info);
  stream_ = device_.allocate(static_cast<std::size_t>(elements) * sizeof(float));
  const SelfContainedPlan whole(plan_sgemm(negation(elements), info), device_, programs_);
  mover_ = std::make_unique<SelfContainedPlan>(plan_sgemm(negation(elements / 8), info), device_, programs_);
  const SelfContainedPlan tiny(plan_sgemm(negation(1), info), device_, programs_);
  const PreparedPlan::Operands operands{{{}, {}, {stream_.get()}}};
  const auto times = [&](const SelfContainedPlan& plan, int repeats) {
    std::array<double, 10> seconds = {};
    for (double& each : seconds) {
      occupy(repeats, 0.0);
      const double taken = queue_->timed([&] {
        const auto start = std::chrono::steady_clock::now();
        for (int j = 0; j < repeats; ++j) {
          plan.enqueue(*queue_, operands);
        }
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
        host_seconds_ = spent.count() / repeats;
      });
      each = taken / repeats;
    }
    return seconds;
  };
  const auto best = [&](const SelfContainedPlan& plan, int repeats) {
    return std::ranges::min(times(plan, repeats));
  };
  bandwidth_ = 2.0 * sizeof(float) * static_cast<double>(elements) / best(whole, 1);
  launch_ = best(tiny, most_repeats);
  if (info.kind == DeviceKind::gpu) {
    std::array<double, 10> alone = times(tiny, 1);
    std::ranges::sort(alone);
    wake_up_ = alone[8];
    moving_ = best(*mover_, 10);
    launch_ = best(tiny, most_repeats);
  }
}

}  // namespace duogemm::bench
