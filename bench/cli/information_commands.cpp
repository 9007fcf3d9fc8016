// duogemm devices: what there is to run on. duogemm man and duogemm completion: pages made from the options
// themselves.
#include <cstdio>

#include "cli/commands.h"
#include "cli/options.h"
#include "duogemm/version.h"
#include "help/pages.h"
#include "output/table.h"
#include "runtime/runtime.h"

namespace duogemm::bench {
namespace {

struct DevicesFlags {
  ResultFlags results;
};

std::string features(const DeviceInfo& info) {
  return info.read_only_loads && info.shuffle ? "ldg, shuffle"
         : info.read_only_loads               ? "ldg"
         : info.shuffle                       ? "shuffle"
                                              : "-";
}

void print(const Backend& backend, const std::vector<DeviceInfo>& devices) {
  const std::string name(backend.name());
  if (devices.empty()) {
    const std::string why = backend.obstacle();
    std::printf("%s: no device was found%s\n", name.c_str(), (why.empty() ? "" : ": " + why).c_str());
    return;
  }
  Table table = {"#",   left("name"), left("runtime"), left("driver"), "units",
                 "MHz", "memory",     "local",         left("has")};
  for (const DeviceInfo& info : devices) {
    table.add_row({std::to_string(info.index), info.name, info.runtime, info.driver,
                   std::to_string(info.compute_units), std::to_string(info.clock_mhz),
                   format("%.1f GiB", 0x1p-30 * static_cast<double>(info.memory_bytes)),
                   std::to_string(info.local_bytes / 1024) + " KiB", features(info)});
  }
  std::printf("%s:\n%s", name.c_str(), table.text().c_str());
}

// Why the library does not multiply on it; empty where it does.
std::string refusal(const Backend& backend, const DeviceInfo& info) {
  try {
    Runtime(backend.open(info.index, {})).require_right_results();
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

int run(const DevicesFlags& flags) {
  Json document = dated_head("duogemm.devices/1");
  document["devices"] = Json::array();
  for (const Backend* backend : backends()) {
    const std::vector<DeviceInfo> devices = backend->devices();
    print(*backend, devices);
    for (const DeviceInfo& info : devices) {
      const std::string why = backend->name() == "opencl" ? refusal(*backend, info) : "";
      if (!why.empty()) {
        std::printf("%zu: %s\n", info.index, why.c_str());
      }
      document["devices"].push_back({{"number", info.index},
                                     {"device", to_json(info)},
                                     {"refused", why.empty() ? Json(nullptr) : Json(why)}});
    }
  }
  flags.results.write(document);
  return 0;
}

struct PageFlags {
  const CLI::App* app;
  std::string shell;  // empty for the page
};

int run(const PageFlags& flags) {
  const std::string page =
      flags.shell.empty() ? man_page(*flags.app, DUOGEMM_VERSION) : completion(*flags.app, flags.shell);
  std::fputs(page.c_str(), stdout);
  return 0;
}

}  // namespace

void add_devices_command(Program& program) {
  auto [command, flags] =
      add_command<DevicesFlags>(program, "devices", "List the devices of every runtime in this build", run);
  flags.results.add_to(command);
}

void add_completion_command(Program& program) {
  auto [command, flags] = add_command<PageFlags>(
      program, "completion", "Print what a shell completes command lines of this program by", run);
  flags.app = &program.app;
  command.add_option("shell", flags.shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
}

void add_man_command(Program& program) {
  auto [command, flags] = add_command<PageFlags>(
      program, "man", "Print this program's page for man, as in `duogemm man | man -l -`", run);
  flags.app = &program.app;
}

}  // namespace duogemm::bench
