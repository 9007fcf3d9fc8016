// The shared libraries of this process, among which a drop-in library finds those that come after it.
#pragma once

#include <string>
#include <vector>

namespace duogemm {

// The files of all shared libraries, this one included, in the order in which they were loaded.
std::vector<std::string> loaded_libraries();

// The file of this library, as loaded_libraries() names it.
std::string this_library();

// Tells whether the function is one of this library's.
bool is_of_this_library(void* function);

// The function of that name in a library that is loaded, or in what it needs; null where there is none.
void* find_in_loaded(const std::string& file, const char* name);

// The function of that name in the next library in the linker's order, or in one that is loaded for it. Null
// where there is none, or it is this library's: a system may have this one as its libblas.so.3, where a
// search would come back to it.
void* find_in_linkers_order(const char* name);
void* find_by_loading(const char* file, const char* name);

}  // namespace duogemm
