// duogemm accuracy: the error of products in each precision, over kinds of matrices and lengths of sums.
#include <algorithm>
#include <cstdio>

#include "cli/commands.h"
#include "cli/options.h"
#include "output/reports.h"
#include "problem/precision.h"
#include "support/interrupt.h"
#include "support/shapes.h"

namespace duogemm::bench {
namespace {

struct AccuracyFlags {
  DeviceFlags device;
  std::vector<std::string> precisions;
  std::vector<std::string> inputs;
  std::vector<std::int64_t> ks = {1, 4, 16, 64, 256, 1024, 4096, 16384, 65536};
  std::int64_t size = 512;
  bool time = false;
  ResultFlags results;
};

std::vector<std::string> input_names() {
  std::vector<std::string> names;
  std::ranges::transform(input_classes(), std::back_inserter(names), &InputClass::name);
  return names;
}

AccuracyRequest make_request(const AccuracyFlags& flags) {
  AccuracyRequest request{.device = flags.device.choose().front(),
                          .precisions = {precisions.begin(), precisions.end()},
                          .inputs = input_classes(),
                          .ks = flags.ks,
                          .size = flags.size,
                          .timed = flags.time};
  if (!flags.precisions.empty()) {
    request.precisions.clear();
    for (const std::string& name : flags.precisions) {
      request.precisions.push_back(parse_precision("--precision", name));
    }
  }
  if (!flags.inputs.empty()) {
    std::erase_if(request.inputs, [&](const InputClass& input) {
      return std::ranges::find(flags.inputs, input.name) == flags.inputs.end();
    });
  }
  return request;
}

int run(const AccuracyFlags& flags) {
  flags.results.require();
  const AccuracyRequest request = make_request(flags);
  note_interrupts();
  Progress progress;
  const AccuracyReport report = run_accuracy(
      request, progress, [&](const AccuracyReport& so_far) { flags.results.write(accuracy_json(so_far)); });
  std::printf("%s", accuracy_text(report).c_str());
  return status_unless_interrupted(report.ok() ? 0 : 1);
}

void add_options(CLI::App& command, AccuracyFlags& flags) {
  flags.device.add_to(command, false);
  command.add_option("--precision", flags.precisions, "Which of fp32, bf16x6 and f16x3. Default: all")
      ->delimiter(',')
      ->check(CLI::IsMember({"fp32", "bf16x6", "f16x3"}));
  command.add_option("--inputs", flags.inputs, "Kinds of matrices. Default: all")
      ->delimiter(',')
      ->check(CLI::IsMember(input_names()));
  command.add_option("-k", flags.ks, "Lengths of sums")
      ->delimiter(',')
      ->capture_default_str()
      ->check(number_in(std::int64_t{1}, largest_size));
  command.add_option("--size", flags.size, "M and N")
      ->capture_default_str()
      ->check(number_in(std::int64_t{1}, largest_size));
  command.add_flag("--time", flags.time, "Time the products too: what is computed may depend on the numbers");
  flags.results.add_to(command);
}

}  // namespace

void add_accuracy_command(CLI::App& app, Action& action) {
  add_command<AccuracyFlags>(
      app, action, "accuracy",
      "Measure the error of each precision, and of other libraries, over kinds of matrices", add_options,
      run);
}

}  // namespace duogemm::bench
