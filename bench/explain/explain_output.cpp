#include <algorithm>
#include <cmath>
#include <functional>

#include "explain/explain.h"
#include "output/reports.h"
#include "problem/precision.h"

namespace duogemm::bench {
namespace {

// A kind of instruction in result files, and for people. A CPU has one memory, and what is a work-group's is
// on a stack.
struct KindName {
  const char* in_files;
  const char* title;
  const char* title_on_cpu = title;
};

// In the order of the kinds.
constexpr std::array<KindName, kinds> kind_names = {{
    {"multiply_add", "multiply-adds"},
    {"local_load", "local loads"},
    {"local_store", "local stores"},
    {"global_load", "global loads", "loads"},
    {"global_store", "global stores", "stores"},
    {"copy", "copies to local"},
    {"stack_load", "loads of stack"},
    {"stack_store", "stores to stack"},
    {"shuffle", "shuffles"},
    {"barrier", "barriers"},
    {"addition", "additions"},
    {"arithmetic", "address arithmetic and moves"},
    {"control", "control"},
}};

// Of machine code alone it is known.
Json code_bytes(const Explanation& e) {
  constexpr std::size_t instruction = 16;  // from compute capability 7.0 on
  const bool known = e.artefacts.language == "SASS" && e.device.compute_capability >= 70;
  return known ? Json(e.loop->last - e.loop->first + instruction) : Json(nullptr);
}

Json loop_json(const Explanation& e) {
  const MainLoop& loop = *e.loop;
  Json kinds_json = Json::object();
  for (std::size_t i = 0; i < kinds; ++i) {
    const Mix::Count& count = loop.mix.counts[i];
    kinds_json[kind_names[i].in_files] = {{"instructions", count.instructions}, {"bytes", count.bytes}};
  }
  return {{"first", loop.first},
          {"last", loop.last},
          {"inner_trips", loop.inner_trips},
          {"code_bytes", code_bytes(e)},
          {"reusing", e.artefacts.language == "SASS" ? Json(loop.mix.reusing) : Json(nullptr)},
          {"longest_gap", loop.longest_gap},
          {"multiply_adds", loop.mix.multiply_adds},
          {"instructions", loop.mix.instructions()},
          {"kinds", kinds_json}};
}

Json resources_json(const Explanation& e) {
  // Work-groups at once on an NVIDIA multiprocessor: as its runtime says, or as follows from the resources.
  const auto& said = e.artefacts.facts.resident;
  const bool follows = e.occupancy.has_value();
  return {{"registers", or_null(e.artefacts.registers())},
          {"spilled_bytes", or_null(e.artefacts.spilled())},
          {"local_bytes", e.local_bytes},
          {"local_size", e.local},
          {"resident_groups", !said && follows ? Json(e.occupancy->groups) : or_null(said)},
          {"resident_warps", follows ? Json(e.occupancy->warps) : Json(nullptr)},
          {"most_warps", follows ? Json(e.occupancy->most_warps) : Json(nullptr)},
          {"limited_by", follows ? Json(e.occupancy->limit) : Json(nullptr)}};
}

Json tensor_cores_json(const Explanation& e) {
  // The additions of the main loop take this at best, in units of what its products take on tensor cores: it
  // is lost where the two do not overlap.
  const Multiprocessor* unit = multiprocessor_of(e.device.compute_capability);
  const double promotion = e.loop && unit && unit->tensor_multiply_adds > 0.0
                               ? e.loop->mix[Kind::addition].instructions / unit->issued /
                                     (e.loop->mix.multiply_adds / unit->tensor_multiply_adds)
                               : 0.0;
  const auto bound = std::ranges::find(e.roofline.bounds, "tensor cores", &Bound::name);
  return {
      {"products", e.products},
      {"promotion", e.loop ? Json(promotion) : Json(nullptr)},
      {"utilisation", bound == e.roofline.bounds.end() ? Json(nullptr) : or_null(e.speed() / bound->flops)}};
}

Json explanation_json(const Explanation& e) {
  const auto level = [](const Level& of) -> Json {
    return {{"name", of.name},
            {"flops_per_byte", of.flops_per_byte},
            {"bytes_per_second", or_null(of.bytes_per_second)}};
  };
  const auto bound = [](const Bound& of) -> Json {
    return {{"name", of.name}, {"gflops", of.flops / gigaflop}};
  };
  const auto step = [](const StepTime& of) -> Json { return {{"name", of.first}, {"seconds", of.second}}; };
  return {{"backend", e.device.backend},
          {"rung", label_of(*e.setting.spec)},
          {"kernel", e.setting.spec->name},
          {"tunables", e.tunables},
          {"precision", to_text(e.setting.precision)},
          {"compiled_for", e.device.name + " through " + e.device.runtime},
          {"resources", resources_json(e)},
          {"language", e.artefacts.language},
          {"missing", e.artefacts.missing},
          {"loop", e.loop ? loop_json(e) : Json(nullptr)},
          {"levels", list_of(e.roofline.levels, level)},
          {"bounds", list_of(e.roofline.bounds, bound)},
          {"tensor_cores", e.products > 0 ? tensor_cores_json(e) : Json(nullptr)},
          {"steps", list_of(e.step_times, step)},
          {"gflops", or_null(e.speed() / gigaflop)},
          {"time", to_json(e.measured)}};
}

std::string number(const Json& json) {
  const auto value = json.get<double>();
  return format(value == std::floor(value) ? "%.0f" : "%.2f", value);
}

std::string tenths(const Json& value) { return format("%.1f", value.get<double>()); }

std::string word(const Json& value) { return value.get<std::string>(); }

std::string bytes_text(const Json& bytes) {
  return bytes < 1024 ? number(bytes) + " B" : number(bytes.get<double>() / 1024.0) + " KiB";
}

std::string percent(const Json& share) { return share > 0.0 ? tenths(100.0 * share.get<double>()) : ""; }

// Nothing without any in the loop.
std::string count_and_share(const Json& loop, const char* kind) {
  const auto count = [&](const char* of) { return loop["kinds"][of]["instructions"].get<double>(); };
  return count(kind) == 0.0
             ? ""
             : number(count(kind)) + "  " + format("%.4f", count(kind) / count("multiply_add"));
}

// A cell is made of what an explanation has in a result file.
using Cell = std::function<std::string(const Json& explanation)>;

// The member's text; empty where the file has null or nothing.
Cell member(const std::string& pointer, std::string (*text)(const Json&) = number) {
  return [path = Json::json_pointer(pointer), text](const Json& e) {
    return e.contains(path) && !e[path].is_null() ? text(e[path]) : "";
  };
}

// The same of the one of that name in a list.
Cell member_of(const char* list, const std::string& name, const char* figure,
               std::string (*text)(const Json&)) {
  return [=](const Json& e) {
    const auto found = std::ranges::find_if(e[list], [&](const Json& each) { return each["name"] == name; });
    return found == e[list].end() ? "" : text((*found)[figure]);
  };
}

// The rows of the table, each with its title; those that are empty everywhere are not shown.
std::vector<std::pair<std::string, Cell>> rows_for(const std::vector<Json>& explanations, bool cpu) {
  std::vector<std::pair<std::string, Cell>> rows = {
      {"work-items of a work-group", member("/resources/local_size",
                                            [](const Json& of) {
                                              return number(of[0]) + " x " + number(of[1]) +
                                                     (of[2] > 1 ? " x " + number(of[2]) : "");
                                            })},
      {"registers of a work-item", member("/resources/registers")},
      {"spilled, of a work-item", member("/resources/spilled_bytes", bytes_text)},
      {"local memory of a work-group", member("/resources/local_bytes", bytes_text)},
      {"work-groups on a multiprocessor", member("/resources/resident_groups")},
      {"warps on a multiprocessor", member("/resources",
                                           [](const Json& of) {
                                             return of["most_warps"].is_null()
                                                        ? ""
                                                        : number(of["resident_warps"]) + " of " +
                                                              number(of["most_warps"]);
                                           })},
      {"limited by", member("/resources/limited_by", word)},
      {"main loop, from", member("/language", word)},
      {"instructions in it", member("/loop/instructions")}};
  for (const KindName& kind : kind_names) {
    rows.emplace_back(std::string("  ") + (cpu ? kind.title_on_cpu : kind.title), [&kind](const Json& e) {
      return e["loop"].is_null() ? "" : count_and_share(e["loop"], kind.in_files);
    });
  }
  rows.emplace_back("values in a multiply-add", member("/loop", [](const Json& loop) {
                      const double values = loop["multiply_adds"].get<double>() /
                                            loop["kinds"]["multiply_add"]["instructions"].get<double>();
                      return values > 1.0 ? number(values) : "";
                    }));
  rows.emplace_back("  with an operand kept for the next, percent", member("/loop", [](const Json& loop) {
                      return loop["reusing"].is_null()
                                 ? ""
                                 : tenths(100.0 * loop["reusing"].get<double>() /
                                          loop["kinds"]["multiply_add"]["instructions"].get<double>());
                    }));
  rows.emplace_back("  most others between two", member("/loop/longest_gap"));
  rows.emplace_back("code of the main loop", member("/loop/code_bytes", bytes_text));
  for (const char* name : {"local memory", "first cache", "loads", "shared cache", "memory"}) {
    rows.emplace_back(std::string("FLOP per byte, ") + name,
                      member_of("levels", name, "flops_per_byte", number));
  }
  for (const char* name : {"multiply-adds", "tensor cores", "vector width", "instructions",
                           "loads, stores and shuffles", "loads", "stores", "shared cache", "memory"}) {
    rows.emplace_back(std::string("bound by ") + name + ", GFLOP/s",
                      member_of("bounds", name, "gflops", tenths));
  }
  // Kernels that split their operands into terms spend their time on products and on promoting sums.
  rows.insert(rows.end(),
              {{"products of split terms for each product", member("/tensor_cores/products")},
               {"promotion, percent of the products' clocks", member("/tensor_cores/promotion", percent)},
               {"tensor cores' rate in use, percent", member("/tensor_cores/utilisation", percent)},
               {"measured, GFLOP/s", member("/gflops", tenths)}});
  std::vector<std::string> seen;
  for (const Json& explanation : explanations) {
    for (const Json& step : explanation["steps"]) {
      const auto& name = seen.emplace_back(step["name"].get<std::string>());
      if (std::ranges::count(seen, name) == 1) {
        rows.emplace_back("time of " + name + ", us", member_of("steps", name, "seconds", [](const Json& of) {
                            return tenths(1e6 * of.get<double>());
                          }));
      }
    }
  }
  return rows;
}

std::string heading(const Explanation& e, bool several_backends) {
  const std::string rung = label_of(*e.setting.spec);
  return (several_backends ? e.device.backend + " " : "") + (rung.empty() ? "" : rung + " ") + e.name();
}

std::string table_text(const std::vector<Explanation>& explanations) {
  Table table = {left("")};
  std::vector<Json> columns;
  for (const Explanation& e : explanations) {
    const bool several = std::ranges::any_of(
        explanations, [&](const Explanation& other) { return other.device.backend != e.device.backend; });
    table.add_column(heading(e, several));
    columns.push_back(explanation_json(e));
  }
  const bool cpu = std::ranges::all_of(explanations,
                                       [](const Explanation& e) { return e.device.kind == DeviceKind::cpu; });
  for (const auto& [title, cell] : rows_for(columns, cpu)) {
    std::vector<std::string> cells = {title};
    std::ranges::transform(columns, std::back_inserter(cells), cell);
    if (!std::all_of(cells.begin() + 1, cells.end(), [](const std::string& text) { return text.empty(); })) {
      std::ranges::replace(cells, "", "-");
      table.add_row(std::move(cells));
    }
  }
  return table.text();
}

std::string sentence(const Explanation& e) {
  const std::string name = e.device.backend + ": " + e.name();
  if (!e.loop) {
    return name + ": " +
           (e.artefacts.missing.empty() ? "no loop with multiply-adds was found" : e.artefacts.missing) + ".";
  }
  const Bound* bound = e.roofline.binding();
  const double share = e.loop->mix[Kind::multiply_add].instructions / e.loop->mix.instructions();
  if (!bound) {
    return name + format(": %.0f", 100.0 * share) +
           " percent of the main loop's instructions are multiply-adds.";
  }
  std::string text = name + format(" reaches %.1f GFLOP/s", e.speed() / gigaflop);
  text += format(", %.0f percent", 100.0 * e.speed() / bound->flops);
  text += format(" of its bound of %.1f, set by ", bound->flops / gigaflop) + bound->name;
  if (bound->name == "instructions") {
    text += format(" (%.0f percent of those in the main loop are multiply-adds)", 100.0 * share);
  }
  return text + ".";
}

double values_in_multiply_add(const Explanation& e) {
  return e.loop->mix.multiply_adds / e.loop->mix[Kind::multiply_add].instructions;
}

// Two explanations are distinguished most by the kind whose number for each multiply-add changes most. Where
// a multiply-add is of other vectors, that comes first.
std::string difference(const Explanation& a, const Explanation& b) {
  if (!a.loop || !b.loop) {
    return "";
  }
  const auto ratio = [](const Explanation& e, std::size_t kind) {
    return e.loop->mix.counts[kind].instructions / e.loop->mix[Kind::multiply_add].instructions;
  };
  const auto change = [&](std::size_t kind) { return std::abs(ratio(a, kind) - ratio(b, kind)); };
  std::size_t most = 1;
  for (std::size_t kind = 1; kind < kinds; ++kind) {
    most = change(kind) > change(most) ? kind : most;
  }
  std::string text;
  if (a.speed() > 0.0 && b.speed() > 0.0) {
    text = b.name() + format(" is %.2f times as fast as ", b.speed() / a.speed()) + a.name() + ". ";
  }
  const std::string before = format("%g", values_in_multiply_add(a));
  const std::string after = format("%g", values_in_multiply_add(b));
  if (before != after) {
    text += "A multiply-add is of " + after + " values instead of " + before + ". ";
  }
  if (change(most) < 5e-4) {
    return filled(text + "Their main loops have the same mix of instructions.");
  }
  const KindName& name = kind_names[most];
  return filled(text + format("Most changed: %.3f ", ratio(b, most)) +
                (a.device.kind == DeviceKind::cpu ? name.title_on_cpu : name.title) +
                format(" for each multiply-add instead of %.3f.", ratio(a, most)));
}

}  // namespace

std::string explain_text(const std::vector<Explanation>& explanations) {
  const Explanation& first = explanations.front();
  std::string text = filled(first.device.name + " through " + first.device.runtime) +
                     filled(size_text(first.problem) +
                            "; of instructions: how many in an iteration, and for each multiply-add") +
                     table_text(explanations) + "\n";
  for (const Explanation& explanation : explanations) {
    text += filled(sentence(explanation));
    if (explanation.loop && !explanation.artefacts.missing.empty()) {
      text += filled("(" + explanation.artefacts.missing + ")");
    }
  }
  return text + (explanations.size() == 2 ? difference(explanations[0], explanations[1]) : "");
}

Json explain_json(const ExplainReport& report, const ExplainRequest& request) {
  const auto device = [&](const LadderReport& run) -> Json {
    return {{"device", to_json(run.device)},
            {"peak_gflops", run.peak / gigaflop},
            {"bandwidth", to_json(run.bandwidth)},
            {"gpu_during", to_json(run.gpu_during)},
            {"warnings", run.warnings(request.measure.noise)}};
  };
  Json json = file_head("duogemm.explain/1", request.cold, request.measure);
  json.update({{"m", request.shape->m},
               {"n", request.shape->n},
               {"k", request.shape->k},
               {"devices", list_of(report.runs, device)},
               {"kernels", list_of(report.explanations, explanation_json)}});
  return json;
}

}  // namespace duogemm::bench
