# What R's lavaan, psych, GPArotation and polycor make of small simulated matrices: fit of one factor, rotations,
# Schmid-Leiman loadings and omega, polychoric correlations.
#
#   Rscript scripts/make_structure_references.R tests/reference
#
# Needs the Debian packages r-cran-lavaan, r-cran-psych, r-cran-gparotation, r-cran-polycor (lavaan 0.6.14, psych 2.2.9,
# GPArotation 2022.10.2, polycor 0.8.1 when the files were made).
suppressMessages({library(lavaan); library(psych); library(GPArotation); library(polycor)})
folder <- commandArgs(trailingOnly = TRUE)[1]
write_matrix <- function(x, name) write.csv(signif(x, 15), file.path(folder, paste0(name, ".csv")), quote = FALSE, na = "")
write_data <- function(x, name) write.csv(x, file.path(folder, paste0(name, "_X.csv")), row.names = FALSE, na = "")
quietly <- function(expression) suppressMessages(suppressWarnings({capture.output(value <- expression); value}))

# Fit of one factor to answers with a second one beside it, with and without gaps.
set.seed(31)
n <- 600; m <- 8
shared <- rnorm(n); other <- rnorm(n)
loading <- seq(.5, .8, length.out = m)
beside <- ifelse(1:m <= 4, .5, 0)
cut <- c(-.6, .5, -.3, .2, .6, -.5, .1, -.1)
x <- sapply(1:m, function(i) as.integer(
  loading[i] * shared + beside[i] * other + sqrt(1 - loading[i]^2 - beside[i]^2) * rnorm(n) > cut[i]))
gaps <- x
gaps[matrix(runif(n * m) < .15, n)] <- NA
measures <- c("chisq", "df", "chisq.scaled", "baseline.chisq.scaled", "cfi.scaled", "rmsea.scaled",
              "rmsea.ci.lower.scaled", "rmsea.ci.upper.scaled", "srmr")
found <- sapply(list(complete = x, gaps = gaps), function(answers) {
  answers <- as.data.frame(answers)
  names(answers) <- sprintf("r%d", 1:m)
  fit <- quietly(cfa(paste("f =~", paste(names(answers), collapse = " + ")), answers, ordered = names(answers),
                     std.lv = TRUE, estimator = "WLSMV", missing = "pairwise"))
  c(fitMeasures(fit, measures), lambda = inspect(fit, "std")$lambda[, 1])
})
colnames(gaps) <- sprintf("r%d", 1:m)
write_data(gaps, "fit")
write_matrix(found[, "gaps", drop = FALSE], "fit_lavaan")

# Rotations of three correlated factors, from a correlation matrix known exactly.
pattern <- rbind(cbind(c(.8, .7, .6, .75), 0, 0), cbind(.1, c(.7, .65, .8, .6), 0), cbind(0, .15, c(.75, .6, .7, .65)))
between <- matrix(c(1, .5, .4, .5, 1, .45, .4, .45, 1), 3)
r <- pattern %*% between %*% t(pattern)
set.seed(32)
noise <- matrix(rnorm(144, sd = .02), 12); r <- r + (noise + t(noise)) / 2
diag(r) <- 1
dimnames(r) <- list(sprintf("r%d", 1:12), sprintf("r%d", 1:12))
write_matrix(r, "rotation_r")
plain <- unclass(quietly(fa(r, 3, rotate = "none", fm = "minres"))$loadings)
write_matrix(plain, "rotation_none")
write_matrix(unclass(varimax(plain, normalize = TRUE, eps = 1e-12)$loadings), "rotation_varimax")
tilted <- oblimin(plain, eps = 1e-7, maxit = 10000)
write_matrix(cbind(unclass(tilted$loadings), tilted$Phi[rep(1:3, length.out = 12), ]), "rotation_oblimin")

# Categories: polychoric by psych and polycor, with gaps.
set.seed(33)
n <- 500; m <- 5
z <- rnorm(n)
loading <- c(.8, .7, .6, .75, .5)
latent <- sapply(1:m, function(i) loading[i] * z + sqrt(1 - loading[i]^2) * rnorm(n))
cuts <- list(c(-1, -.2, .5, 1.2), c(-.5, .4), c(-1.2, -.4, .3, 1), c(.3), c(-.8, 0, .9))
x <- sapply(1:m, function(i) findInterval(latent[, i], cuts[[i]]))
continuous <- .6 * z + .8 * rnorm(n)
x[matrix(runif(n * m) < .1, n)] <- NA
colnames(x) <- sprintf("r%d", 1:m)
write_data(cbind(x, continuous = continuous), "graded")
two_step <- diag(m)
for (i in 1:m) {
  if (i > 1) for (j in 1:(i - 1)) two_step[i, j] <- two_step[j, i] <- polychor(table(x[, i], x[, j]))
}
dimnames(two_step) <- list(colnames(x), colnames(x))
write_matrix(two_step, "graded_polycor")
write_matrix(quietly(polychoric(x, smooth = FALSE, correct = 0, global = FALSE))$rho, "graded_psych_pairwise")
write_matrix(quietly(polychoric(x, smooth = FALSE, correct = .5, global = FALSE))$rho, "graded_psych_half")
# psych sets global to FALSE unless all have the same number of categories
write_matrix(quietly(polychoric(x[, c(1, 3)], smooth = FALSE, correct = 0, global = TRUE))$rho, "graded_psych_global")
