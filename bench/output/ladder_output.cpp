#include <algorithm>
#include <map>

#include "families/kernel_source.h"
#include "output/reports.h"
#include "support/program.h"

namespace duogemm::bench {
namespace {

// GFLOP/s on a Tesla K40m at M = N = K = 4096 (C. Nugteren, "Tutorial: OpenCL SGEMM tuning for Kepler",
// 2014), and of cuBLAS there.
const std::map<std::string, std::string> tutorial_figures = {
    {"1", "139"},  {"2", "373"},  {"3", "689"},  {"4", "729"},   {"5", "740"},      {"6", "1371"},
    {"7", "1361"}, {"8", "1563"}, {"9", "1153"}, {"10", "1251"}, {"cuBLAS", "3056"}};

std::string percent(double part, double whole) {
  return whole > 0.0 ? format("%.1f%%", 100.0 * part / whole) : "-";
}

double speed(const LadderReport& report, const Row& row) {
  return row.samples.seconds.empty() ? 0.0 : report.shape.flops() / row.samples.median();
}

// The other library's row has no kernel.
bool is_kernel(const Row& row) { return row.setting.spec != nullptr; }

// A row's gain is told against the first setting of the rung before that ran, and that of duogemm's own
// choice against the fastest rung.
const Row* compared_with(const LadderReport& report, const Row& own) {
  if (own.setting.planned) {
    return fastest_of(report.rows, [](const Row& row) { return as_rung(*row.setting.spec) != nullptr; });
  }
  if (const Rung* rung = as_rung(*own.setting.spec); rung && rung->row_major) {
    return nullptr;  // no step of the ladder
  }
  const Row* found = nullptr;
  for (auto i = &own - report.rows.data(); i-- > 0;) {
    const Row& row = report.rows[static_cast<std::size_t>(i)];
    if (!row.missing.empty() || row.setting.spec == own.setting.spec) {
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
std::string gain_text(const LadderReport& report, const Row& row) {
  const Row* other = compared_with(report, row);
  return other ? format("%.2fx", other->samples.median() / row.samples.median()) + " (" +
                     label_of(other->setting) + ")"
               : "-";
}

// Noise may make the multiplication alone the slower of the two.
std::string support_text(const Row& row) {
  return row.support_steps == 0
             ? "-"
             : percent(std::max(row.samples.median() - row.multiply.median(), 0.0), row.samples.median());
}

// The tutorial measured each rung with one setting.
std::string tutorial_text(const Row& row) {
  const std::string label = !is_kernel(row)                ? library_title(row.name)
                            : row.setting.distinct.empty() ? label_of(row.setting)
                                                           : "";
  const auto found = tutorial_figures.find(label);
  return found == tutorial_figures.end() ? "-" : found->second;
}

// Says where kernels come from that are not the program's own.
std::string kernels_text() {
  const std::optional<std::string> directory = kernel_directory();
  return directory ? "; the kernels are those of " + *directory : "";
}

std::string head_text(const LadderReport& report) {
  const DeviceInfo& device = report.device;
  std::string shape =
      size_text(report.shape) +
      (report.peak > 0.0 ? ", measured peak " + format("%.0f", report.peak / gigaflop) + " GFLOP/s" : "");
  if (report.gpu_after) {
    shape += ", SM clock " + std::to_string(report.gpu_after->sm_mhz) + " MHz after the run";
  }
  return filled(device.name + " through " + device.runtime + ", driver " + device.driver) + filled(shape) +
         filled("Built with " + build_switches() + kernels_text()) + fma_text(report.fuses) +
         filled("Time includes padding and transposing: 'support' is their share.");
}

// Who it is: the first columns of every table of rungs.
Columns<Row> who() {
  return {{"rung", [](const Row& row) { return is_kernel(row) ? label_of(row.setting) : ""; }},
          {left("kernel"),
           [](const Row& row) { return is_kernel(row) ? row.setting.spec->name : library_title(row.name); }},
          {left("set"), [](const Row& row) { return is_kernel(row) ? set_text(row.setting) : ""; }}};
}

Columns<Row> columns_of(const LadderReport& report, bool tutorial) {
  Columns<Row> columns = who();
  // A figure of a row that ran.
  const auto add = [&](const std::string& title, std::function<std::string(const Row&)> figure) {
    columns.emplace_back(title, [figure = std::move(figure)](const Row& row) {
      return row.missing.empty() ? figure(row) : "-";
    });
  };
  add("GFLOP/s", [&](const Row& row) { return format("%.1f", speed(report, row) / gigaflop); });
  if (tutorial) {
    columns.emplace_back("K40m", tutorial_text);
  }
  add("spread", [](const Row& row) { return format("%.1f%%", 100.0 * row.samples.spread()); });
  add("x (rung)", [&](const Row& row) { return is_kernel(row) ? gain_text(report, row) : "-"; });
  add("of " + library_title(report.reference.name),
      [&](const Row& row) { return percent(speed(report, row), speed(report, report.reference)); });
  add("of peak", [&](const Row& row) { return percent(speed(report, row), report.peak); });
  add("support", support_text);
  add("error/bound", [](const Row& row) { return format("%.2f", row.verdict.worst_error); });
  columns.emplace_back(left(""), [](const Row& row) { return is_kernel(row) ? status_text(row) : row.name; });
  return columns;
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
             ? filled(
                   "Rung 9 is slower than rung 8 because prefetching takes registers, so that fewer "
                   "work-groups run at once: duogemm explain --diff 8:9")
             : "";
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
               {"rows", list_of(report.rows, [&](const Row& row) { return to_json(row, flops); })},
               {"reference", nullptr}});
  if (const Row& other = report.reference; !other.name.empty()) {
    json["reference"] = {{"name", other.name},
                         {"gflops", gflops(flops, other.samples)},
                         {"error_per_bound", other.verdict.worst_error},
                         {"time", to_json(other.samples)}};
  }
  return json;
}

}  // namespace

std::string status_text(const Row& row) {
  if (row.is_broken) {
    return "WRONG: it does not compile";
  }
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

std::string fma_text(bool fuses) {
  return fuses ? ""
               : filled("fma rounds twice here: results are held to the error bound, not to a chain's bits.");
}

std::string size_text(const Shape& shape) {
  return "M=" + std::to_string(shape.m) + " N=" + std::to_string(shape.n) + " K=" + std::to_string(shape.k);
}

std::string ladder_text(const LadderReport& report, bool tutorial) {
  const Columns<Row> columns = columns_of(report, tutorial);
  Table table = table_of(columns, report.rows);
  if (const Row* const fastest = fastest_of(report.rows, &Row::right)) {
    table.mark_best(static_cast<std::size_t>(fastest - report.rows.data()));
  }
  if (!report.reference.name.empty()) {
    table.add_row(cells_of(columns, report.reference));
  }
  return head_text(report) + table.text() + prefetch_note(report);
}

std::string side_by_side_text(const LadderReport& cuda, const LadderReport& opencl) {
  const auto other = [&](const Row& row) -> const Row& {
    return opencl.rows[static_cast<std::size_t>(&row - cuda.rows.data())];
  };
  const auto speed_of = [](const LadderReport& report, const Row& row) {
    return row.missing.empty() ? format("%.1f", speed(report, row) / gigaflop) : "-";
  };
  Columns<Row> columns = who();
  columns.emplace_back("CUDA GFLOP/s", [&](const Row& row) { return speed_of(cuda, row); });
  columns.emplace_back("OpenCL GFLOP/s", [&](const Row& row) { return speed_of(opencl, other(row)); });
  columns.emplace_back("OpenCL / CUDA", [&](const Row& row) {
    const auto found =
        row.missing.empty() && other(row).missing.empty() ? ratio(other(row), row) : std::nullopt;
    return found ? format("%.3f", *found) : "-";
  });
  return "Both runtimes on " + cuda.device.name + "\n" + table_of(columns, cuda.rows).text();
}

Json ladder_json(const std::vector<LadderReport>& reports, const LadderRequest& request) {
  constexpr const char* caches[] = {"none", "local", "l1", "equal"};  // in the order of backend.h
  const BankWidth banks = request.device_options.banks;
  Json json = file_head("duogemm.ladder/1", request.cold, request.measure);
  json.update({{"cache_preference", caches[static_cast<int>(request.device_options.cache)]},
               {"bank_bytes", banks == BankWidth::standard     ? 0
                              : banks == BankWidth::four_bytes ? 4
                                                               : 8},
               {"runs", list_of(reports, [&](const LadderReport& report) {
                  return report_json(report, request.measure.noise);
                })}});
  return json;
}

}  // namespace duogemm::bench
