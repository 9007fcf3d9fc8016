#include "shader/writer.h"

#include <algorithm>
#include <iterator>
#include <sstream>

namespace duogemm::webgpu {
namespace {

// WGSL has these keywords and reserved words, and the translator uses the others itself.
const std::set<std::string> reserved = [] {
  std::istringstream words(
      "abs abstract active alias alignas alignof array as asm asm_fragment async attribute auto await "
      "become bool break case cast catch class co_await co_return co_yield coherent column_major common "
      "compile compile_fragment concept const const_assert const_cast consteval constexpr constinit "
      "continue continuing crate debugger decltype default delete demote demote_to_helper diagnostic "
      "discard do dynamic_cast else enable enum exp explicit export extends extern external f16 f32 "
      "fallthrough false filter final finally fma fn for friend from fxgroup get global_id goto group "
      "group_id groups groupshared handle highp i32 if impl implements import inline instanceof interface "
      "inverseSqrt lane layout let local_id log loop lowp macro macro_rules match max mediump meta min mod "
      "module move mut mutable namespace new nil noexcept noinline nointerpolation non_coherent noncoherent "
      "noperspective NULL null nullptr Numbers numbers of operator override package packoffset partition "
      "pass patch pixelfragment precise precision premerge priv private protected pub public readonly ref "
      "regardless register reinterpret_cast require requires resource restrict return select Self self set "
      "shared sizeof smooth snorm sqrt static static_assert static_cast std storage storageBarrier struct "
      "subgroupShuffle subroutine super switch target template this thread_local throw trait true try type "
      "typedef typeid typename typeof u32 uniform union unless unorm unsafe unsized use using var varying "
      "vec2f vec3u vec4f virtual volatile wgsl where while with workgroup workgroupBarrier writeonly yield");
  return std::set<std::string>(std::istream_iterator<std::string>(words), {});
}();

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
