#!/usr/bin/env python3
"""What others take for matrices in pieces on all GPUs, to stand beside sharded.py: PyTorch's DTensor, and cuBLASMp.

    torchrun --nproc-per-node GPUS python/measure/sharded_peers.py FILE [N] [LIBRARY]

LIBRARY is libcublasmp.so.0 of PyPI's nvidia-cublasmp-cu13; without it there is no cuBLASMp.
"""

import ctypes
import os
import sys

import torch
import torch.distributed as distributed
from record import Record, in_turns
from torch.distributed.tensor import DTensor, Shard

ROUNDS = 3
LAYOUTS = {"rows by rows": (0, 0), "rows by columns": (0, 1), "columns by rows": (1, 0)}  # the dimension of a and of b that is spread
FLOATS, PLAIN_FP32, COLUMN_MAJOR = 0, 68, 0  # CUDA_R_32F, CUBLAS_COMPUTE_32F, CUBLASMP_GRID_LAYOUT_COL_MAJOR


def synchronize():
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    distributed.barrier()


def measured(record, case, name, call, size):
    """Each call timed with its waiting, as sharded.py does."""

    def waited():
        call()
        if torch.cuda.is_available():
            torch.cuda.synchronize()

    waited()
    samples = in_turns({name: waited}, ROUNDS, synchronize)[name]
    if distributed.get_rank() == 0:
        record.add(case, name, samples, 2 * size**3)


def spread(mesh, size, dimension):
    shape = [size, size]
    shape[dimension] //= distributed.get_world_size()
    piece = torch.empty(shape, device=mesh.device_type).uniform_(-1, 1)
    return DTensor.from_local(piece, mesh, [Shard(dimension)], run_check=False)


class CublasMp:
    """a @ b of which each rank has rows. cuBLASMp takes matrices by columns, so that it computes the transpose, b' a'."""

    def __init__(self, path, size):
        self.library, self.size = ctypes.CDLL(path), size
        self.piece = size // distributed.get_world_size()
        self.handle, self.grid = ctypes.c_void_p(), ctypes.c_void_p()
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        self.do("Create", ctypes.byref(self.handle), stream)
        ranks = ctypes.c_int64(distributed.get_world_size())
        self.do("GridCreate", ctypes.c_int64(1), ranks, COLUMN_MAJOR, communicator(), ctypes.byref(self.grid))
        self.b_matrix, self.a_matrix, self.c_matrix = (self.matrix(rows) for rows in (size, self.piece, size))
        self.workspace = None

    def do(self, name, *arguments):
        status = getattr(self.library, "cublasMp" + name)(*arguments)
        if status:
            sys.exit(f"cublasMp{name} ended with {status}")

    def matrix(self, rows_of_a_block):
        """Columns are spread. Blocks have so many rows; that of a matters only to how its k meets that of b."""
        matrix, sizes = ctypes.c_void_p(), (self.size, self.size, rows_of_a_block, self.piece, 0, 0, self.size)
        self.do("MatrixDescriptorCreate", *map(ctypes.c_int64, sizes), FLOATS, self.grid, ctypes.byref(matrix))
        return matrix

    def __call__(self, a, b, c):
        one, zero = (ctypes.byref(ctypes.c_float(value)) for value in (1, 0))
        sizes, first = [ctypes.c_int64(self.size)] * 3, ctypes.c_int64(1)
        x, y, z = (ctypes.c_void_p(array.data_ptr()) for array in (b, a, c))
        what = (self.handle, 0, 0, *sizes, one, x, first, first, self.b_matrix, y, first, first, self.a_matrix, zero, z, first, first,
                self.c_matrix, PLAIN_FP32)
        if self.workspace is None:
            bytes_there, bytes_here = ctypes.c_size_t(), ctypes.c_size_t()
            self.do("Gemm_bufferSize", *what, ctypes.byref(bytes_there), ctypes.byref(bytes_here))
            there = torch.empty(bytes_there.value, dtype=torch.uint8, device="cuda")
            here = ctypes.create_string_buffer(max(1, bytes_here.value))
            self.workspace = there, (ctypes.c_void_p(there.data_ptr()), bytes_there, here, bytes_here)
        self.do("Gemm", *what, *self.workspace[1])


def communicator():
    """NCCL's, of all ranks."""
    library, made = ctypes.CDLL("libnccl.so.2"), ctypes.c_void_p()

    class UniqueId(ctypes.Structure):
        _fields_ = [("internal", ctypes.c_byte * 128)]

    unique = UniqueId()
    if distributed.get_rank() == 0:
        library.ncclGetUniqueId(ctypes.byref(unique))
    known = [bytes(unique)]
    distributed.broadcast_object_list(known)
    ranks, rank = distributed.get_world_size(), distributed.get_rank()
    status = library.ncclCommInitRank(ctypes.byref(made), ranks, UniqueId.from_buffer_copy(known[0]), rank)
    if status:
        sys.exit(f"ncclCommInitRank ended with {status}")
    return made


def check(a, b, c):
    """The first two columns of this rank's first row."""
    columns = [torch.empty(b.shape[0], 2, device=b.device) for _ in range(distributed.get_world_size())]
    distributed.all_gather(columns, b[:, :2].contiguous())
    x, y = a[0].double(), torch.cat(columns).double()
    bound = (2 * len(x) ** 0.5 + 4) * 2.0**-24 * (x.abs() @ y.abs())
    if not ((c[0, :2] - x @ y).abs() <= bound).all():
        sys.exit("WRONG")


def main():
    size = int(sys.argv[2]) if len(sys.argv) > 2 else 32768
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    mesh = distributed.init_device_mesh(device, (int(os.environ["WORLD_SIZE"]),))
    name = torch.cuda.get_device_name() if device == "cuda" else "CPU"
    record = Record(f"sharded products of others, n = {size}, {distributed.get_world_size()} devices", name, [torch])
    for case, dimensions in LAYOUTS.items():
        a, b = (spread(mesh, size, dimension) for dimension in dimensions)
        # As rows, which is how duogemm leaves the result.
        measured(record, case, "torch DTensor", lambda: torch.mm(a, b).redistribute(mesh, [Shard(0)]), size)
        if case == "rows by rows" and len(sys.argv) > 3:
            multiply, pieces = CublasMp(sys.argv[3], size), (a.to_local(), b.to_local(), torch.empty_like(a.to_local()))
            measured(record, case, "cuBLASMp", lambda: multiply(*pieces), size)
            check(*pieces)
    if distributed.get_rank() == 0:
        record.write()
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
