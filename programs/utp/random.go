package main

// #include <stdlib.h>
import "C"

// seedRandom gives a seed to the C library's rand(). libutp draws from it: the number of the connection, then that of the
// first packet. It never gives one itself.
func seedRandom(seed uint32) {
	C.srand(C.uint(seed))
}
