// The elements that matrices on the CPU may have: those of all devices, and those that only it factors and solves with.
#pragma once

#include <complex>

#include "lasolve/elements.hpp"

/// X(type), as LASOLVE_ELEMENTS.
#define LASOLVE_COMPLEX_ELEMENTS(X) X(std::complex<double>) X(std::complex<float>)
#define LASOLVE_CPU_ELEMENTS(X) LASOLVE_ELEMENTS(X) LASOLVE_COMPLEX_ELEMENTS(X)
