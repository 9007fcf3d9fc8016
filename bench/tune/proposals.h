// Which settings a search looks at next: first the seeds, then children of those that are the best of a
// probe.
#pragma once

#include "tune/field.h"

namespace duogemm::bench {

class Proposals {
 public:
  Proposals(std::vector<Field>& fields, Random& random) : fields_(fields), random_(random) {}

  struct Proposal {
    Field* field;
    SharedSetting setting;
  };
  // Up to `count`, of each field in turns; none when everything has been proposed.
  std::vector<Proposal> next(std::size_t count);

 private:
  SharedSetting propose(Field& field);
  SharedSetting breed(Field& field);
  std::optional<Tunables> draw(const Field& field, const SettingSpace& space, const TriedSetting& parent);
  const SharedSetting* parent(const Field& field);
  bool hopeless(const Field& field, const TriedSetting& setting);
  bool is_new(const Field& field, const TriedSetting& setting);

  std::vector<Field>& fields_;
  Random& random_;
  std::size_t turn_ = 0;  // whose the next proposal is
  std::set<std::string> proposed_;
};

// A setting this many times slower than the best, over all probes, is of no use, and so are its neighbours.
inline constexpr double hopeless_quality = 2.0;

}  // namespace duogemm::bench
