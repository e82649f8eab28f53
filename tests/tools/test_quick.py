"""Which tests `--quick` leaves out: those whose code reaches something that starts a process."""

import pytest

from tests.support import command, servers
from tests.support.command import sentence
from tests.support.node import running, until
from tests.support.quick import starts_process
from tests.support.servers import Postgres, free_port


def _a_node_inside_a_lambda() -> object:
    return lambda folder: running(folder)


def _a_command_by_its_module() -> object:
    return command.bullion


def _a_method_of_a_server() -> object:
    return Postgres.new_database


def _nothing() -> object:
    return [until, sentence, free_port, servers.NotInstalled]


@pytest.mark.parametrize("test", [_a_node_inside_a_lambda, _a_command_by_its_module, _a_method_of_a_server])
def test_a_process_is_found_however_it_is_started(test: object) -> None:
    assert starts_process(test)


def test_tools_that_start_nothing_are_quick() -> None:
    assert not starts_process(_nothing)
