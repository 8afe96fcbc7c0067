# R's own examples of what it solves by LAPACK, and large systems: each expression whose value is that in a file is said to pass. The first run
# writes the file. Usage: large_systems.R FILE. See scripts/check-drop-in.
large <- expression(
  n <- 400, A <- matrix(rnorm(n * n), n) + 20 * diag(n), S <- crossprod(A), x <- rep(1, n),
  solve(A, A %*% x), solve(A) %*% A, det(A / 20), determinant(S), rcond(A), kappa(A, exact = TRUE), solve(S) %*% S,
  R <- chol(S), crossprod(R), chol2inv(R) %*% S, backsolve(R, x), chol(S - 2e3 * diag(n)), solve(matrix(1, n, n)),
  chol(diag(n), pivot = TRUE), solve(A + 0i) %*% A)
topics <- c("solve", "chol2inv", "det", "chol", "kappa", "backsolve", "qr")
examples <- lapply(topics, function(t) parse(text = utils::example(t, "base", character.only = TRUE, give.lines = TRUE)))
examples <- c(setNames(examples, topics), list(large = large))
options(warn = -1)
values <- list()
for (topic in names(examples)) for (k in seq_along(examples[[topic]])) {
  if (k == 1) set.seed(1)
  values[[paste(topic, k)]] <- list(tryCatch(eval(examples[[topic]][[k]], globalenv()), error = conditionMessage))
}

file <- commandArgs(TRUE)[1]
if (!file.exists(file)) saveRDS(values, file)
before <- readRDS(file)
for (name in names(values)) {
  same <- all.equal(before[[name]], values[[name]], tolerance = 1e-5)
  cat(if (isTRUE(same)) "passed" else "FAILED", name, if (!isTRUE(same)) same, "\n")
}
