"""The members of a zip file, also where they are compressed by Zstandard, which Python 3.11's zipfile cannot read.

Inspect writes its logs so. pyarrow, which is here anyway, knows Zstandard.
"""

import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from onedial.core import LARGEST, InputError, refuse_large

_ZSTANDARD = 93
_LOCAL_HEADER = 30
_TOGETHER = 16
"""All members may have so many times the bytes of the largest that is read: they are read one after the other."""
_DAMAGED = (OSError, ValueError, EOFError, struct.error, zlib.error, lzma.LZMAError, zipfile.BadZipFile)


def zip_members(path: Path) -> dict[str, zipfile.ZipInfo]:
    """Name to member; of several with one name the last counts, as a log that was written on has it.

    Raises:
        InputError: the file is no whole zip file, or has too much in it.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = {member.filename: member for member in archive.infolist()}
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, struct.error) as error:
        raise InputError(f"{path} is no whole zip file ({error}); check that it was written to its end") from error
    sizes = [member.file_size for member in members.values()]
    refuse_large(path, max(sizes, default=0))
    refuse_large(path, sum(sizes), _TOGETHER * LARGEST)
    return members


def read_member(path: Path, member: zipfile.ZipInfo) -> bytes:
    """One member, unpacked.

    Raises:
        InputError: it is damaged, or compressed in a way that is not known.
    """
    return next(iter_members(path, [member]))[1]


def iter_members(path: Path, members: list[zipfile.ZipInfo]) -> Iterator[tuple[str, bytes]]:
    """Names and contents, one after the other.

    Raises:
        InputError: as in `read_member`.
    """
    import pyarrow

    with path.open("rb") as file, zipfile.ZipFile(path) as archive:
        for member in members:
            where = f"{path}, member {member.filename}"
            try:
                if member.compress_type == _ZSTANDARD:
                    file.seek(member.header_offset)
                    header = file.read(_LOCAL_HEADER)
                    name_length, extra_length = struct.unpack("<HH", header[26:30])
                    file.seek(member.header_offset + _LOCAL_HEADER + name_length + extra_length)
                    packed = pyarrow.BufferReader(file.read(member.compress_size))
                    with pyarrow.CompressedInputStream(packed, "zstd") as stream:
                        data = stream.read(member.file_size + 1)
                    if len(data) != member.file_size or zlib.crc32(data) != member.CRC:
                        raise ValueError("its checksum is wrong")
                else:
                    data = archive.read(member)
            except (*_DAMAGED, NotImplementedError, RuntimeError) as error:
                raise InputError(f"{where} cannot be unpacked ({error}); write the log again") from error
            yield member.filename, data
