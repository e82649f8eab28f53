"""A service of the bench can be launched again: another process on the same store."""

from bench.service import running_service


def test_another_launch_keeps_the_store() -> None:
    with running_service("bullion", 1) as service:
        first, account = service.pid, service.get("/me")
        service.launch_again()
        assert service.pid != first
        assert service.endpoint.pids == (service.pid,)
        assert service.get("/me") == account
