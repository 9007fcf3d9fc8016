#include "output/ladder_output.h"

#include <algorithm>
#include <map>

#include "families/kernel_source.h"
#include "output/table.h"
#include "support/program.h"

namespace duogemm::bench {
namespace {

// GFLOP/s on a Tesla K40m at M = N = K = 4096 (C. Nugteren, "Tutorial: OpenCL SGEMM tuning for Kepler",
// 2014).
const std::map<std::string, double>& tutorial_figures() {
  static const std::map<std::string, double> figures = {{"1", 139},  {"2", 373},  {"3", 689},  {"4", 729},
                                                        {"5", 740},  {"6", 1371}, {"7", 1361}, {"8", 1563},
                                                        {"9", 1153}, {"10", 1251}};
  return figures;
}
constexpr double tutorial_cublas = 3056;

std::string percent(double part, double whole) {
  return whole > 0.0 ? format("%.1f%%", 100.0 * part / whole) : "-";
}

const Row* fastest_rung(const LadderReport& report) {
  const Row* best = nullptr;
  for (const Row& row : report.rows) {
    const bool ran = as_rung(*row.setting.spec) && row.missing.empty();
    if (ran && (!best || row.samples.median() < best->samples.median())) {
      best = &row;
    }
  }
  return best;
}

// A row's gain is told against the first setting of the rung before that ran, and that of duogemm's own
// choice against the fastest rung.
const Row* compared_with(const LadderReport& report, std::size_t index) {
  const LadderSetting& own = report.rows[index].setting;
  if (own.planned) {
    return fastest_rung(report);
  }
  if (const Rung* rung = as_rung(*own.spec); rung && rung->row_major) {
    return nullptr;  // no step of the ladder
  }
  const Row* found = nullptr;
  for (std::size_t i = index; i-- > 0;) {
    const Row& row = report.rows[i];
    if (!row.missing.empty() || row.setting.spec == own.spec) {
      continue;
    }
    if (found && row.setting.spec != found->setting.spec) {
      break;
    }
    found = &row;
  }
  return found;
}

// Shows what is not the kernel file's own, and the switches, which the build may have set.
std::string set_text(const LadderSetting& setting) {
  Tunables shown = setting.distinct;
  for (const auto& [name, standard] : build_tunables()) {
    if (const auto own = setting.tunables.find(name); own != setting.tunables.end()) {
      shown[own->first] = own->second;
    }
  }
  return to_text(shown);
}

// "1.05x (7)"
std::string gain_text(const LadderReport& report, std::size_t index) {
  const Row* other = compared_with(report, index);
  return other ? format("%.2fx", other->samples.median() / report.rows[index].samples.median()) + " (" +
                     label_of(other->setting) + ")"
               : "-";
}

// Noise may make the multiplication alone the slower of the two.
std::string support_text(const Row& row) {
  if (row.support_steps == 0) {
    return "-";
  }
  return percent(std::max(row.samples.median() - row.multiply.median(), 0.0), row.samples.median());
}

// The tutorial measured each rung with one setting.
std::string tutorial_text(const LadderSetting& setting) {
  const auto found = tutorial_figures().find(setting.distinct.empty() ? label_of(setting) : "");
  return found == tutorial_figures().end() ? "-" : format("%.0f", found->second);
}

std::string head_text(const LadderReport& report) {
  const DeviceInfo& device = report.device;
  std::string text = device.name + " through " + device.runtime + ", driver " + device.driver;
  text += "\nM=" + std::to_string(report.shape.m) + " N=" + std::to_string(report.shape.n) +
          " K=" + std::to_string(report.shape.k) + ", measured peak " +
          format("%.0f", report.peak / gigaflop) + " GFLOP/s";
  if (report.gpu_after) {
    text += ", SM clock " + std::to_string(report.gpu_after->sm_mhz) + " MHz after the run";
  }
  return text + "\nBuilt with " + build_switches() +
         "\nTime includes the supporting kernels (padding, transposing); 'support' is their share.\n";
}

// A row's cells: who, the figures, and how it ended.
std::vector<std::string> cells_of(std::vector<std::string> who, std::vector<std::string> figures,
                                  const std::string& k40m, bool tutorial, const std::string& status) {
  who.insert(who.end(), figures.begin(), figures.end());
  if (tutorial) {
    who.push_back(k40m);
  }
  who.push_back(status);
  return who;
}

std::vector<std::string> row_cells(const LadderReport& report, std::size_t index, bool tutorial) {
  const Row& row = report.rows[index];
  std::vector<std::string> figures(7, "-");
  if (row.missing.empty()) {
    const double speed = report.shape.flops() / row.samples.median();
    const double reference =
        report.reference.name.empty() ? 0.0 : report.shape.flops() / report.reference.samples.median();
    figures = {format("%.1f", speed / gigaflop),
               format("%.1f%%", 100.0 * row.samples.spread()),
               gain_text(report, index),
               percent(speed, reference),
               percent(speed, report.peak),
               support_text(row),
               format("%.2f", row.verdict.worst_error)};
  }
  return cells_of({label_of(row.setting), row.setting.spec->name, set_text(row.setting)}, figures,
                  tutorial_text(row.setting), tutorial, status_text(row));
}

std::vector<std::string> reference_cells(const LadderReport& report, bool tutorial) {
  const Row& reference = report.reference;
  const double speed = report.shape.flops() / reference.samples.median();
  return cells_of(
      {"", library_title(reference.name), ""},
      {format("%.1f", speed / gigaflop), format("%.1f%%", 100.0 * reference.samples.spread()), "-", "100.0%",
       percent(speed, report.peak), "-", format("%.2f", reference.verdict.worst_error)},
      format("%.0f", tutorial_cublas), tutorial, reference.name);
}

// Who sees it in the table asks why.
std::string prefetch_note(const LadderReport& report) {
  const auto median_of = [&](const char* label) {
    const auto found = std::ranges::find_if(
        report.rows, [&](const Row& row) { return label_of(row.setting) == label && row.missing.empty(); });
    return found == report.rows.end() ? 0.0 : found->samples.median();
  };
  const double without = median_of("8");
  return report.device.kind == DeviceKind::gpu && without > 0.0 && median_of("9") > without
             ? "Rung 9 is slower than rung 8 because prefetching takes registers, so that fewer work-groups "
               "run at "
               "once: duogemm explain --diff 8:9\n"
             : "";
}

// In the order of the enumerators in backend.h.
const char* name_of(CachePreference preference) {
  static constexpr const char* names[] = {"none", "local", "l1", "equal"};
  return names[static_cast<int>(preference)];
}

int bytes_of(BankWidth width) {
  return width == BankWidth::standard ? 0 : width == BankWidth::four_bytes ? 4 : 8;
}

Json report_json(const LadderReport& report, double wanted_noise) {
  const double flops = report.shape.flops();
  Json json = to_json(static_cast<const Machine&>(report));
  json.update({{"m", report.shape.m},
               {"n", report.shape.n},
               {"k", report.shape.k},
               {"peak_gflops", report.peak / gigaflop},
               {"bandwidth", to_json(report.bandwidth)},
               {"warnings", report.warnings(wanted_noise)},
               {"rows", Json::array()},
               {"reference", nullptr}});
  for (const Row& row : report.rows) {
    json["rows"].push_back(to_json(row, flops));
  }
  if (!report.reference.name.empty()) {
    json["reference"] = {{"name", report.reference.name},
                         {"gflops", gflops(flops, report.reference.samples)},
                         {"error_per_bound", report.reference.verdict.worst_error},
                         {"time", to_json(report.reference.samples)}};
  }
  return json;
}

// A line of the CSV; of the other library, which has no rung, only what it has, too.
Json csv_row(const LadderReport& report, const Row& row) {
  const bool is_kernel = row.setting.spec != nullptr;
  Json line = {{"backend", report.device.backend},
               {"device", report.device.name},
               {"m", report.shape.m},
               {"n", report.shape.n},
               {"k", report.shape.k},
               {"rung", is_kernel ? label_of(row.setting) : ""},
               {"kernel", is_kernel ? row.setting.spec->name : row.name},
               {"tunables", to_text(row.setting.tunables)}};
  for (const char* name : {"gflops", "median_s", "spread", "error_per_bound", "status", "multiply_median_s",
                           "support_steps", "flops_per_byte", "different_bits", "overwritten"}) {
    line[name] = nullptr;
  }
  line["peak_gflops"] = report.peak / gigaflop;
  if (!row.missing.empty()) {
    line["status"] = "unsupported";
    return line;
  }
  line.update({{"gflops", gflops(report.shape.flops(), row.samples)},
               {"median_s", row.samples.median()},
               {"spread", row.samples.spread()},
               {"error_per_bound", row.verdict.worst_error}});
  if (is_kernel) {
    line.update(
        {{"status", row.right() ? "ok" : "WRONG"},
         {"multiply_median_s", row.multiply.seconds.empty() ? Json(nullptr) : Json(row.multiply.median())},
         {"support_steps", row.support_steps},
         {"flops_per_byte", row.flops_per_byte},
         {"different_bits", row.verdict.different_bits},
         {"overwritten", row.verdict.overwritten}});
  }
  return line;
}

}  // namespace

std::string status_text(const Row& row) {
  if (!row.missing.empty()) {
    return "not supported here: needs " + row.missing;
  }
  if (row.right()) {
    return "ok";
  }
  return "WRONG: " + row.verdict.fault() + " (" + std::to_string(row.verdict.different_bits) +
         " elements differ, " + std::to_string(row.verdict.overwritten) + " overwritten)";
}

std::string library_title(const std::string& reference) {
  return reference.empty() ? "a library" : reference.substr(0, reference.find(' '));
}

std::string ladder_text(const LadderReport& report, bool tutorial) {
  Table table = {"rung",
                 left("kernel"),
                 left("set"),
                 "GFLOP/s",
                 "spread",
                 "x (rung)",
                 "of " + library_title(report.reference.name),
                 "of peak",
                 "support",
                 "error/bound"};
  if (tutorial) {
    table.add_column("K40m");
  }
  table.add_column(left(""));
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    table.add_row(row_cells(report, i, tutorial));
  }
  if (!report.reference.name.empty()) {
    table.add_row(reference_cells(report, tutorial));
  }
  return head_text(report) + table.text() + prefetch_note(report);
}

