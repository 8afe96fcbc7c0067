// Threads that compute while nobody has called them.
#pragma once

namespace lasolve::bench {

/// How many processors this process keeps busy while the calling thread sleeps: those of threads that somebody left. Takes some
/// milliseconds, of which the first let threads fall asleep that spin for a while after their work, as ours do.
double processors_of_leftover_threads();

}  // namespace lasolve::bench
