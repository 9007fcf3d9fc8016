// duogemm accuracy: the error of products in each precision, over kinds of matrices and lengths of sums.
#include <algorithm>
#include <cstdio>

#include "cli/commands.h"
#include "cli/options.h"
#include "output/accuracy_output.h"
#include "problem/precision.h"
#include "support/interrupt.h"
#include "support/shapes.h"

namespace duogemm::bench {
namespace {

struct AccuracyFlags {
  DeviceFlags device;
  AccuracyRequest request = {.device = {},
                             .precisions = {},
                             .inputs = {},
                             .ks = {1, 4, 16, 64, 256, 1024, 4096, 16384, 65536},
                             .size = 512};
  std::vector<std::string> precisions = {"fp32", "bf16x6", "f16x3"};
  std::vector<std::string> inputs;
  ResultFlags results;
};

int run(const AccuracyFlags& flags) {
  AccuracyRequest request = flags.request;
  request.device = flags.device.choose().front();
  for (const std::string& name : flags.precisions) {
    request.precisions.push_back(parse_precision("--precision", name));
  }
  std::ranges::copy_if(input_classes(), std::back_inserter(request.inputs), [&](const InputClass& input) {
    return flags.inputs.empty() || std::ranges::count(flags.inputs, input.name) > 0;
  });
  note_interrupts();
  Progress progress;
  const AccuracyReport report = run_accuracy(
      request, progress, [&](const AccuracyReport& so_far) { flags.results.write(accuracy_json(so_far)); });
  std::printf("%s", accuracy_text(report).c_str());
  return status_unless_interrupted(report.ok() ? 0 : 1);
}

}  // namespace

void add_accuracy_command(Program& program) {
  auto [command, flags] = add_command<AccuracyFlags>(
      program, "accuracy",
      "Measure the error of each precision, and of other libraries, over kinds of matrices", run);
  flags.device.add_to(command);
  command.add_option("--precision", flags.precisions, "Which of fp32, bf16x6 and f16x3. Default: all")
      ->delimiter(',')
      ->check(CLI::IsMember(std::vector(flags.precisions)));
  std::vector<std::string> names;
  std::ranges::transform(input_classes(), std::back_inserter(names), &InputClass::name);
  command.add_option("--inputs", flags.inputs, "Kinds of matrices. Default: all")
      ->delimiter(',')
      ->check(CLI::IsMember(names));
  command.add_option("-k", flags.request.ks, "Lengths of sums")
      ->delimiter(',')
      ->capture_default_str()
      ->check(size_range());
  command.add_option("--size", flags.request.size, "M and N")->capture_default_str()->check(size_range());
  command.add_flag("--time", flags.request.timed,
                   "Time the products too: what is computed may depend on the numbers");
  flags.results.add_to(command);
}

}  // namespace duogemm::bench
