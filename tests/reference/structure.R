# What R's lavaan makes of the fit of one factor to a small simulated matrix.
#
#   Rscript tests/reference/structure.R tests/reference
#
# Needs the Debian package r-cran-lavaan (0.6.14 when the file was made).
suppressMessages(library(lavaan))
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
