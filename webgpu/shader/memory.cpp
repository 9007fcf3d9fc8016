// Loads and stores are of elements of an object, in the units that the object has in WGSL.
#include <algorithm>

#include "shader/translator.h"

namespace duogemm::webgpu {
namespace {

// Tells whether the name stands in the text, with or without a member.
bool mentions(const std::string& text, const std::string& name) {
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const std::string after = text.substr(at + name.size(), 1);
    if (after.empty() || after == "." || !is_name(after)) {
      return true;
    }
  }
  return false;
}

}  // namespace

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
  if (units_per_part == 1) {
    std::vector<std::string> places;
    for (int part = 0; part < static_cast<int>(value.parts.size()); ++part) {
      places.push_back(element(to.object, first + Integer(part)));
    }
    write_parts(places, value);
    return;
  }
  const std::vector<std::string> names = names_of_parts(value);
  for (int part = 0; part < static_cast<int>(value.parts.size()); ++part) {
    const std::string& whole = names[static_cast<std::size_t>(part)];
    for (int i = 0; i < units_per_part; ++i) {
      const std::string some = unit == 1 ? std::string(1, "xyzw"[i]) : i == 0 ? "xy" : "zw";
      writer_.line(element(to.object, first + Integer(part * units_per_part + i)) + " = " + whole + "." +
                   some + ";");
    }
  }
}

std::string Translator::named(const Text& part) {
  std::string made = writer_.name("whole");
  writer_.declare("let " + made + " = " + part.text + ";");
  return made;
}

// All are named before the first is stored, because a later one may be made of what is stored over.
std::vector<std::string> Translator::names_of_parts(const Real& value) {
  std::vector<std::string> names;
  for (const Text& part : value.parts) {
    names.push_back(is_name(part.text) ? part.text : named(part));
  }
  return names;
}

// The parts are named first only where a later one is made of what is stored over.
void Translator::write_parts(const std::vector<std::string>& places, const Real& value) {
  bool overlap = false;
  for (std::size_t i = 1; i < places.size(); ++i) {
    for (std::size_t earlier = 0; earlier < i; ++earlier) {
      overlap =
          overlap || mentions(value.parts[i].text, places[earlier].substr(0, places[earlier].find('[')));
    }
  }
  std::vector<std::string> texts;
  for (const Text& part : value.parts) {
    texts.push_back(overlap ? named(part) : part.text);
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    writer_.line(places[i] + " = " + texts[i] + ";");
  }
}

// vload4() of what does not begin at a multiple of its width reads floats, one after the other.
Real Translator::load_vector(const Pointer& first, int width) {
  Real result{width, {}};
  for (int i = 0; i < width; i += result.part_width()) {
    std::string parts;
    for (int j = 0; j < result.part_width(); ++j) {
      const Pointer from{first.object, first.offset + Integer(i + j), 1};
      parts += (j == 0 ? "" : ", ") + load(from).parts.front().text;
    }
    result.parts.push_back({type_name(width) + "(" + parts + ")"});
  }
  return result;
}

// vstore4() writes floats, one after the other.
void Translator::store_vector(const Pointer& first, const Real& value) {
  const std::vector<std::string> names = names_of_parts(value);
  for (int i = 0; i < value.width; ++i) {
    const std::string& part = names[static_cast<std::size_t>(i / 4)];
    store({first.object, first.offset + Integer(i), 1},
          {1, {{value.width == 1 ? part : part + "." + "xyzw"[i % 4]}}});
  }
}

}  // namespace duogemm::webgpu
