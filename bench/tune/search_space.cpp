#include "tune/search_space.h"

#include <algorithm>
#include <cmath>

#include "families/kernel_source.h"
#include "problem/precision.h"
#include "problem/rounding.h"

namespace duogemm::bench {
namespace {

struct Size {
  std::int64_t m, n, k, batch = 1;
};

// Squares, few rows or columns, short sums, long sums, and batches, down to tiny ones.
constexpr Size sizes[] = {
    {64, 64, 64},        {128, 128, 128},    {192, 192, 192},    {256, 256, 256},    {384, 384, 384},
    {512, 512, 512},     {768, 768, 768},    {1024, 1024, 1024}, {1536, 1536, 1536}, {2048, 2048, 2048},
    {3072, 3072, 3072},  {4096, 4096, 4096}, {4, 4096, 4096},    {4096, 4, 4096},    {16, 4096, 4096},
    {4096, 16, 4096},    {64, 4096, 1024},   {4096, 64, 1024},   {768, 512, 3072},   {65536, 32, 128},
    {32, 65536, 128},    {4096, 4096, 64},   {1024, 512, 48},    {16, 16, 262144},   {64, 64, 65536},
    {256, 256, 16384},   {16, 16, 16, 8192}, {24, 24, 24, 8192}, {40, 40, 40, 4096}, {64, 64, 64, 1024},
    {128, 128, 64, 256}, {512, 512, 64, 64}, {4096, 1024, 4},    {8, 24, 4, 16384},  {12, 4, 32, 8192},
};

// These are where splitting K helps most, once more without it.
constexpr Size whole_sizes[] = {
    {128, 128, 128},  {256, 256, 256},  {512, 512, 512},   {1024, 1024, 1024}, {4, 4096, 4096},
    {4096, 4, 4096},  {16, 4096, 4096}, {4096, 16, 4096},  {64, 4096, 1024},   {4096, 64, 1024},
    {768, 512, 3072}, {64, 64, 4096},   {256, 256, 16384},
};

// Lengths and depths of skinny ones.
constexpr Size skinny_sizes[] = {
    {64, 0, 64},    {1024, 0, 1024}, {4096, 0, 4096}, {16384, 0, 4096},    {65536, 0, 64},
    {262144, 0, 8}, {8, 0, 262144},  {256, 0, 16384}, {128, 0, 2048, 256},
};

// Sizes of random problems, uniform in their logarithms, and how many in 100 have them.
struct SizeRange {
  double least, most;
};
struct RandomKind {
  const char* name;
  int often;
  SizeRange m, n, k, batch = {1, 1};
};
constexpr RandomKind random_kinds[] = {
    {"mid", 28, {32, 512}, {32, 512}, {32, 512}},
    {"any", 20, {16, 4096}, {16, 4096}, {16, 4096}},
    {"large", 10, {512, 8192}, {512, 8192}, {512, 8192}},
    {"rows", 8, {1, 64}, {256, 1 << 20}, {16, 1 << 16}},
    {"columns", 8, {256, 1 << 20}, {1, 64}, {16, 1 << 16}},
    {"long", 6, {1, 512}, {1, 512}, {2048, 1 << 22}},
    {"short", 8, {128, 16384}, {128, 16384}, {1, 96}},
    {"batch", 8, {16, 512}, {16, 512}, {16, 512}, {8, 1024}},
    {"tiny", 4, {2, 64}, {2, 64}, {2, 64}, {1024, 65536}},
};

constexpr int most_attempts = 5000;

// At least 0 and less than 1, alike with every compiler.
double uniform(Random& random) { return std::ldexp(static_cast<double>(random() >> 11), -53); }

std::int64_t size_in(const SizeRange& range, Random& random) {
  return std::llround(range.least * std::pow(range.most / range.least, uniform(random)));
}

std::size_t below(std::size_t end, Random& random) {
  return std::uniform_int_distribution<std::size_t>(0, end - 1)(random);
}

std::ptrdiff_t index_of(const TunableDeclaration& tunable, int value) {
  return std::ranges::find(tunable.allowed, value) - tunable.allowed.begin();
}

}  // namespace

std::string OperandKind::name() const {
  return ops + (wide ? " wide" : " narrow") + (skinny == 0 ? "" : " skinny " + std::to_string(skinny)) +
         (precision == Precision::fp32 ? "" : std::string(" ") + to_text(precision));
}

std::vector<OperandKind> operand_kinds(Precision precision) {
  std::vector<OperandKind> kinds;
  for (const std::int64_t columns : {1, 4}) {
    for (const bool wide : {true, false}) {
      kinds.push_back({"NN", wide, columns, precision});
      kinds.push_back({"TN", wide, columns, precision});
    }
  }
  for (const char* ops : {"NN", "NT", "TN", "TT"}) {
    kinds.push_back({ops, true, 0, precision});
    kinds.push_back({ops, false, 0, precision});
  }
  return kinds;
}

std::vector<NamedShape> random_shapes(std::uint64_t seed, std::size_t count, Precision precision) {
  constexpr std::size_t most_bytes = std::size_t{1} << 30;
  constexpr const char* ops[] = {"NN", "NN", "NT", "TN", "TN", "TT"};  // of a forward pass and its gradients
  Random random(seed);
  std::vector<NamedShape> shapes;
  while (shapes.size() < count) {
    double draw = 100.0 * uniform(random);
    const RandomKind& kind = *std::ranges::find_if(
        random_kinds, [&](const RandomKind& each) { return (draw -= each.often) < 0.0; });
    const bool whole = uniform(random) < 0.5;
    const auto size = [&](const SizeRange& range) {
      const std::int64_t any = size_in(range, random);
      return whole && any >= 8 ? round_up(any - 3, 8) : any;
    };
    const std::int64_t m = size(kind.m), n = size(kind.n), k = size(kind.k);
    const std::int64_t batch = size_in(kind.batch, random);
    Problem problem = packed_problem(m, n, k, ops[static_cast<std::size_t>(6.0 * uniform(random))], batch);
    problem.precision = precision;
    if (sizeof(float) * static_cast<std::size_t>(batch * (m * k + k * n + m * n)) <= most_bytes) {
      shapes.push_back({kind.name + std::to_string(shapes.size()), problem});
    }
  }
  return shapes;
}

Problem make_problem(const OperandKind& kind, std::int64_t m, std::int64_t n, std::int64_t k,
                     std::int64_t batch) {
  // No two wide columns share 32 bytes, so that edges run the same program as the other probes.
  const auto leading = [](std::int64_t rows, bool wide) { return wide ? round_up(rows, 8) : rows | 1; };
  Problem problem = Problem::packed(m, n, k);
  problem.precision = kind.precision;
  problem.a_op = kind.ops[0] == 'T' ? Transpose::yes : Transpose::no;
  problem.b_op = kind.ops[1] == 'T' ? Transpose::yes : Transpose::no;
  problem.lda = leading(problem.a_rows(), kind.wide);
  problem.ldb = leading(problem.b_rows(), kind.wide);
  problem.ldc = leading(problem.m, kind.wide);
  problem.batch = batch;
  if (batch > 1) {
    problem.a_stride = problem.a_elements();
    problem.b_stride = problem.b_elements();
    problem.c_stride = problem.c_elements();
  }
  return problem;
}

std::vector<NamedShape> make_probes(const OperandKind& kind) {
  std::vector<NamedShape> probes;
  const auto add = [&](const Size& size, Reproducibility level, std::int64_t less) {
    if (kind.precision != Precision::fp32 && level == Reproducibility::everywhere) {
      return;  // that is not allowed
    }
    const std::int64_t columns = kind.skinny == 0 ? size.n - less : kind.skinny;
    Problem p = make_problem(kind, size.m - less, columns, size.k - less, size.batch);
    p.level = level;
    probes.push_back({std::to_string(p.m) + "x" + std::to_string(p.n) + "x" + std::to_string(p.k) +
                          (p.batch == 1 ? "" : " by " + std::to_string(p.batch)) +
                          (level == Reproducibility::everywhere ? " everywhere" : ""),
                      p});
  };
  const std::int64_t less = kind.wide ? 0 : 1;
  if (kind.skinny != 0) {
    for (const Size& size : skinny_sizes) {
      add(size, Reproducibility::run_to_run, less);
      add(size, Reproducibility::everywhere, less);
    }
    return probes;
  }
  for (const Size& size : sizes) {
    add(size, Reproducibility::run_to_run, less);
  }
  if (!kind.wide) {
    add({1, 4095, 4095}, Reproducibility::run_to_run, 0);
    add({4095, 1, 4095}, Reproducibility::run_to_run, 0);
  }
  for (const Size& size : whole_sizes) {
    add(size, Reproducibility::everywhere, less);
  }
  return probes;
}

std::vector<Problem> edge_problems(const OperandKind& kind) {
  const std::int64_t less = kind.wide ? 0 : 1;
  const auto columns = [&](std::int64_t size) { return kind.skinny == 0 ? size - less : kind.skinny; };
  Problem several = make_problem(kind, 300 - less, columns(276), 203);
  several.alpha = -1.5f;
  several.beta = 0.5f;
  return {several, make_problem(kind, 20 - less, columns(12), 7)};
}

SettingSpace::SettingSpace(const KernelSpec& spec, const Tunables& fixed, const DeviceInfo& device)
    : spec_(spec), device_(device), fixed_(fixed) {
  for (const TunableDeclaration& tunable : load_kernel(spec.path).tunables) {
    if (!fixed.contains(tunable.name)) {
      open_.push_back(tunable);
    }
  }
}

// Changes `from` until it is another that keeps the rules.
template <typename Change>
std::optional<Tunables> SettingSpace::draw(const Tunables& from, const Change& change) const {
  for (int i = 0; i < most_attempts && !open_.empty(); ++i) {
    Tunables drawn = from;
    change(drawn);
    if (drawn != from && legal(drawn)) {
      return drawn;
    }
  }
  return std::nullopt;
}

std::optional<Tunables> SettingSpace::sample(Random& random) const {
  return draw(fixed_, [&](Tunables& drawn) {
    for (const TunableDeclaration& tunable : open_) {
      drawn[tunable.name] = tunable.allowed[below(tunable.allowed.size(), random)];
    }
  });
}

std::optional<Tunables> SettingSpace::mutate(const Tunables& from, Random& random) const {
  return draw(from, [&](Tunables& drawn) {
    const std::size_t changes = 1 + below(3, random);  // the third for rules that couple tunables
    for (std::size_t i = 0; i < changes; ++i) {
      // Three times in four to a neighbouring value.
      const TunableDeclaration& tunable = open_[below(open_.size(), random)];
      const std::size_t count = tunable.allowed.size();
      std::size_t to = below(count, random);
      if (below(4, random) != 0) {
        const auto now = static_cast<std::size_t>(index_of(tunable, drawn.at(tunable.name)));
        to = std::min(below(2, random) == 0 ? now + 1 : now - std::min<std::size_t>(now, 1), count - 1);
      }
      drawn[tunable.name] = tunable.allowed[to];
    }
  });
}

std::optional<Tunables> SettingSpace::cross(const Tunables& one, const Tunables& other,
                                            Random& random) const {
  return draw(one, [&](Tunables& drawn) {
    for (const TunableDeclaration& tunable : open_) {
      if (below(2, random) == 0) {
        drawn[tunable.name] = other.at(tunable.name);
      }
    }
  });
}

std::optional<Tunables> SettingSpace::adopt(const Tunables& from) const {
  Tunables adopted = fixed_;
  for (const TunableDeclaration& tunable : open_) {
    const auto found = from.find(tunable.name);
    adopted[tunable.name] =
        found != from.end() && tunable.allows(found->second) ? found->second : tunable.standard;
  }
  return legal(adopted) ? std::optional(adopted) : std::nullopt;
}

double SettingSpace::distance(const Tunables& one, const Tunables& other) const {
  double sum = 0.0;
  for (const TunableDeclaration& tunable : open_) {
    const auto steps = index_of(tunable, one.at(tunable.name)) - index_of(tunable, other.at(tunable.name));
    sum += std::abs(static_cast<double>(steps)) / static_cast<double>(tunable.allowed.size());
  }
  return sum;
}

bool SettingSpace::legal(const Tunables& tunables) const {
  return keeps_rules(spec_, tunables) && !unsupported_reason(spec_, tunables, device_);
}

}  // namespace duogemm::bench
