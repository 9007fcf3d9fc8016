#include "shader/translator.h"

#include <algorithm>
#include <iterator>

#include "source/parser.h"
#include "source/preprocess.h"

namespace duogemm::webgpu {

int width_of(const TypeName& type) {
  static const std::map<std::string, int> widths = {
      {"float", 1}, {"float2", 2}, {"float4", 4}, {"float8", 8}, {"float16", 16}};
  const auto found = widths.find(type.base);
  return found == widths.end() ? 0 : found->second;
}

Integer::Type integer_type_of(const TypeName& type) {
  return type.base == "uint"                            ? Integer::Type::of_uint
         : type.base == "long" || type.base == "size_t" ? Integer::Type::of_long
                                                        : Integer::Type::of_int;
}

Translator::Translator(const Program& program, const Function& kernel, std::vector<Uses> uses)
    : program_(program), kernel_(kernel), uses_(std::move(uses)), at_(kernel.at) {}

Shader Translator::shader() {
  for (const auto& [name, value] : program_.constants) {
    scopes_.front()[name] = {Integer(constant(value))};
  }
  for (std::size_t d = 0; d < work_items_.size(); ++d) {
    if (kernel_.work_group.size() != work_items_.size()) {
      refuse("the kernel does not state its work-group's size");
    }
    work_items_[d] = constant(kernel_.work_group[d]);
  }
  scopes_.emplace_back();
  take_parameters();
  run(kernel_.body);

  Shader made{kernel_.name, head(), work_items_, 0, builtins_.contains("lane"), numbers_, {}};
  for (const std::string& line : writer_.lines()) {
    made.text += line + "\n";
  }
  made.text += "}\n";
  for (const Object& local : locals_) {
    made.local_bytes += sizeof(float) * static_cast<std::size_t>(local.count * local.width);
  }
  for (const Object& buffer : buffers_) {
    made.buffers.push_back({buffer.name, uses_[buffer.uses].written});
  }
  return made;
}

void Translator::take_parameters() {
  for (const auto& [type, name] : kernel_.parameters) {
    if (!type.pointer) {
      add_numbers(type, name);
      continue;
    }
    if (width_of(type) == 0) {
      refuse("the argument " + name + " points to " + type.base + "; WebGPU's kernels take floats");
    }
    uses_.resize(std::max(uses_.size(), declared_ + 1));
    buffers_.push_back({Object::Kind::buffer, writer_.module_name(name), width_of(type), 0, declared_++});
    scopes_.back()[name] = {Pointer{buffers_.back(), 0, width_of(type)}};
  }
}

// A kernel's numbers are four bytes each.
bool Translator::is_number_of_fp32(const TypeName& type, const std::string& name) const {
  if (type.pointer || width_of(type) > 1) {
    refuse("the argument " + name + ", which is no number");
  }
  return width_of(type) == 1;
}

// The members of a struct are numbers of their own, in the order of the file.
void Translator::add_numbers(const TypeName& type, const std::string& name) {
  const auto structure = program_.structures.find(type.base);
  if (structure == program_.structures.end()) {
    const bool is_real = is_number_of_fp32(type, name);
    numbers_.push_back({name, is_real, sizeof(float)});
    const Text text{"numbers." + name};
    fixed_.insert(text.text);
    scopes_.back()[name] = {is_real ? Value(Real{1, {text}})
                                    : Value(Integer(text).as(integer_type_of(type)))};
    return;
  }
  const auto add_members = [&](const auto& self, const Structure& members,
                               const std::string& prefix) -> void {
    for (const Member& member : members) {
      const auto inner = program_.structures.find(member.type.base);
      if (inner == program_.structures.end()) {
        numbers_.push_back({prefix + member.name, is_number_of_fp32(member.type, member.name),
                            member.type.base == "long" ? sizeof(std::int64_t) : sizeof(float)});
        fixed_.insert("numbers." + prefix + member.name);
      } else {
        self(self, inner->second, prefix + member.name + "_");
      }
    }
  };
  add_members(add_members, structure->second, "");
  scopes_.back()[name] = {Record{&structure->second, ""}};
}

std::string Translator::head() const {
  std::string text = builtins_.contains("lane") ? "enable subgroups;\n\n" : "";
  text += "struct Numbers {\n";
  for (const auto& [name, is_real, host_bytes] : numbers_) {
    text += "  " + name + ": " + (is_real ? "f32" : "i32") + ",\n";
  }
  text += "}\n@group(0) @binding(0) var<uniform> numbers: Numbers;\n";
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const Object& buffer = buffers_[i];
    text += "@group(0) @binding(" + std::to_string(i + 1) + ") var<storage, " +
            (uses_[buffer.uses].written ? "read_write" : "read") + "> " + buffer.name + ": array<" +
            type_name(unit_of(buffer)) + ">;\n";
  }
  for (const Object& local : locals_) {
    const int unit = unit_of(local);
    text += "var<workgroup> " + local.name + ": array<" + type_name(unit) + ", " +
            std::to_string(local.count * local.width / unit) + ">;\n";
  }
  static const std::map<std::string, std::string> builtins = {
      {"local_id", "@builtin(local_invocation_id) local_id: vec3u"},
      {"group_id", "@builtin(workgroup_id) group_id: vec3u"},
      {"groups", "@builtin(num_workgroups) groups: vec3u"},
      {"global_id", "@builtin(global_invocation_id) global_id: vec3u"},
      {"lane", "@builtin(subgroup_invocation_id) lane: u32"}};
  std::string parameters;
  for (const std::string& each : builtins_) {
    parameters += (parameters.empty() ? "" : ", ") + builtins.at(each);
  }
  return text + "\n@compute @workgroup_size(" + std::to_string(work_items_[0]) + ", " +
         std::to_string(work_items_[1]) + ", " + std::to_string(work_items_[2]) + ")\nfn " + kernel_.name +
         "(" + parameters + ") {\n";
}

Shader translate(const std::string& text, const Tunables& tunables) {
  const Program program = parse(preprocess(text, tunables));
  const auto is_kernel = [](const auto& named) { return named.second.kernel; };
  const auto kernel = std::ranges::find_if(program.functions, is_kernel);
  if (kernel == program.functions.end()) {
    throw Error(Status::build_failed, "there is no kernel in the text to translate");
  }
  const auto other = std::find_if(std::next(kernel), program.functions.end(), is_kernel);
  if (other != program.functions.end()) {
    fail(other->second.at, "not translated to WGSL: more than one kernel");
  }
  Translator first(program, kernel->second, {});
  first.shader();
  return Translator(program, kernel->second, first.uses()).shader();
}

}  // namespace duogemm::webgpu
