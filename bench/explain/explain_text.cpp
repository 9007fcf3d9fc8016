#include <algorithm>
#include <cmath>
#include <functional>

#include "explain/explain.h"
#include "output/table.h"

namespace duogemm::bench {
namespace {

constexpr double giga = 1e9;

using Explanations = std::vector<Explanation>;

std::string number(double value) {
  return value == std::floor(value) ? format("%.0f", value) : format("%.2f", value);
}

std::string bytes_text(std::size_t bytes) {
  return bytes < 1024 ? std::to_string(bytes) + " B" : number(static_cast<double>(bytes) / 1024.0) + " KiB";
}

class Rows {
 public:
  explicit Rows(const Explanations& explanations) : explanations_(explanations) {
    table_.add_column("", Table::Align::left);
    for (const Explanation& explanation : explanations) {
      table_.add_column(heading(explanation));
    }
  }

  // A row, unless every cell is empty.
  void add(const std::string& title, const std::function<std::string(const Explanation&)>& cell) {
    std::vector<std::string> cells = {title};
    bool any = false;
    for (const Explanation& explanation : explanations_) {
      cells.push_back(cell(explanation));
      any = any || !cells.back().empty();
    }
    if (any) {
      std::replace(cells.begin(), cells.end(), std::string(), std::string("-"));
      table_.add_row(std::move(cells));
    }
  }

  std::string text() const { return table_.text(); }

 private:
  std::string heading(const Explanation& explanation) const {
    const bool several = std::any_of(
        explanations_.begin(), explanations_.end(),
        [&](const Explanation& other) { return other.device.backend != explanation.device.backend; });
    const std::string rung = label_of(*explanation.setting.spec);
    return (several ? explanation.device.backend + " " : "") + (rung.empty() ? "" : rung + " ") +
           explanation.name();
  }

