"""What W&B wrote offline, read back record by record, without W&B's own reader."""

import json
import struct
import time

BLOCK, HEADER = 32768, 7
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4


def records_of(path):
    """Every record of a .wandb file: LevelDB's log format, after 7 bytes of W&B's own."""
    from wandb.proto.wandb_internal_pb2 import Record

    data = path.read_bytes()
    assert data[:4] == b":W&B"
    position, pending = 7, b""
    while position + HEADER <= len(data):
        left = BLOCK - position % BLOCK
        if left < HEADER:
            position += left
            continue
        _, length, kind = struct.unpack("<IHB", data[position : position + HEADER])
        if position + HEADER + length > len(data):
            return  # still being written
        pending += data[position + HEADER : position + HEADER + length]
        position += HEADER + length
        if kind in (FULL, LAST):
            yield Record.FromString(pending)
            pending = b""


def complete_records(path, seconds=30):
    """The records once the last of them, `exit`, is there: W&B's service writes on for a moment after the run."""
    give_up = time.monotonic() + seconds
    while time.monotonic() < give_up:
        records = list(records_of(path))
        if records and records[-1].WhichOneof("record_type") == "exit":
            return records
        time.sleep(0.1)
    raise TimeoutError(f"{path} has no end after {seconds} s")


def items_of(message):
    """Key-value items of a history, summary or config record as a dict; nested keys are joined by dots."""
    return {item.key or ".".join(item.nested_key): json.loads(item.value_json) for item in message}


def history_of(records):
    """Every logged step as a dict, its step under `_step`."""
    return [
        items_of(record.history.item) | {"_step": record.history.step.num}
        for record in records
        if record.WhichOneof("record_type") == "history"
    ]


def artifacts_of(records):
    """Type -> artifact, of every one that was logged."""
    result = {}
    for record in records:
        if record.WhichOneof("record_type") == "artifact":
            result[record.artifact.type] = record.artifact
        elif record.WhichOneof("record_type") == "request" and record.request.HasField("log_artifact"):
            result[record.request.log_artifact.artifact.type] = record.request.log_artifact.artifact
    return result


def start_of(records):
    """The first record of the run itself."""
    return next(record.run for record in records if record.WhichOneof("record_type") == "run")
