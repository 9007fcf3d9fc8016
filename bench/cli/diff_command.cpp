// duogemm diff: what was measured before and after a change, with a verdict from the noise of both.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>

#include "cli/commands.h"
#include "cli/options.h"
#include "output/table.h"
#include "runner/row.h"
#include "support/format.h"
#include "system/files.h"
#include "system/parse_json.h"
#include "system/paths.h"
#include "system/reject.h"

namespace duogemm::bench {
namespace {

struct DiffFlags {
  std::string before;
  std::string after;
};

// The median of a row, with half the width of its notch as a share of it (see Samples::noise).
struct Median {
  double seconds;
  double noise;
};

using Medians = std::vector<std::pair<std::string, Median>>;

struct Measured {
  std::vector<std::string> where;  // devices, and what was measured of them
  Medians ours;
  std::map<std::string, Medians> others;  // by library and version: the same problems
};

// A row that was not timed has none, or null.
std::optional<Median> median_of(const Json& row) {
  const Json time = row.value("time", Json());
  return time.is_null() ? std::nullopt : std::optional(Median{time.at("median_s"), time.at("noise")});
}

void add(Medians& all, const std::string& name, const Json& row) {
  if (const auto median = median_of(row)) {
    all.emplace_back(name, *median);
  }
}

std::optional<Median> find(const Medians& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &Medians::value_type::first);
  return found == all.end() ? std::nullopt : std::optional(found->second);
}

std::string device_text(const Json& device) {
  return device.at("name").get<std::string>() + " through " + device.at("backend").get<std::string>();
}

// runtime: in front of names, where there are several.
void add_ladder(const Json& run, const std::string& runtime, Measured& found) {
  found.where.push_back(device_text(run.at("device")) + " " +
                        to_text(Shape{run.at("m"), run.at("n"), run.at("k")}));
  for (const Json& row : run.at("rows")) {
    const std::string rung = row.at("rung");
    std::string name =
        runtime + (rung == "duogemm" ? rung : rung + " " + row.at("kernel").get<std::string>());
    if (find(found.ours, name)) {  // another setting of the same
      name += " " + to_text(row.at("tunables").get<Tunables>());
    }
    add(found.ours, name, row);
  }
  if (const Json& other = run.at("reference"); !other.is_null()) {
    add(found.others[other.at("name")], runtime, other);
  }
}

// What is called duogemm among the others is ours in another way.
void add_compare(const Json& run, const std::string& runtime, Measured& found) {
  found.where.push_back(device_text(run.at("device")));
  std::map<std::string, std::string> names;  // by title
  for (const Json& other : run.at("others")) {
    names[other.at("title")] = other.at("name");
  }
  for (const Json& row : run.at("rows")) {
    const std::string name =
        runtime + row.at("list").get<std::string>() + "/" + row.at("label").get<std::string>();
    add(found.ours, name, row);
    for (const Json& other : row.value("others", Json::array())) {
      if (const std::string& library = names.at(other.at("title")); !library.starts_with("duogemm")) {
        add(found.others[library], name, other);
      }
    }
  }
}

void add_sweep(const Json& result, Measured& found) {
  found.where = {device_text(result.at("device")), result.at("kernel")};
  for (const Json& point : result.at("points")) {
    std::string name;
    for (std::size_t i = 0; i < point.at("at").size(); ++i) {
      name += (i == 0 ? "" : " ") + result.at("axes")[i].at("name").get<std::string>() + "=" +
              point.at("at")[i].dump();
    }
    add(found.ours, name, point.value("row", Json::object()));
  }
}

// Throws invalid_argument where the file is no result of a command that times.
Measured read_measured(const std::string& file) {
  const std::string text = read_file_or_reject(path_of(file));
  Measured found;
  try {
    const Json result = parse_json(text);
    const std::string schema = result.is_object() ? result.value("schema", "") : "";
    if (schema == "duogemm.sweep/1") {
      add_sweep(result, found);
    } else if (schema == "duogemm.ladder/1" || schema == "duogemm.compare/1") {
      const Json& runs = result.at("runs");
      for (const Json& run : runs) {
        const std::string runtime =
            runs.size() > 1 ? run.at("device").at("backend").get<std::string>() + ": " : "";
        (schema == "duogemm.ladder/1" ? add_ladder : add_compare)(run, runtime, found);
      }
    } else {
      reject("it is no result file of ladder, compare or sweep");
    }
  } catch (const Error& error) {
    reject(file + ": " + error.what());
  } catch (const std::exception&) {
    reject(file + ": it is no whole result file");
  }
  return found;
}

// Where the notches of two medians overlap, they may be the same (McGill, Tukey, Larsen: "Variations of Box
// Plots", 1978).
const char* verdict(const Median& before, const Median& after) {
  const double noise = before.noise * before.seconds + after.noise * after.seconds;
  return std::abs(before.seconds - after.seconds) <= noise ? "same"
         : after.seconds < before.seconds                  ? "faster"
                                                           : "slower";
}

// Before over after, of what both have.
Ratios gains(const Medians& before, const Medians& after) {
  Ratios ratios;
  for (const auto& [name, then] : before) {
    if (const auto now = find(after, name)) {
      ratios.add(name, then.seconds / now->seconds);
    }
  }
  return ratios;
}

int run(const DiffFlags& flags) {
  const Measured before = read_measured(flags.before);
  const Measured after = read_measured(flags.after);
  const Ratios both = gains(before.ours, after.ours);
  if (both.count == 0) {
    reject(flags.before + " and " + flags.after + " have measured nothing that is the same");
  }
  Table table = {left("measured"), "before us", "after us", "before/after", "noise", left("verdict")};
  std::map<std::string, std::size_t> counts;
  for (const auto& [name, then] : before.ours) {
    const auto now = find(after.ours, name);
    if (!now) {
      continue;
    }
    const std::string found = verdict(then, *now);
    ++counts[found];
    table.add_row({name, format("%.2f", 1e6 * then.seconds), format("%.2f", 1e6 * now->seconds),
                   format("%.3f", then.seconds / now->seconds),
                   format("%.1f%%", 100.0 * (then.noise + now->noise)), found});
  }
  const auto said = [&](const char* found) { return std::to_string(counts[found]) + " "; };
  std::printf("%s%s", table.text().c_str(),
              filled(std::to_string(both.count) + format(" in both, geometric mean %.3f: ", both.mean()) +
                     said("faster") + "faster, " + said("slower") + "slower, " + said("same") +
                     "the same within the noise")
                  .c_str());
  const std::size_t gone = before.ours.size() - both.count;
  if (const std::size_t added = after.ours.size() - gains(after.ours, before.ours).count; gone + added > 0) {
    std::printf("In one of the files alone: %zu before, %zu after\n", gone, added);
  }
  for (const auto& [library, then] : before.others) {
    const auto now = after.others.find(library);
    const Ratios drift = now == after.others.end() ? Ratios{} : gains(then, now->second);
    if (drift.count > 0) {
      std::printf("%s", filled(library + format(", which did not change: %.3f", drift.mean())).c_str());
    }
  }
  if (before.where != after.where) {
    const std::string places = join(before.where) + ", then " + join(after.where);
    std::printf("%s", warning_lines({"the files are not of the same: " + places}).c_str());
  }
  return 0;
}

}  // namespace

void add_diff_command(Program& program) {
  auto [command, flags] = add_command<DiffFlags>(
      program, "diff",
      "Say what is faster and what is slower in a second result file, as far as noise lets one say", run);
  command.add_option("before", flags.before, "A result file of ladder, compare or sweep")->required();
  command.add_option("after", flags.after, "Another, of the same command")->required();
  add_table_flags(command);
}

}  // namespace duogemm::bench
