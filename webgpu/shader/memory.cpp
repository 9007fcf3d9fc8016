// Loads and stores: which elements of an object they are, in the units that the object has in WGSL.
#include <algorithm>

#include "shader/translator.h"

namespace duogemm::webgpu {

// Arrays in registers have what their declaration says. Others have the narrowest of all accesses.
int Translator::unit_of(const Object& object) const {
  const std::set<int>& widths = uses_[object.uses].widths;
  return object.kind == Object::Kind::array || widths.empty() ? std::min(object.width, 4) : *widths.begin();
}

void Translator::note_access(const Pointer& pointer, bool write) {
  Uses& uses = uses_[pointer.object.uses];
  uses.written = uses.written || write;
  if (pointer.object.kind != Object::Kind::array) {
    uses.widths.insert(std::min(pointer.width, 4));
  } else if (pointer.width != pointer.object.width) {
    refuse("an array in registers is read or written as another type than its own");
  }
}

std::string Translator::element(const Object& object, const Integer& index) {
  if (object.kind == Object::Kind::array) {
    Uses& uses = uses_[object.uses];
    uses.indexed = uses.indexed || !index.known();
    if (!uses.indexed) {
      return object.name + "_" + std::to_string(*index.known());
    }
  }
  return object.name + "[" + index.text().text + "]";
}

Real Translator::load(const Pointer& from) {
  note_access(from, false);
  const int unit = unit_of(from.object);
  Real result{from.width, {}};
  const int units_per_part = result.part_width() / unit;
  const Integer first = (from.width / unit) * from.offset;
  for (int part = 0; part < (from.width + 3) / 4; ++part) {
    std::string parts;
    for (int i = 0; i < units_per_part; ++i) {
      parts += (i == 0 ? "" : ", ") + element(from.object, first + Integer(part * units_per_part + i));
    }
    result.parts.push_back({units_per_part == 1 ? parts : type_name(from.width) + "(" + parts + ")"});
  }
  return result;
}

void Translator::store(const Pointer& to, const Real& value) {
  note_access(to, true);
  const int unit = unit_of(to.object);
  const int units_per_part = value.part_width() / unit;
  const Integer first = (to.width / unit) * to.offset;
  for (int part = 0; part < static_cast<int>(value.parts.size()); ++part) {
    const Text& text = value.parts[static_cast<std::size_t>(part)];
    if (units_per_part == 1) {
      writer_.line(element(to.object, first + Integer(part)) + " = " + text.text + ";");
      continue;
    }
    const std::string whole = writer_.name("whole");
    writer_.declare("let " + whole + " = " + text.text + ";");
    for (int i = 0; i < units_per_part; ++i) {
      const std::string some = unit == 1 ? std::string(1, "xyzw"[i]) : i == 0 ? "xy" : "zw";
      writer_.line(element(to.object, first + Integer(part * units_per_part + i)) + " = " + whole + "." +
                   some + ";");
    }
  }
}

// As vstore4(): into floats, one after the other.
void Translator::store_vector(const Pointer& first, const Real& value) {
  std::vector<std::string> names;
  for (const Text& part : value.parts) {
    names.push_back(is_name(part.text) ? part.text : writer_.name("whole"));
    if (names.back() != part.text) {
      writer_.declare("let " + names.back() + " = " + part.text + ";");
    }
  }
  for (int i = 0; i < value.width; ++i) {
    const std::string& part = names[static_cast<std::size_t>(i / 4)];
    store({first.object, first.offset + Integer(i), 1},
          {1, {{value.width == 1 ? part : part + "." + "xyzw"[i % 4]}}});
  }
}

}  // namespace duogemm::webgpu
