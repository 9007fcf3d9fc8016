#include "page/ladder_page.h"

#include <zlib.h>

#include <algorithm>
#include <boost/archive/iterators/base64_from_binary.hpp>
#include <boost/archive/iterators/transform_width.hpp>
#include <limits>
#include <optional>
#include <stdexcept>

#include "duogemm/version.h"
#include "page/lines.h"
#include "page/settings.h"
#include "shader/translate.h"
#include "support/format.h"

namespace duogemm::bench {
namespace {

Json to_json(const webgpu::Shader& shader) {
  return {{"name", shader.name},
          {"wgsl", shader.text},
          {"work_items", shader.work_items},
          {"local_bytes", shader.local_bytes},
          {"sub_groups", shader.sub_groups},
          {"numbers", list_of(shader.numbers,
                              [](const auto& number) -> Json {
                                return {{"name", number.name}, {"real", number.real}};
                              })},
          {"buffers", list_of(shader.buffers, [](const auto& buffer) -> Json {
             return {{"name", buffer.name}, {"written", buffer.written}};
           })}};
}

Json supporting_shader(std::string_view name) {
  const KernelSpec& spec = any_kernel(name);
  return to_json(webgpu::translate(kernel_text(spec.path), resolve(spec, {})));
}

// Tunables that make no difference in WGSL, such as asynchronous copies, are left out.
Json variants_of(const Rung& rung) {
  Json variants = Json::array();
  for (const Tunables& tunables : browser_settings(rung)) {
    Json variant = shader_json(rung, tunables);
    if (std::ranges::none_of(variants, [&](const Json& other) { return other["wgsl"] == variant["wgsl"]; })) {
      variants.push_back(std::move(variant));
    }
  }
  return variants;
}

// Says what a rung needs that no browser has, in the words of `duogemm ladder`.
std::optional<std::string> missing_in_browsers(const Rung& rung) {
  constexpr std::size_t any = std::numeric_limits<std::size_t>::max();
  DeviceInfo browser;
  browser.max_work_group = browser.local_bytes = browser.dynamic_local_bytes = any;
  return unsupported_reason(rung, resolve(rung, {}), browser);
}

Json rung_json(const Rung& rung) {
  const std::vector<LadderFile> files = files_of(rung);
  Json json = {{"rung", rung.label},
               {"kernel", rung.name},
               {"idea", rung.idea},
               {"comment", head_comment(files.front())},
               {"excerpts", list_of(lines_that_matter(rung),
                                    [](const Excerpt& excerpt) -> Json {
                                      return {{"title", excerpt.title}, {"text", excerpt.text}};
                                    })},
               {"files", list_of(files,
                                 [](const LadderFile& file) -> Json {
                                   return {{"path", file.path}, {"text", join(file.lines, "\n")}};
                                 })},
               {"tunables", list_of(load_kernel(rung.path).tunables,
                                    [](const TunableDeclaration& tunable) -> Json {
                                      return {{"name", tunable.name}, {"meaning", tunable.meaning}};
                                    })},
               {"row_major", rung.row_major},
               {"transposed_b", rung.transposed_b},
               {"stores_any_size", rung.stores_any_size},
               {"for_cpus", rung.for_cpus}};
  try {
    json["variants"] = variants_of(rung);
  } catch (const Error& error) {
    if (error.status() != Status::unsupported) {
      throw;
    }
    json["unsupported"] = missing_in_browsers(rung).value_or(error.what());
  }
  return json;
}

// The comparison with another sample stands at the end, as in the table of `duogemm ladder`.
Json data() {
  return {{"version", DUOGEMM_VERSION},
          {"rungs", list_of(rungs(), rung_json)},
          {"supporting", supporting_shaders()}};
}

// As a browser's DecompressionStream("deflate") takes it, in base64.
std::string packed(const std::string& text) {
  uLongf size = compressBound(text.size());
  std::string bytes(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(bytes.data()), &size, reinterpret_cast<const Bytef*>(text.data()),
                text.size(), Z_BEST_COMPRESSION) != Z_OK) {
    throw std::runtime_error("the page's data could not be compressed");
  }
  const std::size_t padding = (3 - size % 3) % 3;
  bytes.resize(size + padding);
  using Digits = boost::archive::iterators::base64_from_binary<
      boost::archive::iterators::transform_width<std::string::const_iterator, 6, 8>>;
  std::string digits(Digits(bytes.cbegin()), Digits(bytes.cend()));
  digits.replace(digits.size() - padding, padding, padding, '=');
  return digits;
}

// All files of the page with this ending, in the order of the build.
std::string page_text(std::string_view ending) {
  std::string text;
  for (const EmbeddedFile& file : page_files()) {
    text += file.path.ends_with(ending) ? file.text : "";
  }
  return text;
}

void replace(std::string& page, std::string_view mark, std::string_view text) {
  page.replace(page.find(mark), mark.size(), text);
}

}  // namespace

Json shader_json(const Rung& rung, const Tunables& tunables) {
  Json json = to_json(webgpu::translate(kernel_text(rung.path), tunables));
  const Geometry geometry = work_group_of(rung, tunables);
  const Multiples multiples = rung.multiples(tunables);
  json.update({{"tunables", tunables},
               {"tile", {geometry.groups[0], geometry.groups[1]}},
               {"groups_z", geometry.groups[2]},
               {"multiples", {multiples.m, multiples.n, multiples.k}},
               {"splits", rung.splits(tunables)},
               {"sub_group_multiple", rung.sub_group_multiple(tunables)}});
  return json;
}

Json supporting_shaders() {
  Json shaders;
  for (const char* name : {"reduce", "peak", "bandwidth"}) {
    shaders[name] = supporting_shader(name);
  }
  return shaders;
}

std::string ladder_page() {
  std::string page = page_text(".html");
  replace(page, "/* styles */\n", page_text(".css"));
  replace(page, "/* scripts */\n", page_text(".js"));
  replace(page, "@DATA@", packed(data().dump()));
  return page;
}

}  // namespace duogemm::bench
