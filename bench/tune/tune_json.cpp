#include "tune/tune_json.h"

#include "problem/precision.h"

namespace duogemm::bench {
namespace {

constexpr const char* schema = "duogemm.tune/1";

Json contest_json(const Contest& contest) {
  const Gain gain = gain_of(contest.timed);
  const bool any = !contest.timed.empty();
  Json json = {{"unchanged", contest.unchanged},
               {"mean", any ? Json(gain.mean) : Json(nullptr)},
               {"worst", any ? Json(gain.worst) : Json(nullptr)},
               {"rows", Json::array()}};
  for (const BeforeAfter& each : contest.timed) {
    json["rows"].push_back({{"label", each.label},
                            {"problem", to_json(each.problem)},
                            {"asked", each.asked},
                            {"before_s", each.before},
                            {"after_s", each.after},
                            {"ratio", each.ratio()}});
  }
  return json;
}

}  // namespace

Json to_json(const TuneReport& report) {
  Json json = dated_head(schema);
  json.update({{"device", to_json(report.device)},
               {"budget_s", report.budget},
               {"seed", report.seed},
               {"precision", to_text(report.precision)},
               {"proposed", report.counts.proposed},
               {"refused", report.counts.refused},
               {"wrong", report.counts.wrong},
               {"timed", report.counts.timed},
               {"written", report.written},
               {"warnings", report.warnings},
               {"compared", contest_json(report.compared)},
               {"held_out", contest_json(report.held_out)}});
  return json;
}

}  // namespace duogemm::bench
