// What has been measured of the production kernels on a device: the planner's evidence.
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

#include "kernel_spec.h"

namespace duogemm {

// How long work-groups of one kernel take, when `groups` of them share a compute unit: `fixed` seconds and
// `per_k` seconds for each k.
struct Timing {
  int groups;
  double fixed;
  double per_k;
};

// One kernel with all its tunables, and its timings in ascending number of work-groups.
struct Calibration {
  const KernelSpec* spec;
  Tunables tunables;
  std::vector<Timing> timings;
  double reading = 0.0;               // bytes per second that work-groups read from memory; 0 when unknown
  std::vector<Timing> uncached = {};  // of kernels for thin results, with operands that no cache holds
};

// What was best for one shape when it was measured.
struct TunedShape {
  bool a_transposed;
  bool b_transposed;
  std::int64_t m, n, k, batch;
  const KernelSpec* spec;
  Tunables tunables;  // those that the problem leaves open
  std::int64_t parts;
  bool repacked;
  bool turning;
  bool clustered;
  double seconds;
};

// Which devices a file speaks of. Empty and 0 stand for any.
struct TuningTarget {
  std::string backend;
  std::string kind;  // "gpu" or "cpu"
  std::string name;
  int compute_capability = 0;  // this one and newer
  int vector_floats = 0;       // of a CPU: vectors of so many and more
};

// As a target has it.
const char* kind_name(DeviceKind kind);

struct Tuning {
  TuningTarget target;
  std::string source;      // the file's name
  std::string evidence;    // on what, when and with which versions it was measured
  double bandwidth = 0.0;  // of device memory, bytes per second; 0 when unknown
  double launch = 0.0;     // seconds that one more kernel costs the device
  double enqueue = 0.0;    // and that it costs the host; 0 when unknown
  double cache = 0.0;      // bytes of the last one before memory; 0 for what the device says
  std::vector<Calibration> calibrations;
  std::vector<TunedShape> shapes;
  Tunables registers = {};  // of a CPU: WIDTH, VECTORS and COLS of its kernels; empty when nobody looked
};

// Throws invalid_argument naming the source and what is wrong: it is no JSON, another schema, or speaks of
// kernels, tunables or values that this library does not have.
Tuning parse_tuning(std::string_view json, const std::string& source);
std::string to_json(const Tuning& tuning);

// The measurements that speak of the device most closely, the user's before those built in. A user's file
// that cannot be used is passed over, and the log says why.
const Tuning& tuning_for(const DeviceInfo& device);

// Where the user's own files are; empty when there is no such place.
std::filesystem::path tuning_directory();

struct EmbeddedTuning {
  std::string_view name;
  std::string_view text;
};
// Defined by the build.
std::span<const EmbeddedTuning> embedded_tunings();

}  // namespace duogemm
