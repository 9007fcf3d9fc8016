#include "system/tools.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "system/environment.h"
#include "system/paths.h"
#include "system/windows/win32.h"

namespace duogemm {
namespace {

// As the C library of the program that is started takes a command line apart: quotes, and backslashes in
// front of one, have a backslash in front.
std::wstring quoted(const std::string& word) {
  std::wstring text = L"\"";
  std::size_t backslashes = 0;
  for (const wchar_t c : to_wide(word)) {
    text.append(c == L'"' ? backslashes + 1 : 0, L'\\').append(1, c);
    backslashes = c == L'\\' ? backslashes + 1 : 0;
  }
  return text.append(backslashes, L'\\') + L"\"";
}

std::wstring command_line(const std::filesystem::path& tool, const std::vector<std::string>& arguments) {
  std::wstring line = quoted(tool.string());
  for (const std::string& argument : arguments) {
    line += L" " + quoted(argument);
  }
  return line;
}

std::wstring environment_block(const std::vector<std::string>& changes) {
  std::wstring block;
  for (const std::string& entry : environment_with(changes)) {
    block.append(to_wide(entry)).append(1, L'\0');
  }
  return block.append(1, L'\0');
}

// Starts it with no other handles than these, so that no other program holds the end of a pipe; null if it
// does not start.
Handle start(const std::filesystem::path& tool, std::wstring line, std::wstring environment, HANDLE out,
             HANDLE errors) {
  std::array<HANDLE, 2> inherited = {out, errors};
  SIZE_T bytes = 0;
  InitializeProcThreadAttributeList(nullptr, 1, 0, &bytes);
  std::string room(bytes, '\0');
  STARTUPINFOEXW startup{};
  startup.StartupInfo.cb = sizeof startup;
  startup.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
  startup.StartupInfo.hStdOutput = out;
  startup.StartupInfo.hStdError = errors;
  startup.lpAttributeList = reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(room.data());
  PROCESS_INFORMATION process{};
  const std::size_t handles = out == errors ? 1 : inherited.size();
  const bool started =
      InitializeProcThreadAttributeList(startup.lpAttributeList, 1, 0, &bytes) != 0 &&
      UpdateProcThreadAttribute(startup.lpAttributeList, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST,
                                inherited.data(), handles * sizeof(HANDLE), nullptr, nullptr) != 0 &&
      CreateProcessW(tool.c_str(), line.data(), nullptr, nullptr, TRUE,
                     EXTENDED_STARTUPINFO_PRESENT | CREATE_UNICODE_ENVIRONMENT, environment.data(), nullptr,
                     &startup.StartupInfo, &process) != 0;
  DeleteProcThreadAttributeList(startup.lpAttributeList);
  const Handle thread(process.hThread);
  return Handle(started ? process.hProcess : nullptr);
}

}  // namespace

std::optional<std::filesystem::path> find_tool(const std::string& name,
                                               const std::filesystem::path& otherwise) {
  std::istringstream folders(environment_path("PATH").value_or("").string() + ";" + otherwise.string());
  for (std::string folder; std::getline(folders, folder, ';');) {
    const std::filesystem::path file = path_of(folder) / (name + ".exe");
    std::error_code unknown;
    if (!folder.empty() && std::filesystem::is_regular_file(file, unknown)) {
      return file;
    }
  }
  return std::nullopt;
}

ToolResult run_tool(const std::filesystem::path& tool, const std::vector<std::string>& arguments,
                    ToolErrors errors, const std::vector<std::string>& environment) {
  ToolResult result{127, {}};
  SECURITY_ATTRIBUTES inheritable{sizeof inheritable, nullptr, TRUE};
  HANDLE ends[2];
  if (CreatePipe(&ends[0], &ends[1], &inheritable, 0) == 0) {
    return result;
  }
  const Handle from(ends[0]);
  Handle to(ends[1]);
  const Handle nowhere(CreateFileW(L"NUL", GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, &inheritable,
                                   OPEN_EXISTING, 0, nullptr));
  HANDLE said = GetStdHandle(STD_ERROR_HANDLE);
  const bool is_shown =
      errors == ToolErrors::show && SetHandleInformation(said, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT) != 0;
  said = is_shown ? said : errors == ToolErrors::keep ? to.get() : nowhere.get();
  const Handle process =
      start(tool, command_line(tool, arguments), environment_block(environment), to.get(), said);
  to.reset();
  if (process) {
    std::array<char, 65536> buffer;
    DWORD count = 0;
    while (ReadFile(from.get(), buffer.data(), static_cast<DWORD>(buffer.size()), &count, nullptr) != 0 &&
           count > 0) {
      result.out.append(buffer.data(), count);
    }
    WaitForSingleObject(process.get(), INFINITE);
    DWORD status = 0;
    result.status =
        GetExitCodeProcess(process.get(), &status) != 0 ? static_cast<int>(status) : result.status;
  }
  return result;
}

}  // namespace duogemm