std::string side_by_side_text(const LadderReport& cuda, const LadderReport& opencl) {
  Table table = {"rung", left("kernel"), left("set"), "CUDA GFLOP/s", "OpenCL GFLOP/s", "OpenCL / CUDA"};
  for (std::size_t i = 0; i < cuda.rows.size(); ++i) {
    const Row& row = cuda.rows[i];
    const Row& other = opencl.rows[i];
    const auto speed = [](const LadderReport& report, const Row& of) {
      return of.missing.empty() ? format("%.1f", report.shape.flops() / of.samples.median() / gigaflop) : "-";
    };
    const bool both = row.missing.empty() && other.missing.empty();
    table.add_row({label_of(row.setting), row.setting.spec->name, set_text(row.setting), speed(cuda, row),
                   speed(opencl, other),
                   both ? format("%.3f", row.samples.median() / other.samples.median()) : "-"});
  }
  return "Both runtimes on " + cuda.device.name + "\n" + table.text();
}

Json ladder_json(const std::vector<LadderReport>& reports, const LadderRequest& request) {
  Json json = file_head("duogemm.ladder/1", request.cold, request.measure);
  json.update({{"cache_preference", name_of(request.device_options.cache)},
               {"bank_bytes", bytes_of(request.device_options.banks)},
               {"runs", Json::array()}});
  for (const LadderReport& report : reports) {
    json["runs"].push_back(report_json(report, request.measure.noise));
  }
  return json;
}

std::string ladder_csv(const std::vector<LadderReport>& reports) {
  std::vector<Json> lines;
  for (const LadderReport& report : reports) {
    for (const Row& row : report.rows) {
      lines.push_back(csv_row(report, row));
    }
    if (!report.reference.name.empty()) {
      lines.push_back(csv_row(report, report.reference));
    }
  }
  return csv(lines);
}

}  // namespace duogemm::bench
