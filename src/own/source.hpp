// Kernels as source files: compiled when they are named, and begun by `lasolve new-kernel`.
#pragma once

#include <string>

namespace lasolve::own {

enum class Language { none, c, cpp, cuda };
/// By the end of a file's name.
Language language_of(const std::string& file);

/// Compiles a source of C or C++ as make does, with $CC or $CXX, $CFLAGS or $CXXFLAGS, $LDFLAGS and $LDLIBS, for this machine; it finds
/// lasolve/kernel.h. What the compiler says goes to standard error. Returns the path of the library, which is in memory, and there
/// for this process and for those that it starts. Throws io::InputError where the compiler fails, and MachineError without one.
std::string compiled(const std::string& source);

/// A kernel to begin with, right and simple, in C and C++ alike, for a file of that name.
std::string starting_point(const std::string& file);

}  // namespace lasolve::own
