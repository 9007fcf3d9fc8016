#include "report/result_files.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "support/standard_output.h"
#include "system/write_file.h"

namespace duogemm::bench {
namespace {

constexpr const char* schema = "duogemm.ladder/1";

Json report_json(const LadderReport& report, double wanted_noise) {
  Json json = {{"device", to_json(report.device)},
               {"m", report.shape.m},
               {"n", report.shape.n},
               {"k", report.shape.k},
               {"peak_gflops", report.peak / 1e9},
               {"bandwidth", to_json(report.bandwidth)},
               {"gpu_before", to_json(report.gpu_before)},
               {"gpu_after", to_json(report.gpu_after)},
               {"gpu_during", to_json(report.gpu_during)},
               {"warnings", report.warnings(wanted_noise)},
               {"rows", Json::array()},
               {"reference", nullptr}};
  for (const LadderRow& row : report.rows) {
    json["rows"].push_back(row_json(row, report.shape));
  }
  if (!report.reference.name.empty()) {
    json["reference"] = {{"name", report.reference.name},
                         {"gflops", report.shape.flops() / report.reference.samples.median() / 1e9},
                         {"error_per_bound", report.reference.worst_error},
                         {"time", to_json(report.reference.samples)}};
  }
  return json;
}

// In the order of the enumerators in backend.h.
const char* name_of(CachePreference preference) {
  static constexpr const char* names[] = {"none", "local", "l1", "equal"};
  return names[static_cast<int>(preference)];
}

int bytes_of(BankWidth width) {
  return width == BankWidth::standard ? 0 : width == BankWidth::four_bytes ? 4 : 8;
}

std::string csv_number(double value) { return Json(value).dump(); }

// A row of the ladder's CSV up to the tunables; device and library have commas in their names.
std::string csv_begin(const LadderReport& report, const std::string& rung, const std::string& kernel,
                      const std::string& tunables) {
  const auto quoted = [](const std::string& text) { return "\"" + text + "\""; };
  return report.device.backend + "," + quoted(report.device.name) + "," + std::to_string(report.shape.m) +
         "," + std::to_string(report.shape.n) + "," + std::to_string(report.shape.k) + "," + rung + "," +
         (kernel.find(',') == std::string::npos ? kernel : quoted(kernel)) + "," + tunables + ",";
}

std::string csv_times(const LadderReport& report, const Samples& samples) {
  return csv_number(report.shape.flops() / samples.median() / 1e9) + "," + csv_number(samples.median()) +
         "," + csv_number(samples.spread());
}

std::string csv_rest(const LadderRow& row) {
  return (row.multiply.seconds.empty() ? "" : csv_number(row.multiply.median())) + "," +
         std::to_string(row.support_steps) + "," + csv_number(row.flops_per_byte) + "," +
         std::to_string(row.check.different_bits) + "," + std::to_string(row.check.overwritten);
}

}  // namespace

Json row_json(const LadderRow& row, const Shape& shape) {
  const KernelSpec& spec = *row.setting.spec;
  Json json = {{"rung", label_of(row.setting)},
               {"kernel", spec.name},
               {"idea", row.setting.planned ? "duogemm's own choice" : spec.idea},
               {"tunables", row.setting.tunables}};
  if (!row.unsupported.empty()) {
    json["unsupported"] = row.unsupported;
    return json;
  }
  json["gflops"] = shape.flops() / row.samples.median() / 1e9;
  json["ok"] = row.right();
  json["error_per_bound"] = row.check.worst_error;
  json["different_bits"] = row.check.different_bits;
  json["overwritten"] = row.check.overwritten;
  json["support_steps"] = row.support_steps;
  json["flops_per_byte"] = row.flops_per_byte;
  json["time"] = to_json(row.samples);
  json["multiply_time"] = to_json(row.multiply);
  return json;
}

std::string ladder_json(const std::vector<LadderReport>& reports, const LadderRequest& request) {
  Json json = file_head(schema, request.cold, request.measure);
  json.update({{"cache_preference", name_of(request.device_options.cache)},
               {"bank_bytes", bytes_of(request.device_options.banks)},
               {"runs", Json::array()}});
  for (const LadderReport& report : reports) {
    json["runs"].push_back(report_json(report, request.measure.noise));
  }
  return json.dump(1) + "\n";
}

std::string ladder_csv(const std::vector<LadderReport>& reports) {
  std::string text =
      "backend,device,m,n,k,rung,kernel,tunables,gflops,median_s,spread,error_per_bound,status,"
      "multiply_median_s,support_steps,flops_per_byte,different_bits,overwritten,peak_gflops\n";
  for (const LadderReport& report : reports) {
    const std::string end = "," + csv_number(report.peak / 1e9) + "\n";
    for (const LadderRow& row : report.rows) {
      const bool ran = row.unsupported.empty();
      text +=
          csv_begin(report, label_of(row.setting), row.setting.spec->name, to_text(row.setting.tunables)) +
          (ran ? csv_times(report, row.samples) + "," + csv_number(row.check.worst_error) + "," +
                     (row.right() ? "ok" : "WRONG") + "," + csv_rest(row)
               : ",,,,unsupported,,,,,") +
          end;
    }
    if (!report.reference.name.empty()) {
      text += csv_begin(report, "", report.reference.name, "") + csv_times(report, report.reference.samples) +
              "," + csv_number(report.reference.worst_error) + ",,,,,," + end;
    }
  }
  return text;
}

void require_writable(const std::string& option, const std::string& path) {
  const std::filesystem::path file(path);
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  if (!std::filesystem::is_directory(folder)) {
    throw Error(Status::invalid_argument, option + " " + path + ": there is no folder " + folder.string());
  }
  if (std::filesystem::is_directory(file)) {
    throw Error(Status::invalid_argument, option + " " + path + ": that is a folder; give a file's name");
  }
  const bool writable = ::access(file.c_str(), F_OK) == 0 ? ::access(file.c_str(), W_OK) == 0
                                                          : ::access(folder.c_str(), W_OK) == 0;
  if (!writable) {
    throw Error(Status::invalid_argument,
                option + " " + path + ": " + std::generic_category().message(errno));
  }
}

void require_place(const std::string& option, const std::string& path) {
  if (path == standard_output) {
    keep_standard_output(option);
  } else if (!path.empty()) {
    require_writable(option, path);
  }
}

void write_result(const std::string& path, const std::string& text) {
  std::error_code none;
  const bool is_of_another_kind =
      std::filesystem::exists(path, none) && !std::filesystem::is_regular_file(path, none);
  if (path == standard_output || is_of_another_kind) {
    give_result(path, text);
  } else if (!path.empty()) {
    write_file(path, text);
  }
}

}  // namespace duogemm::bench
