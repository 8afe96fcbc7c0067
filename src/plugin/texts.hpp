// Files of the sources that are part of the tool: made by CMake from cmake/texts.cpp.in.
#pragma once

namespace lasolve::plugin {

extern const char* const text_of_lasolve_h;
extern const char* const text_of_kernel_h;
extern const char* const text_of_new_kernel;
extern const char* const text_of_new_kernel_cu;

}  // namespace lasolve::plugin
