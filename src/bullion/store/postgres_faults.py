"""Translates errors of PostgreSQL and its driver into the faults of `bullion.faults`."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager

import asyncpg

from bullion.faults import (
    AlreadyExists,
    ConstraintViolation,
    StoreBusy,
    StoreConflict,
    StoreFault,
    StoreUnavailable,
)

LOST = (
    OSError,
    TimeoutError,
    ssl.SSLError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # asyncpg's own state after a connection was lost under it
)

OUTDATED = (asyncpg.InvalidCachedStatementError, asyncpg.OutdatedSchemaCacheError)
"""A table changed after the statement was prepared on this connection: another connection can run it."""

# 42501: a role without the rights it needs; 42704: a parameter of the address that there is not; 42P01 and
# 42703: a table or a column that somebody took away.
_UNAVAILABLE = ("08", "25006", "28", "3D", "42501", "42703", "42704", "42P01", "53", "57", "58")


def reported_by_server(fault: StoreFault) -> bool:
    """Whether the server itself reported the error; otherwise its response may have been lost."""
    error = fault.__cause__
    return isinstance(error, asyncpg.PostgresError) and not isinstance(error, asyncpg.PostgresConnectionError)


@contextmanager
def address_faults() -> Iterator[None]:
    """The message for an unreadable address does not repeat it: it may contain a password."""
    try:
        yield
    except (asyncpg.ClientConfigurationError, ValueError):
        raise StoreUnavailable(
            "its address cannot be read; special characters in a password must be percent-encoded"
        ) from None


@contextmanager
def faults() -> Iterator[None]:
    """Translate PostgreSQL's errors. Programming errors are not translated."""
    try:
        yield
    except Exception as error:
        fault = _fault_of(error)
        if fault is None:
            raise
        raise fault from error


def _fault_of(error: BaseException) -> StoreFault | None:
    if isinstance(
        error, asyncpg.DataError
    ):  # Before InterfaceError: asyncpg refuses a value of the wrong type.
        return ConstraintViolation(str(error))
    if isinstance(error, OUTDATED):
        return StoreConflict(str(error))
    if isinstance(error, asyncpg.PostgresError):
        return _fault_of_state(str(error.sqlstate or ""), str(error))
    if isinstance(error, TimeoutError) and not str(error):
        return StoreUnavailable("PostgreSQL did not respond in time")
    if isinstance(error, LOST):
        return StoreUnavailable(f"{type(error).__name__}: {error}")
    return None


def _fault_of_state(state: str, message: str) -> StoreFault | None:
    if state == "23505":
        return AlreadyExists(message)
    if state.startswith(("22", "23")):
        return ConstraintViolation(message)
    if state == "55P03":
        return StoreBusy(message)
    if state in ("40001", "40P01"):
        return StoreConflict(message)
    if state.startswith(_UNAVAILABLE) or not state:
        return StoreUnavailable(f"{state}: {message}")
    return None
