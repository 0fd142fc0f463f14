"""What the second readers of services' events share: values that a member may have, and what such a value says."""
import uuid

ABSENT = object()
TEXTS = (ABSENT, "other", "", 7, None, True, {}, {"a": "b"}, [], ["a"])
NUMBERS = (ABSENT, 0, 8, "8", "0x10", "", "x", None, [], "18446744073709551615", "18446744073709551616")
FLAGS = (ABSENT, True, False, None, 1, 0, "", "true", [])
UUID = "4C4C44B5-5555-3144-A1BA-79CA685DEC58"
UUIDS = (ABSENT, UUID.lower(), UUID.replace("-", ""), "", "x", None, [], UUID[:-1])


def text(value):
    """What a member says that ought to be text: numbers are taken as they are written."""
    return str(value) if type(value) in (str, int) else ""


def number(value):
    """A number of 64 bits, as JSON has it or in a string; hexadecimal ones begin with 0x."""
    try:
        value = int(text(value), 16 if text(value)[:2] == "0x" else 10)
    except ValueError:
        return None
    return value if value < 1 << 64 else None


def uuid_of(value):
    digits = text(value).replace("-", "")
    try:
        return str(uuid.UUID(digits)).upper() if len(digits) == 32 else None
    except ValueError:
        return None


def pair(first, second):
    """`1.2 (34)`"""
    return (first + " " if first and second else first) + ("(%s)" % second if second else "")


def system(name, version, build):
    return pair(" ".join(filter(None, (text(name), text(version)))), text(build))


def member(value, *keys):
    """The member at these keys, or None if a key leads nowhere."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def thrown(kind, message):
    """What is told of an exception in the sentence: it is no signal."""
    told = {"kind": "exception" if kind else "reason", "name": kind, "words": message}
    return {key: value for key, value in told.items() if value} if kind or message else None