  const Explanations& explanations_;
  Table table_;
};

std::string extent_text(const Extent& extent) {
  return std::to_string(extent[0]) + " x " + std::to_string(extent[1]) +
         (extent[2] > 1 ? " x " + std::to_string(extent[2]) : "");
}

void add_resources(Rows& rows) {
  rows.add("work-items of a work-group", [](const Explanation& e) { return extent_text(e.local); });
  rows.add("registers of a work-item", [](const Explanation& e) {
    return e.artefacts.registers() ? std::to_string(*e.artefacts.registers()) : "";
  });
  rows.add("spilled, of a work-item", [](const Explanation& e) {
    return e.artefacts.spilled() ? bytes_text(*e.artefacts.spilled()) : "";
  });
  rows.add("local memory of a work-group", [](const Explanation& e) { return bytes_text(e.local_bytes); });
  rows.add("work-groups on a multiprocessor", [](const Explanation& e) {
    return e.resident_groups() ? std::to_string(*e.resident_groups()) : "";
  });
  rows.add("warps on a multiprocessor", [](const Explanation& e) {
    return e.occupancy ? std::to_string(e.occupancy->warps) + " of " + std::to_string(e.occupancy->most_warps)
                       : "";
  });
  rows.add("limited by", [](const Explanation& e) { return e.occupancy ? e.occupancy->limit : ""; });
}

bool is_cpu(const Explanations& explanations) {
  return std::all_of(explanations.begin(), explanations.end(),
                     [](const Explanation& e) { return e.device.kind == DeviceKind::cpu; });
}

// Each row counts a kind in an iteration, and then for each multiply-add.
void add_mix(Rows& rows, bool cpu) {
  rows.add("main loop, from", [](const Explanation& e) { return e.artefacts.language; });
  rows.add("instructions in it",
           [](const Explanation& e) { return e.loop ? number(e.loop->mix.instructions()) : ""; });
  for (std::size_t i = 0; i < kinds; ++i) {
    const Kind kind = static_cast<Kind>(i);
    rows.add("  " + title_of(kind, cpu), [&](const Explanation& e) -> std::string {
      if (!e.loop || e.loop->mix[kind].instructions == 0.0) {
        return "";
      }
      const double count = e.loop->mix[kind].instructions;
      return number(count) + "  " + format("%.4f", count / e.loop->mix[Kind::multiply_add].instructions);
    });
  }
  rows.add("values in a multiply-add", [&](const Explanation& e) {
    const double values =
        e.loop ? e.loop->mix.multiply_adds / e.loop->mix[Kind::multiply_add].instructions : 1.0;
    return values > 1.0 ? number(values) : "";
  });
}

// The figure of that name, if the list has it.
template <typename Named>
const Named* find(const std::vector<Named>& list, const std::string& name) {
  const auto found = std::ranges::find(list, name, &Named::name);
  return found == list.end() ? nullptr : &*found;
}

void add_roofline(Rows& rows) {
  for (const std::string name : {"local memory", "first cache", "loads", "shared cache", "memory"}) {
    rows.add("FLOP per byte, " + name, [&](const Explanation& e) {
      const Level* level = find(e.roofline.levels, name);
      return level ? number(level->flops_per_byte) : "";
    });
  }
  for (const std::string name : {"multiply-adds", "tensor cores", "vector width", "instructions",
                                 "loads, stores and shuffles", "loads", "stores", "shared cache", "memory"}) {
    rows.add("bound by " + name + ", GFLOP/s", [&](const Explanation& e) {
      const Bound* bound = find(e.roofline.bounds, name);
      return bound ? format("%.1f", bound->flops / giga) : "";
    });
  }
}

std::string percent(double share) { return share > 0.0 ? format("%.1f", 100.0 * share) : ""; }

// Kernels that split their operands into terms spend their time on products and on promoting sums.
void add_tensor_cores(Rows& rows) {
  rows.add("products of split terms for each product",
           [](const Explanation& e) { return e.products > 0 ? std::to_string(e.products) : ""; });
  rows.add("promotion, percent of the products' clocks",
           [](const Explanation& e) { return percent(e.promotion()); });
  rows.add("tensor cores' rate in use, percent",
           [](const Explanation& e) { return percent(e.tensor_utilisation()); });
}

// There are times of steps where a plan has several.
void add_step_times(Rows& rows, const Explanations& explanations) {
  std::vector<std::string> names;
  for (const Explanation& explanation : explanations) {
    for (const StepTime& step : explanation.step_times) {
      if (std::find(names.begin(), names.end(), step.name) == names.end()) {
        names.push_back(step.name);
      }
    }
  }
  for (const std::string& name : names) {
    rows.add("time of " + name + ", us", [&](const Explanation& e) {
      const StepTime* step = find(e.step_times, name);
      return step ? format("%.1f", 1e6 * step->seconds) : "";
    });
  }
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
  std::string text = name + format(" reaches %.1f GFLOP/s", e.speed() / giga);
  text += format(", %.0f percent", 100.0 * e.speed() / bound->flops);
  text += format(" of its bound of %.1f, set by ", bound->flops / giga) + bound->name;
  if (bound->name == "instructions") {
    text += format(" (%.0f percent of those in the main loop are multiply-adds)", 100.0 * share);
  }
  return text + ".";
}

// Two explanations are distinguished most by the kind whose number for each multiply-add changes most.
std::string difference(const Explanation& a, const Explanation& b) {
  if (!a.loop || !b.loop) {
    return "";
  }
  const auto ratio = [](const Explanation& e, Kind kind) {
    return e.loop->mix[kind].instructions / e.loop->mix[Kind::multiply_add].instructions;
  };
  Kind most = Kind::local_load;
  for (std::size_t i = 1; i < kinds; ++i) {
    const Kind kind = static_cast<Kind>(i);
    if (std::abs(ratio(a, kind) - ratio(b, kind)) > std::abs(ratio(a, most) - ratio(b, most))) {
      most = kind;
    }
  }
  std::string text;
  if (a.speed() > 0.0 && b.speed() > 0.0) {
    text = b.name() + format(" is %.2f times as fast as ", b.speed() / a.speed()) + a.name() + ". ";
  }
  if (std::abs(ratio(a, most) - ratio(b, most)) < 5e-4) {
    return text + "Their main loops have the same mix of instructions.\n";
  }
  return text + format("Most changed: %.3f ", ratio(b, most)) +
         title_of(most, a.device.kind == DeviceKind::cpu) +
         format(" for each multiply-add instead of %.3f.", ratio(a, most)) + "\n";
}

}  // namespace

std::string explain_text(const Explanations& explanations) {
  const Explanation& first = explanations.front();
  std::string text = first.device.name + " through " + first.device.runtime +
                     "\nM=" + std::to_string(first.problem.m) + " N=" + std::to_string(first.problem.n) +
                     " K=" + std::to_string(first.problem.k) +
                     "; of instructions: how many in an iteration, and for each multiply-add\n";
  Rows rows(explanations);
  add_resources(rows);
  add_mix(rows, is_cpu(explanations));
  add_roofline(rows);
  add_tensor_cores(rows);
  rows.add("measured, GFLOP/s",
           [](const Explanation& e) { return e.speed() > 0.0 ? format("%.1f", e.speed() / giga) : ""; });
  add_step_times(rows, explanations);
  text += rows.text() + "\n";
  for (const Explanation& explanation : explanations) {
    text += sentence(explanation) + "\n";
    if (explanation.loop && !explanation.artefacts.missing.empty()) {
      text += "(" + explanation.artefacts.missing + ")\n";
    }
  }
  return text + (explanations.size() == 2 ? difference(explanations[0], explanations[1]) : "");
}

}  // namespace duogemm::bench
