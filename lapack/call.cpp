#include "lapack/call.hpp"

#include <string>

namespace lasolve::lapack {

template <class I>
void complain(const char* symbol, const char* routine, bool is_double, int argument, const void* caller) {
  std::string name(1, is_double ? 'D' : 'S');
  for (const char* c = routine; *c; ++c) name += capital(*c);
  // That of dgesv_64_ is xerbla_64_, and that of scipy_dgesv_ is scipy_xerbla_.
  std::string xerbla = symbol;
  xerbla.replace(xerbla.find(routine) - 1, std::string(routine).size() + 1, "xerbla");
  if (void* const found = function_of_others(xerbla.c_str(), caller)) {
    const I k = I(argument);
    return reinterpret_cast<void (*)(const char*, const I*, std::size_t)>(found)(name.c_str(), &k, name.size());
  }
  std::fprintf(stderr, " ** On entry to %6s parameter number %2d had an illegal value\n", name.c_str(), argument);
}
template void complain<std::int32_t>(const char*, const char*, bool, int, const void*);
template void complain<std::int64_t>(const char*, const char*, bool, int, const void*);

}  // namespace lasolve::lapack
