// The compiled programs that the library carries for devices of NVIDIA's. All but loading them needs no
// device.
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "nvrtc_compile.h"
#include "prebuild/program_archive.h"

namespace duogemm::cuda {
namespace {

constexpr int h200 = 90;

// Those of this build.
std::vector<std::string> runtimes() {
  std::vector<std::string> names;
  for (const Backend* backend : backends()) {
    if (backend->has_driver()) {
      names.emplace_back(backend->name());
    }
  }
  return names;
}

// The place of the compute capability in a header's flags differs between versions of the toolkit.
void expect_cubin(const std::string& image, const std::string& entry) {
  SCOPED_TRACE(entry);
  Elf64_Ehdr header{};
  ASSERT_GE(image.size(), sizeof header);
  std::memcpy(&header, image.data(), sizeof header);
  EXPECT_EQ(std::memcmp(header.e_ident, ELFMAG, SELFMAG), 0);
  EXPECT_EQ(header.e_machine, EM_CUDA);
  EXPECT_TRUE((header.e_flags & 0xff) == h200 || (header.e_flags >> 8 & 0xff) == h200) << header.e_flags;
  EXPECT_LE(header.e_shoff + header.e_shnum * std::uint64_t{header.e_shentsize}, image.size());
  EXPECT_NE(image.find(".text." + entry), std::string::npos);
}

TEST(ShippedPrograms, AreThoseOfTheTuningFiles) {
  const std::vector<ShippedProgram> wanted = programs_to_ship(runtimes());
  ASSERT_GT(wanted.size(), 8u);
  ASSERT_EQ(shipped_programs().size(), wanted.size());
  std::set<ProgramKey> keys;
  for (const ShippedProgram& program : wanted) {
    EXPECT_TRUE(keys.insert(program_key(program.source, program.runtime, h200)).second);
    const std::optional<std::string> image = shipped_program(program.source, program.runtime, h200);
    ASSERT_TRUE(image) << program.source.entry;
    expect_cubin(*image, program.source.entry);
  }
}

// The driver takes each of them.
TEST(ShippedPrograms, LoadOnTheDevicesThatTheyAreFor) {
  bool loaded = false;
  for (const Backend* backend : backends()) {
    for (const DeviceInfo& info : backend->devices()) {
      const std::unique_ptr<Device> device = backend->open(info.index, {});
      for (const ShippedProgram& program : programs_to_ship({info.backend})) {
        if (program.compute_capability == info.compute_capability) {
          EXPECT_TRUE(device->find_built(program.source)) << info.backend << " " << program.source.entry;
          loaded = true;
        }
      }
    }
  }
  if (!loaded) {
    GTEST_SKIP() << "no device of theirs was found";
  }
}

TEST(ShippedPrograms, AreWhatIsCompiledAtRunTime) {
  const ProgramSource source = programs_to_ship({"cuda"}).front().source;
  EXPECT_TRUE(shipped_program(source, "cuda", h200) == compile_with_nvrtc(source, h200).image);
}

TEST(ShippedPrograms, AreForExactlyOneTextSettingAndDevice) {
  const ProgramSource source = programs_to_ship({"cuda"}).front().source;
  ASSERT_TRUE(shipped_program(source, "cuda", h200));
  EXPECT_FALSE(shipped_program(source, "cuda", h200 + 10));
  ProgramSource other = source;
  other.text += "\n";
  EXPECT_FALSE(shipped_program(other, "cuda", h200));
  other = source;
  other.defines.front().second += 1000;
  EXPECT_FALSE(shipped_program(other, "cuda", h200));
  other = source;
  other.entry = "other";
  EXPECT_FALSE(shipped_program(other, "cuda", h200));
}

ProgramKey key(std::uint64_t number) { return {number / 10, number % 10}; }

TEST(ProgramArchive, GivesBackWhatItWasMadeOf) {
  std::vector<ArchivedProgram> programs;
  for (const std::uint64_t number : {57u, 3u, 99u, 12u, 50u}) {
    programs.push_back({key(number), std::string(10'000 * number, static_cast<char>(number))});
  }
  programs.push_back({key(1), ""});
  const std::string bytes = make_archive("a compiler", programs);
  const ProgramArchive archive(bytes);
  EXPECT_EQ(archive.compiler(), "a compiler");
  EXPECT_EQ(archive.size(), 6u);
  for (const ArchivedProgram& program : programs) {
    EXPECT_EQ(archive.find(program.key), program.image);
  }
  EXPECT_FALSE(archive.find(key(58)));
  EXPECT_FALSE(archive.find(key(100)));
  EXPECT_LT(bytes.size(), 10000u);
}

TEST(ProgramArchive, IsEmptyWhenItIsNotWhole) {
  const std::string bytes =
      make_archive("a compiler", std::vector<ArchivedProgram>{{key(1), "image"}, {key(2), "another"}});
  EXPECT_EQ(ProgramArchive(bytes).size(), 2u);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(ProgramArchive(std::string_view(bytes).substr(0, size)).size(), 0u) << size;
  }
  std::string other = bytes;
  other[14] = '0';  // the format's version
  EXPECT_EQ(ProgramArchive(other).size(), 0u);
}

}  // namespace
}  // namespace duogemm::cuda
