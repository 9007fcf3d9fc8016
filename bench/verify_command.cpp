// duogemm verify: every rung on problems that show its mistakes, without timing.
#include <algorithm>
#include <cstdio>

#include "commands.h"
#include "ladder.h"
#include "options.h"
#include "progress.h"
#include "table.h"

namespace duogemm::bench {
namespace {

struct VerifyFlags {
  DeviceFlags device;
  KernelFlags kernels;
  SizeFlags size;
};

struct Verdict {
  std::size_t problems = 0;
  double worst_error = 0.0;
  std::string unsupported;
  std::string fault;  // of the first wrong problem

  std::string text() const {
    return !unsupported.empty() ? "not supported here: needs " + unsupported
           : fault.empty()      ? "ok"
                                : "WRONG: " + fault;
  }
};

// Each shape with another distribution and other scalars, so that all of them occur.
HostProblem make_problem(const Shape& shape, std::size_t number) {
  static constexpr Distribution distributions[] = {Distribution::integers, Distribution::signed_unit,
                                                   Distribution::unit, Distribution::wide_range};
  static constexpr std::pair<float, float> scalars[] = {{1.0f, 0.0f}, {2.0f, -1.0f}, {-1.0f, 1.0f}};
  const auto [alpha, beta] = scalars[number % std::size(scalars)];
  return random_problem(Problem::packed(shape.m, shape.n, shape.k, alpha, beta),
                        distributions[number % std::size(distributions)], static_cast<std::uint32_t>(number));
}

std::string describe(const HostProblem& host, const Comparison& comparison) {
  const Problem& p = host.problem;
  return "M=" + std::to_string(p.m) + " N=" + std::to_string(p.n) + " K=" + std::to_string(p.k) +
         " alpha=" + format("%g", p.alpha) + " beta=" + format("%g", p.beta) + ": " + comparison.first_fault;
}

class Verifier {
 public:
  explicit Verifier(const ChosenDevice& chosen)
      : device_(chosen.backend->open(chosen.index, {})),
        queue_(device_->create_queue()),
        programs_(*device_) {}

  const DeviceInfo& info() const { return device_->info(); }

  Verdict verify(const LadderSetting& setting, const std::vector<Shape>& shapes) {
    Verdict verdict;
    for (const Shape& shape : shapes) {
      const HostProblem host = make_problem(shape, verdict.problems);
      const Oracle oracle(host.problem, host.a, host.b, host.c);
      try {
        const Comparison comparison = check_setting(setting, host, oracle, *device_, *queue_, programs_);
        ++verdict.problems;
        verdict.worst_error = std::max(verdict.worst_error, comparison.worst_error);
        if (!comparison.ok() && verdict.fault.empty()) {
          verdict.fault = describe(host, comparison);
        }
      } catch (const Error& error) {
        if (error.status() != Status::unsupported) {
          throw;
        }
        verdict.unsupported = error.what();
        break;
      }
    }
    return verdict;
  }

 private:
  std::unique_ptr<Device> device_;
  std::unique_ptr<Queue> queue_;
  ProgramCache programs_;
};

int run(const VerifyFlags& flags) {
  const LadderChoice choice = flags.kernels.choice();
  const std::vector<LadderSetting> settings = ladder_settings(choice);
  const std::vector<Shape> given =
      flags.size.given() ? std::vector{flags.size.shape()} : std::vector<Shape>{};
  Verifier verifier(flags.device.choose().front());
  require_supported(choice, settings, verifier.info());
  Progress progress;
  Table table;
  table.add_column("rung");
  table.add_column("kernel", Table::Align::left);
  table.add_column("set", Table::Align::left);
  table.add_column("problems");
  table.add_column("error/bound");
  table.add_column("", Table::Align::left);
  bool ok = true;
  for (const LadderSetting& setting : settings) {
    const KernelSpec& spec = *setting.spec;
    progress.show("rung " + spec.rung + " " + spec.name);
    const Verdict verdict =
        verifier.verify(setting, given.empty() ? edge_shapes(spec.multiples(setting.tunables)) : given);
    ok = ok && verdict.fault.empty();
    table.add_row({spec.rung, spec.name, to_text(setting.distinct), std::to_string(verdict.problems),
                   format("%.2f", verdict.worst_error), verdict.text()});
  }
  progress.clear();
  std::printf("%s through %s\n%s", verifier.info().name.c_str(), verifier.info().runtime.c_str(),
              table.text().c_str());
  return ok ? 0 : 1;
}

}  // namespace

void add_verify_command(CLI::App& app, Action& action) {
  auto flags = std::make_shared<VerifyFlags>();
  CLI::App* command =
      app.add_subcommand("verify", "Check every rung on problems around the edges of its tiles");
  flags->device.add_to(*command, false);
  flags->size.add_to(*command);
  flags->kernels.add_to(*command);
  command->callback([&action, flags] { action = [flags] { return run(*flags); }; });
}

}  // namespace duogemm::bench
