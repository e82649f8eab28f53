"""Secrets of sources: they stand in the environment, and their place in a text is marked."""

from collections.abc import Mapping

from .source_settings import SECRET, SourceSettings


class SecretMissing(ValueError):
    """The environment variable that a source names is not set. The message is for the operator."""


def secret_of(settings: SourceSettings, environ: Mapping[str, str]) -> str | None:
    if settings.secret_env is None:
        return None
    found = environ.get(settings.secret_env, "").strip()
    if not found:
        raise SecretMissing(
            f"Source {settings.name}: the environment variable {settings.secret_env} is not set."
        )
    return found


def filled(text: str, secret: str | None) -> str:
    return text if secret is None else text.replace(SECRET, secret)
