"""Hold what the programs of `experiments/` have in common, and, a folder each, the stages of the long ones.

A program parses its options, reads what is asked (`read_inputs`), refuses what cannot be used before a model is loaded
(`Start`), loads its subject, begins its run, and puts the stages of one study one after the other:

    inputs = read_inputs(options)                      # questions, panel, splits
    start = Start("my_program", options)               # the run's folder is checked
    model = start.load_subject(options)                # threads, weights
    with start.begin(notes, model) as run:             # the folder, with identity, device and threads
        with run.stage("asking"):
            ...

The studies are imported from their own names (`from onedial.studies.sweep import ...`): they need torch, and a program
that prints its help or refuses a table does not wait for it.
"""
