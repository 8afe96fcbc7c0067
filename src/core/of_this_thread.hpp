// Objects that each thread has one of.
#pragma once

#include <pthread.h>

#include <memory>
#include <new>

#include "core/process.hpp"

namespace lasolve {

/// The T of this thread: made when first asked for, gone with the thread. Not thread_local: where there is no memory to note down its
/// destructor, the process would end. Throws std::bad_alloc, and what T's constructor throws.
template <class T>
T& of_this_thread() {
  constinit static NeverDestroyed<const pthread_key_t> kept;
  const pthread_key_t key = kept.get([] {
    pthread_key_t made;
    if (pthread_key_create(&made, [](void* its) { delete static_cast<T*>(its); }) != 0) throw std::bad_alloc();
    return made;
  });
  if (void* const there = pthread_getspecific(key)) return *static_cast<T*>(there);
  auto made = std::make_unique<T>();
  if (pthread_setspecific(key, made.get()) != 0) throw std::bad_alloc();
  return *made.release();
}

}  // namespace lasolve
