# Writes OUTPUT: C++ with the texts of FILES (relative to ROOT), and which devices each speaks of.
set(entries "")
foreach(file IN LISTS FILES)
  file(READ ${ROOT}/${file} text)
  set(target "")
  foreach(member IN ITEMS backend kind name)
    string(JSON value GET "${text}" device ${member})
    string(APPEND target "\"${value}\", ")
  endforeach()
  foreach(member IN ITEMS compute_capability vector_floats)
    string(JSON value GET "${text}" device ${member})
    string(APPEND target "${value}, ")
  endforeach()
  string(APPEND entries "    {\"${file}\", {${target}}, R\"duogemm(${text})duogemm\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"plan/tuning.h\"

namespace duogemm {

std::span<const EmbeddedTuning> embedded_tunings() {
  static const EmbeddedTuning tunings[] = {
${entries}};
  return tunings;
}

}  // namespace duogemm
")
