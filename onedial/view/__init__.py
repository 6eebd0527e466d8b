"""One page that lists the runs of a folder, each with its headline and a link to its report."""
