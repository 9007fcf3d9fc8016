# Writes OUTPUT: C++ that defines FUNCTION(), which HEADER declares: it finds each of FATBINS by its file name without
# the ending.
set(arrays "")
set(entries "")
foreach(file IN LISTS FATBINS)
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(................................................................................)" "\\1\n"
         bytes "${bytes}")
  string(APPEND arrays "alignas(16) constexpr unsigned char ${name}_fatbin[] = {\n${bytes}};\n\n")
  string(APPEND entries "  if (entry == \"${name}\") {\n    return ${name}_fatbin;\n  }\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"${HEADER}\"

namespace {

${arrays}}  // namespace

std::span<const unsigned char> ${FUNCTION}(std::string_view entry) {
${entries}  return {};
}
")
