# What R's psych and polycor make of the simulated matrices in tests/reference, and of two small ones made here:
#
#   Rscript tests/reference/psychometrics.R tests/reference
#
# Needs the Debian packages r-cran-psych and r-cran-polycor (psych 2.2.9, polycor 0.8.1 when the files were made).
# Correlations are never smoothed but where the file's name says so.
suppressMessages({library(psych); library(polycor)})
folder <- commandArgs(trailingOnly = TRUE)[1]
write_matrix <- function(x, name) write.csv(signif(x, 15), file.path(folder, name), quote = FALSE, na = "")
quietly <- function(expression) suppressMessages(suppressWarnings({capture.output(value <- expression); value}))

# Factor analysis of the correlations that tests/reference already holds.
for (s in 1:3) {
  r <- as.matrix(read.csv(file.path(folder, sprintf("sim%d_psych_c05_raw_local.csv", s)), row.names = 1))
  # fa factors the matrix that it is given: it smooths only correlations that it estimates itself
  extracted <- function(k) unclass(quietly(fa(r, nfactors = k, rotate = "none", fm = "minres", scores = "none"))$loadings)
  loadings <- cbind(extracted(1), extracted(2))
  colnames(loadings) <- c("one", "two_1", "two_2")
  write_matrix(loadings, sprintf("sim%d_psych_minres.csv", s))
}

# Heavy gaps and extreme yes rates: 8 respondents, 150 questions, a third missing.
set.seed(20)
n <- 150; m <- 8
z <- rnorm(n)
loading <- seq(.5, .9, length.out = m)
cut <- c(-1.8, -1.2, -.6, -.2, .2, .6, 1.2, 1.8)
x <- sapply(1:m, function(i) as.integer(loading[i] * z + sqrt(1 - loading[i]^2) * rnorm(n) > cut[i]))
x[matrix(runif(n * m) < 1 / 3, n)] <- NA
colnames(x) <- sprintf("r%d", 1:m)
write.csv(x, file.path(folder, "gaps_X.csv"), row.names = FALSE, na = "")
for (global in c(TRUE, FALSE)) for (correct in c(0, .5)) {
  rho <- quietly(tetrachoric(x, correct = correct, smooth = FALSE, global = global))$rho
  write_matrix(rho, sprintf("gaps_psych_%s_c%s.csv", if (global) "global" else "pairwise", correct * 10))
}
ml <- diag(m)
for (i in 2:m) for (j in 1:(i - 1)) {
  tab <- table(x[, i], x[, j])
  ml[i, j] <- ml[j, i] <- if (all(dim(tab) == 2) && min(tab) > 0) polychor(tab) else NA
}
dimnames(ml) <- list(colnames(x), colnames(x))
write_matrix(ml, "gaps_polycor_2step.csv")

# Answers and correctness of five respondents, for the regressions and the test of missingness.
said <- sapply(1:5, function(i) as.integer(z * .8 + .6 * rnorm(n) > cut[i + 1]))
right <- sapply(1:5, function(i) as.integer(z * .5 + .8 * rnorm(n) > cut[6 - i]))
gone <- z + rnorm(n) < -.5
said[gone, 1] <- NA
colnames(said) <- colnames(right) <- letters[1:5]
write.csv(said, file.path(folder, "panel_said.csv"), row.names = FALSE, na = "")
write.csv(right, file.path(folder, "panel_right.csv"), row.names = FALSE)
known <- !is.na(said)
confidence <- colSums(said == 1, na.rm = TRUE) / colSums(known)
accuracy <- colSums(right == 1 & known) / colSums(known)
line <- lm(confidence ~ accuracy)
logit <- lm(qlogis(confidence) ~ qlogis(accuracy))
table <- rbind(coef(summary(line)), coef(summary(logit)))
table <- cbind(table, rbind(confint(line), confint(logit)))
rownames(table) <- c("intercept", "slope", "logit_intercept", "logit_slope")
write_matrix(table, "panel_lines.csv")
centred <- sweep(said, 2, confidence)
others <- round(rowMeans(centred[, -1]), 10)  # equal sums are ties, whatever the order of summation
test <- wilcox.test(others[gone], others[!gone], exact = FALSE, correct = TRUE)
quadratic <- summary(lm(loading ~ cut + I(cut^2)))
write_matrix(cbind(value = c(missing_p = test$p.value, quadratic_r2 = quadratic$r.squared)), "panel_values.csv")
