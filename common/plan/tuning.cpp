#include "plan/tuning.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

#include "families/cpu.h"
#include "problem/problem.h"
#include "problem/rounding.h"
#include "system/files.h"
#include "system/folders.h"
#include "system/log.h"
#include "system/parse_json.h"
#include "system/reject.h"

namespace duogemm {
namespace {

constexpr const char* schema = "duogemm.tuning/4";

int read_int(const Json& json, const std::string& name, int least = std::numeric_limits<int>::min()) {
  return static_cast<int>(integer_of(json, name, least, std::numeric_limits<int>::max()));
}

// Sums and quotients of measured numbers in this range neither overflow nor become negative.
double read_quantity(const Json& json, const std::string& name) { return number_of(json, name, 0.0, 1e12); }

// A member that may be left out, which is text or a switch, as `otherwise` is.
template <typename Value>
Value read(const Json& object, const char* name, const Value& otherwise, const char* allowed) {
  const Json value = object.value(name, Json(otherwise));
  if (value.type() != Json(otherwise).type()) {
    reject(std::string(name) + " is " + brief(value) + "; it must be " + allowed);
  }
  return value.get<Value>();
}
std::string read_text(const Json& object, const char* name) {
  return read(object, name, std::string(), "a text");
}
bool read_switch(const Json& object, const char* name) { return read(object, name, false, "true or false"); }

Tunables read_tunables(const Json& json) {
  Tunables tunables;
  for (const auto& [name, value] : json.items()) {
    tunables[name] = read_int(value, name);
  }
  return tunables;
}

// No measurement is better than this.
double rounded(double value) { return std::round(value * 1e4) / 1e4; }

std::vector<Timing> read_timings(const Json& json) {
  std::vector<Timing> timings;
  for (const Json& timing : json) {
    constexpr int most_groups = 1 << 30;
    const int more = timings.empty() ? 1 : timings.back().groups + 1;
    timings.push_back(
        {static_cast<int>(integer_of(timing.at(0), "a timing's number of work-groups", more, most_groups)),
         read_quantity(timing.at(1), "a timing's time") * 1e-6,
         read_quantity(timing.at(2), "a timing's time for each k") * 1e-9});
  }
  return timings;
}

// One table: names of tunables, and a row of their values and of timings for each setting.
void read_settings(const Json& json, std::vector<Calibration>& calibrations) {
  const KernelSpec& spec = find_gemm_kernel(json.at("kernel").get_ref<const std::string&>());
  const auto names = json.at("tunables").get<std::vector<std::string_view>>();
  for (const Json& row : json.at("settings")) {
    const Json& values = row.at(0);
    if (values.size() != names.size()) {
      reject(spec.name + " has a setting of " + std::to_string(values.size()) + " values for " +
             std::to_string(names.size()) + " tunables");
    }
    Tunables tunables;
    tunables.reserve(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      tunables.emplace(names[i], read_int(values[i], "a tunable's value"));
    }
    std::vector<Timing> timings = read_timings(row.at(1));
    if (timings.empty()) {
      reject(spec.name + " has no timings");
    }
    calibrations.push_back({&spec, resolve(spec, tunables), std::move(timings)});
  }
}

Json to_json(const TunedShape& shape) {
  const ScheduleRequest& request = shape.request;
  return {{"a_op", shape.a_transposed ? "T" : "N"},
          {"b_op", shape.b_transposed ? "T" : "N"},
          {"m", shape.m},
          {"n", shape.n},
          {"k", shape.k},
          {"batch", shape.batch},
          {"kernel", request.spec->name},
          {"tunables", request.tunables},
          {"slices", request.splits},
          {"pack_a", request.pack_a},
          {"pack_b", request.pack_b},
          {"clustered", request.clustered},
          {"us", rounded(shape.seconds * 1e6)}};
}

TunedShape read_shape(const Json& json) {
  const KernelSpec& spec = find_gemm_kernel(json.at("kernel").get<std::string>());
  const Tunables tunables = read_tunables(json.at("tunables"));
  resolve(spec, tunables);
  const ScheduleRequest request{&spec,
                                tunables,
                                read_int(json.at("slices"), "slices"),
                                read_switch(json, "clustered"),
                                read_switch(json, "pack_a"),
                                read_switch(json, "pack_b")};
  validate(request);
  const auto transposed = [&](const char* name) {
    const Json& op = json.at(name);
    if (op != "N" && op != "T") {
      reject(std::string(name) + " is " + brief(op) + "; it must be \"N\" or \"T\"");
    }
    return op == "T";
  };
  const auto size = [&](const char* name) { return integer_of(json.at(name), name, 1, most_elements); };
  return {transposed("a_op"), transposed("b_op"), size("m"), size("n"),
          size("k"),          size("batch"),      request,   read_quantity(json.at("us"), "us") * 1e-6};
}

TuningTarget read_target(const Json& json) {
  const auto number = [&](const char* name) { return read_int(json.value(name, Json(0)), name, 0); };
  return {read_text(json, "backend"), read_text(json, "kind"), read_text(json, "name"),
          number("compute_capability"), number("vector_floats")};
}

// Tells how closely the target describes the device; nothing when it applies to others.
std::optional<int> closeness(const TuningTarget& target, const DeviceInfo& device) {
  const auto differs = [](const std::string& wanted, const std::string& present) {
    return !wanted.empty() && wanted != present;
  };
  if (differs(target.backend, device.backend) || differs(target.kind, kind_name(device.kind)) ||
      differs(target.name, device.name) || target.compute_capability > device.compute_capability ||
      static_cast<std::size_t>(target.vector_floats) > device.vector_floats) {
    return std::nullopt;
  }
  return (target.name.empty() ? 0 : 10000) + 10 * (target.compute_capability + target.vector_floats) +
         !target.backend.empty() + !target.kind.empty();
}

// Read once in a process.
const std::vector<Tuning>& users() {
  static const auto& all = *new auto([] {
    std::vector<std::filesystem::path> paths;
    std::error_code nothing_there;
    for (const auto& entry : std::filesystem::directory_iterator(tuning_directory(), nothing_there)) {
      if (entry.path().extension() == ".json") {
        paths.push_back(entry.path());
      }
    }
    std::sort(paths.begin(), paths.end());
    std::vector<Tuning> tunings;
    for (const std::filesystem::path& path : paths) {
      try {
        tunings.push_back(parse_tuning(read_file_or_reject(path), path.string()));
      } catch (const Error& error) {
        warn_line(std::string("this tuning file is passed over: ") + error.what());
      }
    }
    return tunings;
  }());
  return all;
}

// Made when a device needs it, once in a process.
const Tuning& kept(const EmbeddedTuning& embedded) {
  static std::mutex& mutex = *new std::mutex;
  static auto& tunings = *new std::map<std::string_view, Tuning>;
  const std::lock_guard lock(mutex);
  const auto found = tunings.find(embedded.name);
  return found != tunings.end() ? found->second
                                : tunings.emplace(embedded.name, tuning_of(embedded)).first->second;
}

// The one whose target is closest to the device; of equals the first.
template <typename Any>
const Any* closest_of(std::span<const Any> all, const DeviceInfo& device) {
  const Any* closest = nullptr;
  int best = -1;
  for (const Any& any : all) {
    if (const auto close = closeness(any.target, device); close && *close > best) {
      closest = &any;
      best = *close;
    }
  }
  return closest;
}

// An array of texts, with a line for each.
std::string lines(const std::vector<std::string>& elements, const std::string& indent) {
  std::string text;
  for (const std::string& element : elements) {
    text += (text.empty() ? "\n" : ",\n") + indent + element;
  }
  return "[" + text + "]";
}

// The calibrations of one kernel as read_settings() reads them. All have the same tunables: all there are.
std::string table(std::span<const Calibration> calibrations) {
  Json names = Json::array();
  for (const auto& [name, value] : calibrations.front().tunables) {
    names.push_back(name);
  }
  std::vector<std::string> rows;
  for (const Calibration& calibration : calibrations) {
    Json values = Json::array(), timings = Json::array();
    for (const auto& [name, value] : calibration.tunables) {
      values.push_back(value);
    }
    for (const Timing& timing : calibration.timings) {
      timings.push_back({timing.groups, rounded(timing.fixed * 1e6), rounded(timing.per_k * 1e9)});
    }
    rows.push_back(Json::array({values, timings}).dump());
  }
  return "{\"kernel\":" + Json(calibrations.front().spec->name).dump() + ",\"tunables\":" + names.dump() +
         ",\"settings\":" + lines(rows, "   ") + "}";
}

// A table for each run of settings of the same kernel.
std::vector<std::string> tables(std::span<const Calibration> calibrations) {
  std::vector<std::string> texts;
  while (!calibrations.empty()) {
    const auto other = std::ranges::find_if(
        calibrations, [&](const KernelSpec* spec) { return spec != calibrations.front().spec; },
        &Calibration::spec);
    const auto count = static_cast<std::size_t>(other - calibrations.begin());
    texts.push_back(table(calibrations.first(count)));
    calibrations = calibrations.subspan(count);
  }
  return texts;
}

}  // namespace

bool TunedShape::is_of(const Problem& problem) const {
  return m == problem.m && n == problem.n && k == problem.k && batch == problem.batch &&
         a_transposed == (problem.a_op == Transpose::yes) && b_transposed == (problem.b_op == Transpose::yes);
}

const char* kind_name(DeviceKind kind) {
  return kind == DeviceKind::gpu ? "gpu" : kind == DeviceKind::cpu ? "cpu" : "other";
}

Tuning parse_tuning(std::string_view text, const std::string& source) {
  try {
    const Json json = parse_json(text);
    const Json& found = json.at("schema");
    if (found != schema) {
      reject("schema " + brief(found) + "; this version reads \"" + schema + "\"");
    }
    const auto quantity = [&](const char* name) { return read_quantity(json.value(name, Json(0)), name); };
    Tuning tuning;
    tuning.target = read_target(json.at("device"));
    tuning.source = source;
    tuning.evidence = read_text(json, "evidence");
    tuning.bandwidth = read_quantity(json.at("bandwidth_gb_s"), "bandwidth_gb_s") * 1e9;
    tuning.reading = quantity("reading_gb_s") * 1e9;
    tuning.cached = quantity("cached_gb_s") * 1e9;
    tuning.launch = read_quantity(json.at("launch_us"), "launch_us") * 1e-6;
    tuning.cache = quantity("cache_mb") * 1e6;
    tuning.clock = quantity("clock_mhz") * 1e6;
    tuning.units = quantity("compute_units");
    tuning.clusters = {whole_down(quantity("cluster_group_units")), whole_down(quantity("cluster_units"))};
    for (const Json& kernel : json.at("kernels")) {
      read_settings(kernel, tuning.calibrations);
    }
    for (const Json& shape : json.value("shapes", Json::array())) {
      tuning.shapes.push_back(read_shape(shape));
    }
    tuning.registers = read_tunables(json.value("registers", Json::object()));
    require_cpu_registers(tuning.registers);
    return tuning;
  } catch (const Error& error) {
    throw Error(Status::invalid_argument, source + ": " + error.what());
  } catch (const Json::exception& error) {
    throw Error(Status::invalid_argument, source + ": " + error.what());
  }
}

// One line for each setting and shape.
std::string to_json(const Tuning& tuning) {
  const Json head = {{"schema", schema},
                     {"device",
                      {{"backend", tuning.target.backend},
                       {"kind", tuning.target.kind},
                       {"name", tuning.target.name},
                       {"compute_capability", tuning.target.compute_capability},
                       {"vector_floats", tuning.target.vector_floats}}},
                     {"evidence", tuning.evidence},
                     {"bandwidth_gb_s", rounded(tuning.bandwidth * 1e-9)},
                     {"reading_gb_s", rounded(tuning.reading * 1e-9)},
                     {"cached_gb_s", rounded(tuning.cached * 1e-9)},
                     {"launch_us", rounded(tuning.launch * 1e6)},
                     {"cache_mb", rounded(tuning.cache * 1e-6)},
                     {"clock_mhz", rounded(tuning.clock * 1e-6)},
                     {"compute_units", tuning.units},
                     {"cluster_group_units", tuning.clusters.group_units},
                     {"cluster_units", tuning.clusters.usable_units},
                     {"registers", tuning.registers}};
  std::string text = head.dump(1);
  text.resize(text.size() - 2);  // what closes it
  std::vector<std::string> shapes;
  for (const TunedShape& shape : tuning.shapes) {
    shapes.push_back(to_json(shape).dump());
  }
  return text + ",\n \"kernels\": " + lines(tables(tuning.calibrations), "  ") +
         ",\n \"shapes\": " + lines(shapes, "  ") + "\n}\n";
}

bool applies_to(const TuningTarget& target, const DeviceInfo& device) {
  return closeness(target, device).has_value();
}

const Tuning& tuning_for(const DeviceInfo& device) { return tuning_for(device, users()); }

const Tuning& tuning_for(const DeviceInfo& device, std::span<const Tuning> users) {
  static const Tuning& nothing = *new Tuning;
  if (const Tuning* own = closest_of(users, device)) {
    return *own;
  }
  const EmbeddedTuning* embedded = closest_of(embedded_tunings(), device);
  return embedded != nullptr ? kept(*embedded) : nothing;
}

const Tuning* tuning_of_another(const DeviceInfo& device) {
  constexpr int with_asynchronous_copies = 80;
  const EmbeddedTuning* closest = nullptr;
  int best = -1;
  for (const EmbeddedTuning& embedded : embedded_tunings()) {
    DeviceInfo other = device;
    other.name = embedded.target.name;
    other.compute_capability = embedded.target.compute_capability;
    const auto close = closeness(embedded.target, other);
    if (other.is_nvidia() && close && *close > best) {
      closest = &embedded;
      best = *close;
    }
  }
  return device.compute_capability >= with_asynchronous_copies && closest != nullptr ? &kept(*closest)
                                                                                     : nullptr;
}

std::filesystem::path tuning_directory() {
  return user_directory("DUOGEMM_TUNING_DIR", UserFolder::configuration);
}

}  // namespace duogemm
