// A table of functions for each element.
#pragma once

#include "lasolve/elements.hpp"

namespace lasolve {

template <template <class> class Table, class... T>
struct Tables : Table<T>... {};

#define LASOLVE_AND(T) , T
template <template <class> class Table>
using OfEachElement = Tables<Table LASOLVE_ELEMENTS(LASOLVE_AND)>;
#undef LASOLVE_AND

}  // namespace lasolve
