// duogemm devices: what there is to run on.
#include <cstdio>

#include "cli/commands.h"
#include "cli/options.h"
#include "output/table.h"
#include "runtime/runtime.h"

namespace duogemm::bench {
namespace {

constexpr double gibibyte = 1024.0 * 1024.0 * 1024.0;

std::string features(const DeviceInfo& info) {
  std::string text = info.read_only_loads ? "ldg" : "";
  text += info.shuffle ? (text.empty() ? "shuffle" : ", shuffle") : "";
  return text.empty() ? "-" : text;
}

Table make_table(const std::vector<DeviceInfo>& devices) {
  Table table = {left("device"), left("name"), left("runtime"), left("driver"), "units",
                 "MHz",          "memory",     "local",         left("has")};
  for (const DeviceInfo& info : devices) {
    table.add_row({info.backend + std::to_string(info.index), info.name, info.runtime, info.driver,
                   std::to_string(info.compute_units), std::to_string(info.clock_mhz),
                   format("%.1f GiB", static_cast<double>(info.memory_bytes) / gibibyte),
                   std::to_string(info.local_bytes / 1024) + " KiB", features(info)});
  }
  return table;
}

// Why the library does not multiply on it; empty where it does.
std::string refusal(const Backend& backend, const DeviceInfo& info) {
  try {
    Runtime runtime(backend.open(info.index, {}));
    runtime.require_right_results();
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

void print(const Backend& backend, const std::vector<DeviceInfo>& devices) {
  const std::string name(backend.name());
  if (devices.empty()) {
    const std::string why = backend.obstacle();
    std::printf("%s: no device was found%s\n", name.c_str(), (why.empty() ? "" : ": " + why).c_str());
  } else {
    std::printf("%s:\n%s", name.c_str(), make_table(devices).text().c_str());
  }
}

int run(const ResultFlags& results) {
  results.require();
  Json all = Json::array();
  for (const Backend* backend : backends()) {
    const std::vector<DeviceInfo> devices = backend->devices();
    print(*backend, devices);
    for (const DeviceInfo& info : devices) {
      const std::string why = backend->name() == "opencl" ? refusal(*backend, info) : "";
      if (!why.empty()) {
        std::printf("%s%zu: %s\n", info.backend.c_str(), info.index, why.c_str());
      }
      all.push_back({{"number", info.index},
                     {"device", to_json(info)},
                     {"refused", why.empty() ? Json(nullptr) : Json(why)}});
    }
  }
  Json document = dated_head("duogemm.devices/1");
  document["devices"] = all;
  results.write(document);
  return 0;
}

}  // namespace

void add_devices_command(CLI::App& app, Action& action) {
  add_command<ResultFlags>(
      app, action, "devices", "List the devices of every runtime in this build",
      [](CLI::App& command, ResultFlags& results) { results.add_to(command); }, run);
}

}  // namespace duogemm::bench
