#include "timing/stopwatch.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

#include "plan/lower.h"

namespace duogemm::bench {
namespace {

constexpr int most_repeats = 50;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

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
  std::vector<Warm> warm;
  for (const Plan& plan : plans) {
    warm.push_back(warm_up(plan, effort));
  }
  std::vector<std::vector<double>> samples(plans.size());
  for (int turn = 0; turn < effort.samples; ++turn) {
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (turn == 0 || warm[i].once <= effort.hopeless) {
        samples[i].push_back(sample(warm[i]));
      }
    }
  }
  std::vector<double> medians;
  for (const std::vector<double>& taken : samples) {
    medians.push_back(median(taken));
  }
  return medians;
}

Stopwatch::Warm Stopwatch::warm_up(const Plan& plan, const Effort& effort) {
  Warm warm{SelfContainedPlan(plan, device_, programs_), 1, 0.0};
  constexpr double first_time = 10.0;  // it may take so many times longer than later
  warm.once = sample(warm);
  if (warm.once > first_time * effort.hopeless) {
    return warm;
  }
  warm.once = sample(warm);
  if (warm.once <= effort.hopeless) {
    const double repeats = std::ceil(effort.sample_seconds / std::max(warm.once, 1e-9));
    warm.repeats = static_cast<int>(std::clamp<double>(repeats, 1, most_repeats));
  }
  return warm;
}

// The device is kept busy until the host has put everything on the queue: what is timed is the device.
double Stopwatch::sample(const Warm& warm) {
  occupy(warm.repeats, warm.once);
  const double taken = queue_->timed([&] {
    for (int i = 0; i < warm.repeats; ++i) {
      warm.plan.enqueue(*queue_, operands_);
    }
  });
  return taken / warm.repeats;
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

void Stopwatch::reserve(const Problem& problem) {
  reserve(0, problem.a_extent());
  reserve(1, problem.b_extent());
  reserve(2, problem.c_extent());
}

void Stopwatch::reserve(std::size_t slot, std::int64_t elements) {
  std::unique_ptr<Buffer>& buffer = buffers_[slot];
  const std::size_t bytes = static_cast<std::size_t>(elements) * sizeof(float);
  if (buffer && buffer->bytes() >= bytes) {
    return;
  }
  buffer.reset();
  buffer = device_.allocate(bytes);
  operands_[slot] = {buffer.get()};
  constexpr std::size_t piece = std::size_t{1} << 22;
  std::vector<float> values(piece / sizeof(float));
  std::mt19937 random(static_cast<unsigned>(slot));
  std::generate(values.begin(), values.end(),
                [&] { return static_cast<float>(random() >> 8) * 0x1p-23f - 1.0f; });
  for (std::size_t at = 0; at < bytes; at += piece) {
    const std::size_t size = std::min(piece, bytes - at);
    queue_->write(*buffer->slice(at, size), values.data(), size);
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
