#include "report/result_files.h"

#include <filesystem>
#include <fstream>

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

}  // namespace

Json row_json(const LadderRow& row, const Shape& shape) {
  const KernelSpec& spec = *row.setting.spec;
  Json json = {{"rung", label_of(spec)},
               {"kernel", spec.name},
               {"idea", spec.idea},
               {"tunables", row.setting.tunables}};
  if (!row.unsupported.empty()) {
    json["unsupported"] = row.unsupported;
    return json;
  }
  json["gflops"] = shape.flops() / row.samples.median() / 1e9;
  json["ok"] = row.check.exact();
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
      "backend,device,m,n,k,rung,kernel,tunables,gflops,median_s,spread,error_per_bound,status\n";
  const auto number = [](double value) { return Json(value).dump(); };
  for (const LadderReport& report : reports) {
    for (const LadderRow& row : report.rows) {
      const bool ran = row.unsupported.empty();
      text += report.device.backend + ",\"" + report.device.name + "\"," + std::to_string(report.shape.m) +
              "," + std::to_string(report.shape.n) + "," + std::to_string(report.shape.k) + "," +
              label_of(*row.setting.spec) + "," + row.setting.spec->name + "," +
              to_text(row.setting.tunables) + ",";
      text += ran ? number(report.shape.flops() / row.samples.median() / 1e9) + "," +
                        number(row.samples.median()) + "," + number(row.samples.spread()) + "," +
                        number(row.check.worst_error) + "," + (row.check.exact() ? "ok" : "WRONG")
                  : ",,,,unsupported";
      text += "\n";
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
}

void write_file(const std::string& path, const std::string& text) {
  const std::string unfinished = path + ".unfinished";
  std::ofstream file(unfinished, std::ios::binary);
  file << text;
  file.close();
  std::error_code failed;
  if (file) {
    std::filesystem::rename(unfinished, path, failed);
  }
  if (!file || failed) {
    std::filesystem::remove(unfinished, failed);
    throw Error(Status::invalid_argument, path + " could not be written");
  }
}

}  // namespace duogemm::bench
