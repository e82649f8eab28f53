"""What a line's profile makes of its logon."""

import msgspec

from bullion.hedge.fix.profile import EXAMPLES, KEEPING, RESETTING, Line, Profile, session_settings


def line(profile: Profile) -> Line:
    return Line(
        name="gold",
        broker="main",
        host="h",
        port=1,
        sender="US",
        target="THEM",
        username="me",
        profile=profile,
    )


def test_where_the_password_goes() -> None:
    assert session_settings(line(RESETTING), "s=1").logon_fields == ((553, "me"), (554, "s=1"))
    assert session_settings(line(KEEPING), "s=1").logon_fields == ((553, "me"), (95, "3"), (96, "s=1"))
    assert session_settings(line(RESETTING)).logon_fields == ((553, "me"),)


def test_the_examples_differ_in_how_they_count() -> None:
    assert set(EXAMPLES) == {"resetting", "keeping"}
    assert session_settings(line(RESETTING)).reset_on_logon
    assert not session_settings(line(KEEPING)).reset_on_logon


def test_a_profile_is_configuration() -> None:
    assert msgspec.convert(msgspec.to_builtins(KEEPING), Profile) == KEEPING


def test_words_of_a_logout_for_sending_too_fast() -> None:
    assert RESETTING.is_rate_logout("Too many messages in the last second")
    assert not RESETTING.is_rate_logout("end of session")
