// duogemm latency: what a call costs besides the multiplication, the first time and afterwards.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "check/guarded_operands.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "machine/memory_need.h"
#include "output/table.h"
#include "plan/lower.h"
#include "runtime/runtime.h"
#include "system/temporary_directory.h"

namespace duogemm::bench {
namespace {

constexpr int warm_calls = 1001;

struct LatencyFlags {
  DeviceFlags device;
  SizeFlags size;
  ResultFlags results;
  std::optional<Precision> precision;
};

double median_of_warm_calls(const std::function<double()>& sample) {
  std::vector<double> samples(warm_calls);
  std::ranges::generate(samples, sample);
  std::ranges::nth_element(samples, samples.begin() + warm_calls / 2);
  return samples[warm_calls / 2];
}

// A fresh device with operands on it, as a process has them before its first call.
class Fresh {
 public:
  Fresh(const ChosenDevice& chosen, const HostProblem& host, DiskCache disk)
      : problem_(host.problem),
        runtime_(chosen.backend->open(chosen.index, {}), std::move(disk)),
        queue_(runtime_.device().create_queue()),
        operands_(host, runtime_.device(), *queue_) {}

  // Seconds until C is there, or until the call returns.
  enum class Until { result, return_ };
  double call(Until end = Until::result) {
    const auto start = std::chrono::steady_clock::now();
    runtime_.enqueue(problem_, *queue_, operands_.operands());
    if (end == Until::result) {
      queue_->finish();
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    queue_->finish();
    return taken.count();
  }

 private:
  Problem problem_;
  Runtime runtime_;
  std::unique_ptr<Queue> queue_;
  GuardedOperands operands_;
};

// The members of the result file, in seconds.
Json measure_latency(const ChosenDevice& chosen, const HostProblem& host) {
  // Not the user's cache: there the first call might find its program. It leaves it there as a user's does.
  const TemporaryDirectory folder;
  const DiskCache disk(cache_directory().empty() ? std::filesystem::path() : folder.path());
  Fresh fresh(chosen, host, disk);
  Json latency = {{"first_s", fresh.call()}};
  const double loaded = Fresh(chosen, host, disk).call();
  latency["first_from_disk_s"] = disk.enabled() ? Json(loaded) : Json(nullptr);
  const double complete = median_of_warm_calls([&] { return fresh.call(); });
  latency["warm_return_s"] = median_of_warm_calls([&] { return fresh.call(Fresh::Until::return_); });
  latency["warm_result_s"] = complete;
  return latency;
}

std::string table_text(const Json& latency) {
  Table table = {left("call"), "microseconds"};
  for (const auto& [member, what] : {std::pair("first_s", "first, nothing cached on disk"),
                                     {"first_from_disk_s", "first, program on disk"},
                                     {"warm_return_s", "warm, until it returns"},
                                     {"warm_result_s", "warm, until C is there"}}) {
    if (!latency[member].is_null()) {
      table.add_row({what, format("%.1f", 1e6 * latency[member].get<double>())});
    }
  }
  return table.text();
}

int run(const LatencyFlags& flags) {
  const Shape shape = flags.size.shape_or(64);
  const ChosenDevice chosen = flags.device.choose().front();
  const DeviceInfo device = chosen.info();
  Problem problem = Problem::packed(shape.m, shape.n, shape.k);
  problem.precision = flags.precision.value_or(Precision::fp32);
  MemoryNeed need = judged_need(problem);  // two devices with operands are there at once
  need += guarded_need(problem);
  need.add_workspaces(plan_sgemm(problem, device));
  need.add_workspaces(plan_sgemm(problem, device));
  require_memory(to_text(shape), need, device);
  const Json latency = measure_latency(chosen, random_problem(problem, Distribution::signed_unit, 1));
  std::printf("%s through %s, M=%lld N=%lld K=%lld\n%s", device.name.c_str(), device.runtime.c_str(),
              static_cast<long long>(shape.m), static_cast<long long>(shape.n),
              static_cast<long long>(shape.k), table_text(latency).c_str());
  Json document = dated_head("duogemm.latency/1");
  document.update({{"device", to_json(device)},
                   {"m", shape.m},
                   {"n", shape.n},
                   {"k", shape.k},
                   {"warm_calls", warm_calls}});
  document.update(latency);
  flags.results.write(document);
  return 0;
}

}  // namespace

void add_latency_command(Program& program) {
  auto [command, flags] = add_command<LatencyFlags>(
      program, "latency", "Time the first and later calls of a small multiplication", run);
  flags.device.add_to(command);
  flags.size.add_to(command);
  add_precision(command, flags.precision);
  flags.results.add_to(command);
}

}  // namespace duogemm::bench
