#include "ladder/ladder_tables.h"

#include <algorithm>
#include <map>

#include "families/kernel_source.h"
#include "support/build_switches.h"
#include "support/table.h"

namespace duogemm::bench {
namespace {

constexpr double giga = 1e9;

// GFLOP/s on a Tesla K40m at M = N = K = 4096 (C. Nugteren, "Tutorial: OpenCL SGEMM tuning for Kepler",
// 2014).
const std::map<std::string, double>& tutorial_figures() {
  static const std::map<std::string, double> figures = {{"1", 139},  {"2", 373},  {"3", 689},  {"4", 729},
                                                        {"5", 740},  {"6", 1371}, {"7", 1361}, {"8", 1563},
                                                        {"9", 1153}, {"10", 1251}};
  return figures;
}
constexpr double tutorial_cublas = 3056;

double gflops(const LadderReport& report, const Samples& samples) {
  return report.shape.flops() / samples.median() / giga;
}

std::string percent(double part, double whole) {
  return whole > 0.0 ? format("%.1f%%", 100.0 * part / whole) : "-";
}

const LadderRow* fastest_rung(const LadderReport& report) {
  const LadderRow* best = nullptr;
  for (const LadderRow& row : report.rows) {
    const bool ran = as_rung(*row.setting.spec) && row.unsupported.empty();
    if (ran && (!best || row.samples.median() < best->samples.median())) {
      best = &row;
    }
  }
  return best;
}

// What a row's gain is told against: the first setting of the rung before that ran, for duogemm's own choice
// the fastest rung.
const LadderRow* compared_with(const LadderReport& report, std::size_t index) {
  const LadderSetting& own = report.rows[index].setting;
  if (own.planned) {
    return fastest_rung(report);
  }
  if (const Rung* rung = as_rung(*own.spec); rung && rung->row_major) {
    return nullptr;  // no step of the ladder
  }
  const LadderRow* found = nullptr;
  for (std::size_t i = index; i-- > 0;) {
    const LadderRow& row = report.rows[i];
    if (!row.unsupported.empty() || row.setting.spec == own.spec) {
      continue;
    }
    if (found && row.setting.spec != found->setting.spec) {
      break;
    }
    found = &row;
  }
  return found;
}

// What is not the kernel file's own, and the switches, which the build may have set.
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
  const LadderRow* other = compared_with(report, index);
  return other ? format("%.2fx", other->samples.median() / report.rows[index].samples.median()) + " (" +
                     label_of(other->setting) + ")"
               : "-";
}

// Noise may make the multiplication alone the slower of the two.
std::string support_text(const LadderRow& row) {
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
          " K=" + std::to_string(report.shape.k) + ", measured peak " + format("%.0f", report.peak / giga) +
          " GFLOP/s";
  if (report.gpu_after) {
    text += ", SM clock " + std::to_string(report.gpu_after->sm_mhz) + " MHz after the run";
  }
  return text + "\nBuilt with " + build_switches() +
         "\nTime includes the supporting kernels (padding, transposing); 'support' is their share.\n";
}

std::vector<std::string> unsupported_cells(const LadderRow& row, bool tutorial) {
  const KernelSpec& spec = *row.setting.spec;
  std::vector<std::string> cells = {label_of(row.setting), spec.name, set_text(row.setting)};
  cells.insert(cells.end(), 7, "-");
  if (tutorial) {
    cells.push_back(tutorial_text(row.setting));
  }
  cells.push_back(status_text(row));
  return cells;
}

std::vector<std::string> row_cells(const LadderReport& report, std::size_t index, bool tutorial) {
  const LadderRow& row = report.rows[index];
  if (!row.unsupported.empty()) {
    return unsupported_cells(row, tutorial);
  }
  const KernelSpec& spec = *row.setting.spec;
  const double median = row.samples.median();
  const double reference =
      report.reference.name.empty() ? 0.0 : report.shape.flops() / report.reference.samples.median();
  std::vector<std::string> cells = {label_of(row.setting),
                                    spec.name,
                                    set_text(row.setting),
                                    format("%.1f", gflops(report, row.samples)),
                                    format("%.1f%%", 100.0 * row.samples.spread()),
                                    gain_text(report, index),
                                    percent(report.shape.flops() / median, reference),
                                    percent(report.shape.flops() / median, report.peak),
                                    support_text(row),
                                    format("%.2f", row.check.worst_error)};
  if (tutorial) {
    cells.push_back(tutorial_text(row.setting));
  }
  cells.push_back(status_text(row));
  return cells;
}

std::vector<std::string> reference_cells(const LadderReport& report, bool tutorial) {
  const Samples& samples = report.reference.samples;
  std::vector<std::string> cells = {"",
                                    library_title(report.reference.name),
                                    "",
                                    format("%.1f", gflops(report, samples)),
                                    format("%.1f%%", 100.0 * samples.spread()),
                                    "-",
                                    "100.0%",
                                    percent(report.shape.flops() / samples.median(), report.peak),
                                    "-",
                                    format("%.2f", report.reference.worst_error)};
  if (tutorial) {
    cells.push_back(format("%.0f", tutorial_cublas));
  }
  cells.push_back(report.reference.name);
  return cells;
}

// Who sees it in the table asks why.
std::string prefetch_note(const LadderReport& report) {
  const auto median_of = [&](const char* label) {
    const auto found = std::ranges::find_if(report.rows, [&](const LadderRow& row) {
      return label_of(row.setting) == label && row.unsupported.empty();
    });
    return found == report.rows.end() ? 0.0 : found->samples.median();
  };
  const double without = median_of("8");
  return report.device.kind == DeviceKind::gpu && without > 0.0 && median_of("9") > without
             ? "Rung 9 is slower than rung 8 because prefetching takes registers, so that fewer work-groups "
               "run at "
               "once: duogemm explain --diff 8:9\n"
             : "";
}

}  // namespace

