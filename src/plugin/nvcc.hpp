// How a source in CUDA is compiled: by nvcc, so that the kernel keeps the launcher it came with.
#pragma once

#include <string>
#include <vector>

#include "core/cuda_devices.hpp"

namespace lasolve::plugin {

/// The words by which it is called: $CUDACXX, else nvcc where PATH has it, else that of /usr/local/cuda. Empty: there is none.
std::vector<std::string> nvcc();

/// "sm_90a": what is compiled for. A device of capability 9.0 gets 90a where this build is for 90a, so that a plugin kernel can have
/// what those of the box have. Capability 0, no device: the least that lasolve runs on.
std::string architecture_for(int capability, const std::vector<Architecture>& built_for);

/// What it is called with: `sources` to a shared library, for an architecture unless the flags name one.
/// A word of link_flags for the linker, -Wl,x, becomes what nvcc takes.
std::vector<std::string> nvcc_arguments(const std::string& include, const std::string& architecture,
                                        const std::vector<std::string>& flags, const std::vector<std::string>& sources,
                                        const std::string& library, const std::vector<std::string>& link_flags);

/// The words of a variable of the environment, or of what stands for it.
std::vector<std::string> words_in(const char* variable, const char* otherwise = "");

/// A source that goes with each: it has lasolve_plugin_error(), unless the other has.
extern const char* const text_of_plugin_error;

}  // namespace lasolve::plugin
