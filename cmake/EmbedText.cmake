# Writes OUTPUT: C++ with the text of FILES (relative to ROOT) and the TUNABLES (NAME=VALUE) that the build chose.
set(entries "")
foreach(file IN LISTS FILES)
  file(READ ${ROOT}/${file} text)
  string(APPEND entries "    {\"${file}\", R\"duogemm(${text})duogemm\"},\n")
endforeach()
set(tunables "")
foreach(tunable IN LISTS TUNABLES)
  string(REPLACE "=" ";" pair "${tunable}")
  list(GET pair 0 name)
  list(GET pair 1 value)
  string(APPEND tunables "    {\"${name}\", ${value}},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"kernels/kernel_source.h\"

namespace duogemm {
namespace {

constexpr EmbeddedFile files[] = {
${entries}};

constexpr std::pair<std::string_view, int> tunables[] = {
${tunables}};

}  // namespace

std::span<const EmbeddedFile> embedded_files() { return files; }
std::span<const std::pair<std::string_view, int>> build_tunables() { return tunables; }

}  // namespace duogemm
")
