// The elements of matrices: one list, which all that is instantiated for each of them walks.
#pragma once

#include "lasolve/cpp20.hpp"
#if __cplusplus >= 201709L
/// X(type): of systems that solve(), Factorization and all that stands on them take.
#define LASOLVE_ELEMENTS(X) X(double) X(float)
#endif
