# Writes OUTPUT: C++ with the text of FILES (relative to ROOT), in pieces that every compiler takes as one literal.
set(entries "")
foreach(file IN LISTS FILES)
  file(READ ${ROOT}/${file} text)
  string(APPEND entries "    {\"${file}\", R\"duogemm(${text})duogemm\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"tuning.h\"

namespace duogemm {
namespace {

const EmbeddedTuning tunings[] = {
${entries}};

}  // namespace

std::span<const EmbeddedTuning> embedded_tunings() { return tunings; }

}  // namespace duogemm
")
