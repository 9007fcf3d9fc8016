"""Arrays by shape and by how they are stored, for every kind of array."""

SHAPES = [
    ((33, 17), (17, 29)),
    ((1, 17), (17, 1)),
    ((5,), (5, 7)),
    ((5, 7), (7,)),
    ((9,), (9,)),
    ((3, 5, 7), (7, 4)),
    ((3, 5, 7), (3, 7, 4)),
    ((3, 1, 7), (7, 4)),
    ((5, 7), (3, 7, 4)),
    ((2, 1, 5, 7), (3, 7, 4)),
    ((2, 1, 1, 5, 7), (1, 3, 1, 7, 4)),
    ((2, 3, 5, 7), (2, 1, 7, 4)),
    ((4, 5, 7), (7,)),
    ((0, 7), (7, 4)),
    ((3, 0), (0, 4)),
    ((0, 5, 7), (7, 4)),
]


def wide(array):
    """Columns of a wider array."""
    return array[..., 1:-2]


def transposed(array):
    """The last two dimensions exchanged."""
    return array.swapaxes(-1, -2)


# How an operand is made of another that is contiguous: its shape from that which is wanted, and the view.
STORED = {
    "contiguous": (lambda *shape: shape, lambda array: array),
    "transposed": (lambda *shape: (*shape[:-2], shape[-1], shape[-2]), transposed),
    "columns": (lambda *shape: (*shape[:-1], shape[-1] + 3), wide),
    "rows": (lambda *shape: (*shape[:-2], shape[-1], shape[-2] + 3), lambda array: transposed(wide(array))),
}
