// The shared libraries of this process, among which a drop-in library finds those that come after it.
#pragma once

#include <string>
#include <vector>

namespace duogemm {

// The files of all shared libraries, this one included, in the order in which they were loaded.
std::vector<std::string> loaded_libraries();

// The file of the library that the function is in, as loaded_libraries() names it; empty where there is none.
std::string file_of(const void* function);

// This library's.
inline std::string this_library() { return file_of(reinterpret_cast<const void*>(&file_of)); }
inline bool is_of_this_library(const void* function) { return file_of(function) == this_library(); }

// The function, or null where it is this library's.
inline void* unless_ours(void* function) {
  return function == nullptr || is_of_this_library(function) ? nullptr : function;
}

// The function of that name that comes first in the linker's order, or, where a system has none, of any other
// library; null where there is none.
void* find_in_process(const char* name);

// The function of that name in a library that is loaded, or in what it needs; null where there is none.
void* find_in_loaded(const std::string& file, const char* name);

// The function of that name in the next library in the linker's order, or in one that is loaded for it. Null
// where there is none, or it is this library's: a system may have this one as its libblas.so.3, where a
// search would come back to it.
void* find_in_linkers_order(const char* name);
void* find_by_loading(const char* file, const char* name);

}  // namespace duogemm
