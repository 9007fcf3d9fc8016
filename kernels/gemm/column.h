// In which column the element with this number is, when a matrix of `rows` rows and `size` elements is
// numbered down its columns. Division of 64 bits is long: most matrices do not need it.
FUNCTION long
column_of(const long element, const long rows, const long size) {
  return size <= 0xffffffffL ? (long)((uint)element / (uint)rows) : element / rows;
}
