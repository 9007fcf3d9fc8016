// What the dynamic linker has loaded into this process.
#pragma once

#include <string>
#include <vector>

namespace duogemm::blas {

// The files of all shared libraries, this one included, in the order in which they were loaded.
std::vector<std::string> loaded_libraries();

// The file of this library, as loaded_libraries() names it.
std::string this_library();

// The function of that name in a library that is loaded, or in what it needs; null where there is none.
void* find_in_loaded(const std::string& file, const char* name);

}  // namespace duogemm::blas
