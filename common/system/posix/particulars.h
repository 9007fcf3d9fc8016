// What POSIX leaves to each system: common/system/linux/ and common/system/macos/ have these.
#pragma once

#include <cstdint>
#include <filesystem>

#include "system/folders.h"

namespace duogemm {

struct Stack {
  std::uintptr_t begin;
  std::uintptr_t end;
};

// The calling thread's; all addresses where the system does not tell.
Stack own_stack();

// The entries of this process's environment, and a null pointer.
char** environment_entries();

// A pipe whose ends no program that is started gets. False, with errno, where there can be none.
bool make_pipe(int (&ends)[2]);

// The folder, in a user's own, of such files.
std::filesystem::path folder_in_home(UserFolder kind);

}  // namespace duogemm
