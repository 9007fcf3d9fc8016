// The lesser of two numbers, also where a constant is wanted, such as the length of an array.
#define LEAST(a, b) ((a) < (b) ? (a) : (b))
