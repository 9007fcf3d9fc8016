"""What can go wrong. Every exception of the package is a duogemm.Error."""


class Error(Exception):
    """What all exceptions of this package have in common."""


class ArgumentError(Error, ValueError):
    """An argument has the right type and a wrong value: sizes, strides, an overlap, a device. Nothing was written."""


class ArrayTypeError(Error, TypeError):
    """An operand is no array that can be multiplied, or not of float32. Nothing was written."""


class DeviceError(Error, RuntimeError):
    """The device, driver or build cannot serve a right request. The result is not to be relied upon."""


for _error in (Error, ArgumentError, ArrayTypeError, DeviceError):
    _error.__module__ = __package__  # in tracebacks they go by the names that programs know
