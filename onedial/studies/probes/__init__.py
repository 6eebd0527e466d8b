"""Study what one model's stream holds: stages that read a `ProbeStudy` and write their tables into its run.

Every part of a stage has one signature, `part(study) -> None`. It reads the activations and what earlier stages wrote,
and writes the tables that are named in its text; one that cannot be done with these inputs writes nothing.
"""
