#include "c.c"
