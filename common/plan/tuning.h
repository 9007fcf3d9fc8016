// The planner's evidence is what has been measured of the production kernels on a device.
//
// The library has files of measurements built in (tuning/*.json, described in tuning/README.md); a user's own
// (DUOGEMM_TUNING_DIR, or duogemm/ in the XDG configuration directory) come before them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "families/kernel_spec.h"
#include "families/plan.h"

namespace duogemm {

// A request that was best for one shape when it was measured.
struct TunedShape {
  bool a_transposed;
  bool b_transposed;
  std::int64_t m, n, k, batch;
  ScheduleRequest request;
  double seconds;

  bool is_of(const Problem& problem) const;
};

// A file applies to these devices. Empty and 0 stand for any.
struct TuningTarget {
  std::string backend;
  std::string kind;  // "gpu" or "cpu"
  std::string name;
  int compute_capability = 0;  // this one and newer
  int vector_floats = 0;       // of a CPU: vectors of that many and more
};

// As a target has it.
const char* kind_name(DeviceKind kind);

// Clusters of work-groups find room here (cuOccupancyMaxActiveClusters tells). A cluster stays within a
// group of units; 0: it may be anywhere.
struct ClusterFacts {
  double group_units = 0.0;   // compute units of such a group
  double usable_units = 0.0;  // of all, by clusters of more than two work-groups
};

struct Tuning {
  TuningTarget target;
  std::string source;      // the file's name
  std::string evidence;    // on what, when and with which versions it was measured
  double bandwidth = 0.0;  // of device memory, bytes per second, reading and writing; 0 when unknown
  double reading = 0.0;    // of reading alone; 0 when unknown
  double cached = 0.0;     // of reading what the last cache before memory holds; 0 when unknown
  double launch = 0.0;     // seconds that one more kernel costs the device
  double cache = 0.0;      // bytes that the last cache holds; 0 for most of what the device says
  ClusterFacts clusters = {};
  // Of the device that was measured: cycles per second, and compute units; 0 when unknown.
  double clock = 0.0;
  double units = 0.0;
  std::vector<Calibration> calibrations;
  std::vector<TunedShape> shapes;
  Tunables registers = {};  // of a CPU: WIDTH, VECTORS and COLS of its kernels; empty when nobody looked
};

// Throws invalid_argument naming the source and what is wrong: it is no JSON, another schema, or names
// kernels, tunables or values that this library does not have.
Tuning parse_tuning(std::string_view json, const std::string& source);
std::string to_json(const Tuning& tuning);

bool applies_to(const TuningTarget& target, const DeviceInfo& device);

// The measurements that speak of the device most closely, the user's before those built in. A user's file
// that cannot be used is passed over, and a warning says why. Of those built in, only the closest is parsed.
const Tuning& tuning_for(const DeviceInfo& device);
// The same where these are the user's.
const Tuning& tuning_for(const DeviceInfo& device, std::span<const Tuning> users);

// The measurements built in of another device on which the same programs run; null where there are none. They
// have a clock and units.
const Tuning* tuning_of_another(const DeviceInfo& device);

// Names the folder of the user's own files; empty when there is none.
std::filesystem::path tuning_directory();

// A file that was built in. It is parsed when a device needs it.
struct EmbeddedTuning {
  std::string_view name;
  TuningTarget target;
  std::string_view text;
};
// Defined by the build.
std::span<const EmbeddedTuning> embedded_tunings();
inline Tuning tuning_of(const EmbeddedTuning& embedded) {
  return parse_tuning(embedded.text, std::string(embedded.name));
}

}  // namespace duogemm
