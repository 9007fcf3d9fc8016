#include "shader/writer.h"

#include <algorithm>

namespace duogemm::webgpu {
namespace {

// Names that C allows and WGSL does not, and those of WGSL that the translator uses itself.
const std::set<std::string> reserved = {
    "alias",     "array",     "as",        "become", "bool",       "cast",       "catch",     "class",
    "common",    "compile",   "concept",   "delete", "demote",     "diagnostic", "discard",   "enable",
    "export",    "f16",       "f32",       "false",  "filter",     "final",      "fma",       "fn",
    "from",      "get",       "global_id", "group",  "group_id",   "groups",     "handle",    "i32",
    "impl",      "import",    "interface", "lane",   "layout",     "let",        "local_id",  "loop",
    "lowp",      "macro",     "match",     "max",    "meta",       "min",        "mod",       "module",
    "move",      "mut",       "namespace", "new",    "nil",        "null",       "numbers",   "of",
    "operator",  "override",  "package",   "pass",   "patch",      "precise",    "precision", "premerge",
    "private",   "protected", "public",    "ref",    "regardless", "require",    "requires",  "resource",
    "select",    "self",      "set",       "shared", "smooth",     "snorm",      "storage",   "subroutine",
    "super",     "target",    "template",  "this",   "throw",      "trait",      "true",      "try",
    "type",      "u32",       "uniform",   "unless", "unorm",      "unsafe",     "use",       "using",
    "var",       "vec2f",     "vec3u",     "vec4f",  "virtual",    "where",      "with",      "workgroup",
    "writeonly", "yield"};

}  // namespace

bool Writer::is_taken(const std::string& name) const {
  return reserved.contains(name) ||
         std::ranges::any_of(scopes_, [&](const Scope& scope) { return scope.names.contains(name); });
}

std::string Writer::name(const std::string& wanted) {
  std::string name = wanted;
  for (int n = 1; is_taken(name); ++n) {
    name = wanted + "_" + std::to_string(n);
  }
  scopes_.back().names.insert(name);
  return name;
}

std::string Writer::array_name(const std::string& wanted, int count) {
  const auto elements = [count](const std::string& name) {
    std::set<std::string> names{name};
    for (int i = 0; i < count; ++i) {
      names.insert(name + "_" + std::to_string(i));
    }
    return names;
  };
  std::string name = wanted;
  for (int n = 1; std::ranges::any_of(elements(name), [&](const auto& each) { return is_taken(each); });
       ++n) {
    name = wanted + "_" + std::to_string(n);
  }
  scopes_.back().names.merge(elements(name));
  return name;
}

std::string Writer::module_name(const std::string& wanted) {
  std::string made = name(wanted);
  scopes_.front().names.insert(made);
  return made;
}

void Writer::declare(const std::string& text) {
  scopes_.back().declares = true;
  line(text);
}

void Writer::open() { scopes_.push_back({{}, lines_.size(), false}); }

void Writer::close(bool has_braces) {
  const auto begin = lines_.begin() + static_cast<std::ptrdiff_t>(scopes_.back().begin);
  if (scopes_.back().declares && !has_braces) {
    const std::string margin(2 * depth_, ' ');
    std::for_each(begin, lines_.end(), [](std::string& each) { each = "  " + each; });
    lines_.insert(begin, margin + "{");
    lines_.push_back(margin + "}");
  }
  scopes_.pop_back();
}

}  // namespace duogemm::webgpu
