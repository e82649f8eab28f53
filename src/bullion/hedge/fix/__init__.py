"""FIX 4.4: the messages, the session, and what keeps one line to a venue up.

`codec` and `session` are pure: bytes or messages and the time go in, effects come out. `connection` drives
them.
"""
