#include "options.h"

#include <charconv>

#include "shapes.h"

namespace duogemm::bench {
namespace {

[[noreturn]] void reject(const std::string& message) { throw Error(Status::invalid_argument, message); }

std::pair<std::string, int> parse_assignment(const std::string& text) {
  const std::size_t equals = text.find('=');
  int value = 0;
  const char* end = text.data() + text.size();
  const bool found = equals != std::string::npos && equals > 0;
  if (found) {
    const auto [stop, error] = std::from_chars(text.data() + equals + 1, end, value);
    if (error == std::errc() && stop == end) {
      return {text.substr(0, equals), value};
    }
  }
  reject("--set " + text + ": expected NAME=NUMBER, such as TSM=64");
}

std::int64_t pick(const char* name, const std::optional<std::int64_t>& own,
                  const std::optional<std::int64_t>& size) {
  if (!own && !size) {
    reject(std::string(name) + " is missing: give -m, -n and -k, or --size for those that are the same");
  }
  return own ? *own : *size;
}

}  // namespace

void DeviceFlags::add_to(CLI::App& command, bool allow_all) {
  std::vector<std::string> names = {"opencl", "cuda"};
  if (allow_all) {
    names.push_back("all");
  }
  command
      .add_option("--backend", backend,
                  allow_all ? "Runtime; 'all' runs both on the same GPU. Default: that of the best device"
                            : "Runtime. Default: that of the best device")
      ->check(CLI::IsMember(names));
  command.add_option("--device", device, "Device number, as `duogemm devices` lists them for the runtime")
      ->check(CLI::Range(0, 1023));
}

void KernelFlags::add_to(CLI::App& command) {
  command.add_option("--kernels", kernels, "Rungs or names, such as 1,6,naive. Default: all")->delimiter(',');
  command.add_option("--set", set, "Tunables, such as TSM=64,TSN=64, for the kernels that have them")
      ->delimiter(',');
  command.add_flag_function(
      "--ldg,!--no-ldg", [this](std::int64_t on) { ldg = on > 0; },
      "Read-only loads, where a kernel has the switch");
  command.add_flag_function(
      "--shuffle,!--no-shuffle", [this](std::int64_t on) { shuffle = on > 0; },
      "Warp shuffles, where a kernel has the switch");
}

LadderChoice KernelFlags::choice() const {
  LadderChoice choice{kernels, {}, {}};
  for (const std::string& assignment : set) {
    choice.set.insert_or_assign(parse_assignment(assignment).first, parse_assignment(assignment).second);
  }
  if (ldg) {
    choice.switches["USE_LDG"] = *ldg;
  }
  if (shuffle) {
    choice.switches["USE_SHUFFLE"] = *shuffle;
  }
  return choice;
}

void SizeFlags::add_to(CLI::App& command) {
  const CLI::Range range(std::int64_t{1}, largest_size);
  command.add_option("-m", m, "Rows of A and C")->check(range);
  command.add_option("-n", n, "Columns of B and C")->check(range);
  command.add_option("-k", k, "Columns of A, rows of B")->check(range);
  command.add_option("--size", size, "M, N and K at once")->check(range);
}

Shape SizeFlags::shape() const { return {pick("-m", m, size), pick("-n", n, size), pick("-k", k, size)}; }

}  // namespace duogemm::bench
