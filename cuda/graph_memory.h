// Device memory that CUDA graphs own.
#pragma once

#include <cstddef>
#include <memory>

#include "device/backend.h"
#include "driver.h"

namespace duogemm::cuda {

class DeviceContext;

// What calls keep between their commands while these are captured. A piece of it lives as long as the graph
// that it was lent for, its copies and its executables: all of them hold a user object of the driver's, whose
// end tells that the piece is free (CUDA C++ Programming Guide, "CUDA User Objects"). Any thread may call.
class GraphMemory {
 public:
  GraphMemory();
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

  // So many bytes at least, for what is put on the captured stream as long as the result lives. A later call
  // of the same capture gets the same piece if its commands run after these. Throws out_of_memory.
  std::unique_ptr<Buffer> lend(const std::shared_ptr<const DeviceContext>& context, CUstream stream,
                               std::size_t bytes);

  // Whether there are pieces that no graph has any more.
  bool has_unused() const;
  // Frees them, which waits for the device.
  void free_unused();

 private:
  struct Piece;
  struct Pool;
  class Lent;

  std::shared_ptr<Pool> pool_;  // user objects share it: they may end later than this
};

}  // namespace duogemm::cuda
