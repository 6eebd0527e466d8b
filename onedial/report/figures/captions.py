"""What each figure is called, and what a reader should look at in it. `{...}` is filled in by the figure."""

TITLES = {
    "comparison_numbers": "The numbers of each run",
    "comparison_dose": "Dose-response of each run",
    "comparison_agreement": "Agreement of each run with each target",
    "question_map": "Every question along the dial",
    "rates_by_group": "Yes rate by level and topic",
    "margin_histogram": "Margins at three settings",
    "magnitude_threshold": "Magnitude against threshold",
    "dose_response": "Dose-response",
    "agreement": "Agreement per target",
    "kappa": "Kappa per target",
    "layer_map": "Where the dial works",
    "dial_path": "The dial's path through the factor",
    "criteria": "Magnitude against threshold, by each criterion",
    "rivals": "What does as well without steering?",
    "prediction": "How much is predicted?",
    "controls": "Would any push do?",
    "reasoned": "Answers after reasoning",
    "side_effects": "What the dial does besides",
}

CAPTIONS = {
    "prediction": (
        "By how many bits per test question each source predicts the targets better than their yes rates alone, with "
        "95% intervals over questions, over topics where there are ten; small points, from left to right of size, by "
        "10, 20 and 50 of their answers. The dotted line is what the other base models' answers to the very questions "
        "predict, the most that one shared scale could. Empty: trained on the target's own answers."
    ),
    "side_effects": (
        "Accuracy on unrelated yes/no facts with its 95% interval, and the share of facts that were right before and "
        "are wrong after; below, what the dial does to neutral text: KL of the next token, and perplexity. Shaded: "
        "beyond the usable range, where accuracy has fallen by more than the limit. A target there can be met only at "
        "that price."
    ),
    "reasoned": (
        "Above, the yes rates of the same questions at the same settings, read from the first token and after the "
        "subject has written its reasons, with 95% intervals, and the share of texts that hold no clear yes or no. "
        "Below, each question's place in either order: on the dotted line the dial turns it as early in both. A dial "
        "that moves the first token alone leaves the reasoned points where they were."
    ),
    "comparison_numbers": (
        "Each number with its 95% interval over the questions of its own run. Intervals that overlap do not show that "
        "two runs are equal: the table of pairs compares them question by question, which is sharper."
    ),
    "comparison_dose": (
        "Yes rates over each run's own test questions, against the push in median residual norms of its model, so that "
        "vectors of different lengths share an axis. A steeper curve needs less push; one that stays away from 0 or 1 "
        "does not reach targets there. The dotted line marks the unsteered subjects."
    ),
    "comparison_agreement": (
        "Targets that two runs or more have, from rarely yes (top) to nearly always yes (bottom), each at the "
        "magnitude that the run chose for it, with 95% intervals. Runs over the same questions are compared "
        "more sharply by the paired test in the table of targets."
    ),
    "question_map": (
        "Each row is a question, each column a setting of the dial: purple where the subject says yes, orange where it "
        "says no, stronger the larger its margin, grey where it could not be read. If the dial moved a cut on the "
        "difficulty that the panel shares, the border between the colours would be one clean curve from top left to "
        "bottom right; a ragged border says how much of the subject's order is its own. The dotted line marks the "
        "subject without steering."
    ),
    "rates_by_group": (
        "The share of yes among the questions of each level and of each topic, over all questions of the run that "
        "could be read. Curves side by side: the dial treats them alike but for their difficulty. A curve that "
        "crosses the others marks questions that the dial moves for another reason. Levels and topics of under "
        "{fewest} questions have none; of many topics the highest and the lowest are named, the others say their name "
        "when pointed at."
    ),
    "margin_histogram": (
        "The margins of the test questions at the settings whose yes rates are nearest to .1, .5 and .9 (largest and "
        "smallest margins are gathered in the outer bars). A dial that moves a cut shifts the whole heap; one that "
        "changes its shape or pulls it together reorders questions or leaves the subject undecided between them."
    ),
    "magnitude_threshold": (
        "Each point is a target: how often it says yes (its threshold) against its place on the dial, where the "
        "steered subject's order of the questions is cut as the target cuts it, by maximum likelihood over fitting "
        "and test questions; bars are 95% intervals, and the line weighs both errors. Look at R² only beside what "
        "chance gives (the median with the questions shuffled). A line alone shows little: any dial that moves the "
        "yes rate puts targets that say yes more often at higher places, whether or not it says yes to the right "
        "questions."
    ),
    "criteria": (
        "Each point is a target: its threshold, and the magnitude that the criterion chooses for it on the fitting "
        "questions. R² over the targets of status ok (filled), and in brackets its median with the panel's rows "
        "permuted. A line alone shows little: any dial that moves the yes rate puts targets that say yes more often at "
        "higher magnitudes."
    ),
    "dose_response": (
        "Above: the share of questions to which the steered subject says yes, with a 95% band for the test questions; "
        "the dotted line marks the subject without steering. The curve should rise without falling back and reach "
        "every tick at the right edge, each of which is a target. Below: the probability that the subject puts on any "
        "yes or no at all (thick), and the share of answers that could not be read (thin). Where the mass sinks "
        "towards the floor of {floor} (grey line), steering breaks the answer rather than moves it."
    ),
    "dose_response_controls": (
        "Grey: the test questions along {n} directions of equal length that were not made from yes and no, as far as "
        "the vector itself was swept; within that, a yes rate of one half is reached by {crossing}. A grey line that "
        "stays flat says that a push of this size does not turn the answers by itself; one that rises beside the "
        "vector's would have moved the yes rate as well. Whether it also turns the right answers, 'Would any push do?' "
        "says."
    ),
    "agreement": (
        "Targets from rarely yes (top) to nearly always yes (bottom). A circle right of its diamond: steering agrees "
        "with the target more often than always giving the target's more frequent answer does. A circle right of its "
        "tick: more often than the unsteered subject with its cut moved. Near the top and the bottom the majority "
        "answer is nearly always right, so high agreement there shows nothing. Hollow: left out of the verdict; the "
        "target's status in the table says why."
    ),
    "kappa": (
        "Agreement beyond what two independent answerers with these yes rates would reach: 0 is chance, 1 is every "
        "answer alike. Look at how many intervals lie wholly to the right of 0, and how far from 1 they stay. "
        "Targets from rarely yes (top) to nearly always yes (bottom). Hollow: left out of the verdict."
    ),
    "layer_map": (
        "Share of yes on the fitting questions for each layer and magnitude. A layer that can serve as a dial goes "
        "from dark to light in one direction, within a short stretch and without crosses (cells where more than "
        "{limit} of the answers could not be read). The axis is logarithmic but for its middle. Framed: the layer that "
        "was chosen, over the range that was then swept. No target was looked at to choose it."
    ),
    "dial_path": (
        "The steered subject as one more respondent on the panel's shared scale: its threshold and its loading at "
        "every setting, with a 95% band for the loading; numbers at its ends are magnitudes. Points are the "
        "targets, each placed by the answers of the other base models, with standard errors; a thin line leads to "
        "the tick where the dial is by the same answers, off the drawn path, which rests on all targets. A dial that "
        "only moves the threshold runs level; where it falls, its answers follow the shared difficulty "
        "less. A target above or below the end of its line follows that difficulty more or less closely than the dial "
        "does at the same threshold."
    ),
    "rivals": (
        "Every account that puts the questions in an order without steering, cut at each target's yes rate and scored "
        "as the dial is (shaded: the dial's 95% interval). Filled: one order for all targets, like a dial; the best of "
        "these says how far one order can get. Hollow: an order for each target, learnt from its own answers, which "
        "may know more than any one dial can. Intervals are over questions; paired differences stand in the table."
    ),
    "controls": (
        "Directions that were not made from yes and no, each as long as the vector (star) and with a range of its own. "
        "Left: turned by a small push; right of the line: never from a yes rate of .1 to one of .9. High: an order "
        "that fits the targets better than the subject's unsteered margin. Where the dial is a moved cut, only the "
        "push tells directions apart. A control beside the star would have done as well."
    ),
}
