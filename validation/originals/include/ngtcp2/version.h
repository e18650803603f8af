/* Stands in for the header that ngtcp2's build writes. */
#pragma once
#define NGTCP2_VERSION "as of the source tree"
#define NGTCP2_VERSION_NUM 0
