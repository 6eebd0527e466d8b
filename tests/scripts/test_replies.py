"""The error rates that docs/reliability.md shows are those of the readers as they are."""

import pandas as pd
import replies


def test_stored_error_rates_are_the_readers():
    stored = pd.read_csv(replies.REPLIES / "errors.csv")
    pd.testing.assert_frame_equal(replies.errors(), stored, check_dtype=False)


def test_an_item_read_wrongly_counts_more_than_one_not_read():
    assert replies.outcome([1, None], [2, 3]) == "misread"
    assert replies.outcome([1, 2], [1, None]) == "false_reading"
    assert replies.outcome(None, [1, 2]) == "unread"
    assert replies.outcome([1, 2], [1, 2]) == ""
