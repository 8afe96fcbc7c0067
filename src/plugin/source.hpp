// Kernels as source files: compiled when they are named, and begun by `lasolve new-kernel`.
#pragma once

#include <string>
#include <vector>

namespace lasolve::plugin {

enum class Language { none, c, cpp, cuda };
/// By the end of a file's name.
Language language_of(const std::string& file);

/// Compiles a source of C or C++ as make does, with $CC or $CXX, $CFLAGS or $CXXFLAGS, $LDFLAGS and $LDLIBS, for this machine, and with
/// -fopenmp where it, or a file beside it that it includes, has a pragma of OpenMP and no flag speaks of that; and one of
/// CUDA by nvcc (own/nvcc.hpp), with $NVCCFLAGS, $CUDAFLAGS and the latter two, for a device of that compute capability, 10·major +
/// minor; 0: there is none. It finds lasolve/kernel.h. What the compiler says goes to standard error. The library's path is returned,
/// which is in memory, and there for this process and for those that it starts. Throws io::InputError where the compiler fails, and
/// MachineError without one.
struct Compiled {
  std::string library;
  std::vector<std::string> command;  ///< without the folder that it was compiled in
};
Compiled compiled(const std::string& source, int capability = 0);

/// What a compiler calls itself, with its version: the first line that it prints for --version. Empty: it prints none.
std::string version_of(const std::string& compiler);

/// A kernel to begin with, right and simple, for a file of that name: in CUDA, or in C and C++ alike.
std::string starting_point(const std::string& file);

}  // namespace lasolve::plugin
