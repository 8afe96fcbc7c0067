#include "plugin/program.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>

extern char** environ;

namespace lasolve::plugin {

std::vector<char*> argv_of(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  return arguments;
}

pid_t start(const std::vector<std::string>& words, const Streams& streams, const sigset_t* blocked) {
  const std::vector<char*> arguments = argv_of(words);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (const auto& [from, to] :
       {std::pair(streams.in, STDIN_FILENO), {streams.out, STDOUT_FILENO}, {streams.error, STDERR_FILENO}})
    if (from != to) posix_spawn_file_actions_adddup2(&files, from, to);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  if (blocked)
    posix_spawnattr_setsigmask(&attributes, blocked), posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t process = -1;
  const int error = posix_spawnp(&process, arguments[0], &files, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error == 0 ? process : (errno = error, -1);
}

int wait_for(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

int exit_code_of(pid_t process) {
  if (process < 0) return -1;
  const int status = wait_for(process);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

io::Descriptor in_memory(std::string_view bytes, const char* name) {
  io::Descriptor file(memfd_create(name, MFD_CLOEXEC));
  while (file.is_open() && !bytes.empty()) {
    const ssize_t count = write(file.number(), bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) return {};
    if (count > 0) bytes.remove_prefix(std::size_t(count));
  }
  if (file.is_open()) lseek(file.number(), 0, SEEK_SET);
  return io::Descriptor(file.release());
}

Answer run(const std::vector<std::string>& words, std::string_view input, bool shows_errors) {
  const io::Descriptor in = in_memory(input), out = in_memory(""), nothing(open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (!in.is_open() || !out.is_open()) return {-1, ""};
  Answer answer{
      exit_code_of(start(words, {in.number(), out.number(), shows_errors ? STDERR_FILENO : nothing.number()})), ""};
  std::array<char, 1 << 16> some;
  lseek(out.number(), 0, SEEK_SET);
  for (ssize_t count; (count = read(out.number(), some.data(), some.size())) > 0;)
    answer.output.append(some.data(), std::size_t(count));
  return answer;
}

}  // namespace lasolve::plugin
