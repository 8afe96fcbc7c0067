// Vectors of the widest that the instructions of a level have. For sources in folders named `levels` alone, which include it in their
// namespace: all in it has internal linkage. No header of the standard library but <cstdint>, for the same reason.

/// So many elements, as a value and as it lies in memory.
template <class T, int lanes>
struct Packet {
  typedef T Value __attribute__((vector_size(lanes * sizeof(T))));
  typedef T InMemory __attribute__((vector_size(lanes * sizeof(T)), aligned(alignof(T)), may_alias));
};
template <class T>
struct Packet<T, 1> {
  typedef T Value;
  typedef T InMemory;
};

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
constexpr int tile_vectors = 3, tile_columns = 8;  // of a block of C in registers: 24 of 32
#elif defined(__AVX2__)
constexpr int vector_bytes = 32;
constexpr int tile_vectors = 3, tile_columns = 4;  // 12 of 16
#else
constexpr int vector_bytes = 16;
constexpr int tile_vectors = 2, tile_columns = 4;  // 8 of 16, where a product takes one more
#endif
template <class T>
constexpr int widest = vector_bytes / sizeof(T);

template <class T, int lanes>
inline typename Packet<T, lanes>::Value load(const T* from) {
  return *reinterpret_cast<const typename Packet<T, lanes>::InMemory*>(from);
}
template <class T, int lanes>
inline void store(T* to, typename Packet<T, lanes>::Value value) {
  *reinterpret_cast<typename Packet<T, lanes>::InMemory*>(to) = value;
}

constexpr std::int64_t least(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
