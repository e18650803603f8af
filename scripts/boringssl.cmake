# How BoringSSL, below quiche, is compiled: without debugging information, and by clang, which controllers in BPF need
# anyway. That takes a third less time; what is slow in it is assembly.
set(CMAKE_C_COMPILER clang)
set(CMAKE_CXX_COMPILER clang++)
set(CMAKE_ASM_COMPILER clang)
set(CMAKE_C_FLAGS_RELEASE_INIT -g0)
set(CMAKE_CXX_FLAGS_RELEASE_INIT -g0)
