"""What every test may use."""

import pytest
from hypothesis import settings

# The machine may be busy: an example that takes long is not a failure.
settings.register_profile("tests", deadline=None)
settings.load_profile("tests")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
