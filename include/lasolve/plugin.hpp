// Kernels of somebody's own as backends, for programs that embed the library.
#pragma once

#include "lasolve/cpp20.hpp"
#if __cplusplus >= 201709L
#include <string>

#include "lasolve/kernel.h"
#include "lasolve/lasolve.hpp"

namespace lasolve {
inline namespace LASOLVE_ABI {

/// The backend of a kernel that lasolve/kernel.h describes, to be given as Options::gemm: what the kernel leaves out of the contract is done
/// around its calls. It is there until the process ends. `name`: what reports call it; empty: what the record does. Throws
/// std::invalid_argument with what is wrong with the record.
GemmChoice backend_of(const lasolve_kernel&, const std::string& name = {});

/// That of the kernel in a shared library. The library is loaded for good, and before that in a process of its own, which it may crash. The kernel
/// is not tried: `lasolve try-kernel` does that. Throws std::invalid_argument with what is wrong with the file.
GemmChoice load_kernel(const std::string& library, const std::string& name = {});

}  // namespace LASOLVE_ABI
}  // namespace lasolve
#endif
