# Writes OUTPUT: C++ that defines FUNCTION(), which HEADER declares, in NAMESPACE, with the text of FILES (relative to ROOT); and
# build_tunables() where there are TUNABLES (NAME=VALUE).
set(entries "")
foreach(file IN LISTS FILES)
  file(READ ${ROOT}/${file} text)
  string(APPEND entries "    {\"${file}\", R\"duogemm(${text})duogemm\"},\n")
endforeach()
set(definitions "std::span<const EmbeddedFile> ${FUNCTION}() { return files; }\n")
set(arrays "constexpr EmbeddedFile files[] = {\n${entries}};\n")
if(TUNABLES)
  set(tunables "")
  foreach(tunable IN LISTS TUNABLES)
    string(REPLACE "=" ";" pair "${tunable}")
    list(GET pair 0 name)
    list(GET pair 1 value)
    string(APPEND tunables "    {\"${name}\", ${value}},\n")
  endforeach()
  string(APPEND arrays "\nconstexpr std::pair<std::string_view, int> tunables[] = {\n${tunables}};\n")
  string(APPEND definitions
         "std::span<const std::pair<std::string_view, int>> build_tunables() { return tunables; }\n")
endif()
file(WRITE ${OUTPUT} "#include \"${HEADER}\"

namespace ${NAMESPACE} {
namespace {

${arrays}
}  // namespace

${definitions}
}  // namespace ${NAMESPACE}
")