std::string status_text(const LadderRow& row) {
  if (!row.unsupported.empty()) {
    return "not supported here: needs " + row.unsupported;
  }
  if (row.right()) {
    return "ok";
  }
  return "WRONG: " + row.check.fault() + " (" + std::to_string(row.check.different_bits) +
         " elements differ, " + std::to_string(row.check.overwritten) + " overwritten)";
}

std::string library_title(const std::string& reference) {
  return reference.empty() ? "a library" : reference.substr(0, reference.find(' '));
}

std::string ladder_text(const LadderReport& report, bool tutorial) {
  Table table;
  table.add_column("rung");
  table.add_column("kernel", Table::Align::left);
  table.add_column("set", Table::Align::left);
  for (const std::string& title : {std::string("GFLOP/s"), std::string("spread"), std::string("x (rung)"),
                                   "of " + library_title(report.reference.name), std::string("of peak"),
                                   std::string("support"), std::string("error/bound")}) {
    table.add_column(title);
  }
  if (tutorial) {
    table.add_column("K40m");
  }
  table.add_column("", Table::Align::left);
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    table.add_row(row_cells(report, i, tutorial));
  }
  if (!report.reference.name.empty()) {
    table.add_row(reference_cells(report, tutorial));
  }
  return head_text(report) + table.text() + prefetch_note(report);
}

std::string side_by_side_text(const LadderReport& cuda, const LadderReport& opencl) {
  Table table;
  table.add_column("rung");
  table.add_column("kernel", Table::Align::left);
  table.add_column("set", Table::Align::left);
  table.add_column("CUDA GFLOP/s");
  table.add_column("OpenCL GFLOP/s");
  table.add_column("OpenCL / CUDA");
  for (std::size_t i = 0; i < cuda.rows.size(); ++i) {
    const LadderRow& row = cuda.rows[i];
    const LadderRow& other = opencl.rows[i];
    const auto speed = [](const LadderReport& report, const LadderRow& of) {
      return of.unsupported.empty() ? format("%.1f", gflops(report, of.samples)) : "-";
    };
    const bool both = row.unsupported.empty() && other.unsupported.empty();
    table.add_row({label_of(row.setting), row.setting.spec->name, set_text(row.setting), speed(cuda, row),
                   speed(opencl, other),
                   both ? format("%.3f", row.samples.median() / other.samples.median()) : "-"});
  }
  return "Both runtimes on " + cuda.device.name + "\n" + table.text();
}

}  // namespace duogemm::bench
