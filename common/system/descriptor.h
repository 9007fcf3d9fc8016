// An open file, and reads and writes that do not stop half-way.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string_view>
#include <utility>

namespace duogemm {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  bool is_open() const { return number_ >= 0; }
  int get() const { return number_; }
  // Some file systems say only here that the disk is full.
  bool close() { return is_open() && ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

// Calls `transfer(done)` until `size` bytes are done; false when it fails or comes to an end before.
template <typename Transfer>
bool transfer_all(std::size_t size, Transfer transfer) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t count = transfer(done);
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (count == 0 || errno != EINTR) {
      return false;
    }
  }
  return true;
}

inline bool write_all(const Descriptor& file, std::string_view bytes) {
  return transfer_all(bytes.size(), [&](std::size_t done) {
    return ::write(file.get(), bytes.data() + done, bytes.size() - done);
  });
}

}  // namespace duogemm
