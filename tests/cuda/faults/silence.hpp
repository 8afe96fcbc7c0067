// What is printed, kept from the terminal.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

namespace lasolve::test::faults {

/// While this lives, what is printed goes to the file "said".
class Silence {
 public:
  Silence() {
    flush();
    for (const int stream : {1, 2}) kept_[stream - 1] = dup(stream);
    const int file = open("said", O_CREAT | O_TRUNC | O_WRONLY, 0600);
    for (const int stream : {1, 2}) dup2(file, stream);
    close(file);
  }
  ~Silence() {
    flush();
    for (const int stream : {1, 2}) dup2(kept_[stream - 1], stream), close(kept_[stream - 1]);
  }

 private:
  static void flush() { std::fflush(stdout), std::fflush(stderr); }
  int kept_[2];
};

}  // namespace lasolve::test::faults
