"""Blocks of the documentation that are not run with their page: each with what is done instead.

Whatever is neither run nor named here fails `tests/docs/test_every_block.py`.
"""

from typing import NamedTuple


class Apart(NamedTuple):
    page: str
    begins: str
    """How it begins; enough of it to tell it from the page's other blocks."""
    run_by: str
    """The test that runs or reads it: file and function. Empty if there is none."""
    why: str
    """Why it is not run like the others, or not at all."""


_CONFORMANCE = "tests/docs/test_conformance.py::"
_DEPLOYMENT = "tests/docs/test_deployment.py::"
_DESK = "tests/docs/test_desk_start.py::"
_TYPESCRIPT = (
    "tests/client/test_typescript.py::test_its_types_know_the_environment_and_the_program_of_its_page_works"
)
_SCALING = "tests/docs/test_scaling.py::"
_FAILOVER = "tests/docs/test_failover.py::"
_PATRONI = "tests/nodes/test_patroni.py::test_orders_go_on_after_patroni_promotes_the_standby"
_CLUSTER = "for servers of its own: a test runs it with other addresses"
_POINT_IN_TIME = "tests/maintenance/test_point_in_time.py::"
_TRACING = "tests/tracing/test_otel.py::"
_PGBACKREST = "for the user of the database server: run by a test that has such a server for itself"
_PICTURE = "a drawing in letters: nothing in it can be run"
_PART = "a part of a module, which a test finds there as it is shown"
_FORMULA = "a formula"
_GOES_ON = "goes on until it is stopped: a test runs the sample, which is the same"
_ENV = "settings, which are read and not run"
_PROXY = "for a proxy: a real one runs it in front of nodes, with other addresses and without TLS"
_NGINX = "for another program, whose rest of a configuration is made up; what we rely on is read"
_UNITS = "tests/deploy/test_systemd.py::test_the_service_starts_reloads_and_stops"
_NO_ENGINE = "needs a container engine, which the tests do not have"
_SYSTEMD = "changes a whole machine: run by a test of its own, in a systemd that is thrown away"
_SQL = (
    "for an administrator of PostgreSQL: run with psql by a test of its own, on a server that is thrown away"
)

APART = (
    Apart(
        "clients/typescript/README.md",
        "import { BullionClient",
        _TYPESCRIPT,
        "the same as on the page of the client, which a test compiles and runs",
    ),
    Apart("docs/typescript-client.md", "cd clients/typescript", "", "installs packages of a registry"),
    Apart(
        "docs/typescript-client.md",
        "import { BullionClient",
        _TYPESCRIPT,
        "TypeScript: compiled and run by a test",
    ),
    Apart(
        "docs/typescript-client.md",
        "async function buy",
        _TYPESCRIPT,
        "TypeScript: compiled and run by a test",
    ),
    Apart(
        "docs/typescript-client.md", "const first =", _TYPESCRIPT, "TypeScript: compiled and run by a test"
    ),
    Apart("client/README.md", "pip install bullion-client", "", "would fetch from an index"),
    Apart("conformance/README.md", "pip install bullion-conformance", "", "would fetch from an index"),
    Apart(
        "conformance/README.md",
        "export CONFORMANCE_KEY",
        "tests/release/test_release.py::test_the_wheels_serve_trade_and_conform",
        "with the address of a service that is made up; the program is run there from its wheel",
    ),
    Apart("docs/architecture.md", " socket ──► web.protocol", "", _PICTURE),
    Apart("docs/architecture.md", "  one transaction  ", "", _PICTURE),
    Apart("docs/architecture.md", "  simulated feed, on the node", "", _PICTURE),
    Apart("docs/architecture.md", "                       one read at a time", "", _PICTURE),
    Apart("docs/architecture.md", " browser ──► console.app", "", _PICTURE),
    Apart(
        "docs/console.md",
        "bullion console",
        "tests/console/test_page.py::test_a_console_starts_in_words_or_not_at_all",
        "goes on until it is stopped; all of tests/console run on it",
    ),
    Apart(
        "docs/fix.md",
        "bullion desk hedge contract-put XAU",
        "tests/docs/test_fix_page.py::test_its_contract_is_taken",
        "needs a store of its own",
    ),
    Apart(
        "docs/fix.md",
        "bullion fix check spot",
        "",
        "needs a venue; tests run it with a FIX venue",
    ),
    Apart(
        "docs/fix.md",
        "[profiles.spot-venue]",
        "tests/docs/test_fix_page.py::test_its_market_file_is_read",
        _ENV,
    ),
    Apart(
        "docs/feeds.md",
        "python -m bullion.market_demo.quote_server",
        "tests/rates/feeds/test_sources.py::test_the_quote_server_is_a_process_of_its_own",
        "goes on until it is stopped",
    ),
    Apart(
        "docs/feeds.md",
        "python -m bullion.market_demo.fix_acceptor",
        "tests/nodes/test_fix_rates.py::test_rates_and_fills_are_those_of_the_venue_until_it_dies",
        "goes on until it is stopped",
    ),
    Apart(
        "docs/feeds.md",
        "[sources.venue]",
        "tests/docs/test_fix_page.py::test_the_source_over_fix_is_read",
        _ENV,
    ),
    Apart(
        "docs/conformance.md",
        '"order.quantity" = ',
        f"{_CONFORMANCE}test_the_code_it_shows_is_the_kits",
        _PART,
    ),
    Apart("docs/conformance.md", "@check(", f"{_CONFORMANCE}test_the_code_it_shows_is_the_kits", _PART),
    Apart("docs/deployment.md", "# .env\nBULLION", f"{_DEPLOYMENT}test_the_settings_it_shows_are_read", _ENV),
    Apart(
        "docs/deployment.md", "# .env, readable", f"{_DEPLOYMENT}test_the_settings_it_shows_are_read", _ENV
    ),
    Apart(
        "docs/deployment.md",
        "CREATE ROLE bullion_service",
        f"{_DEPLOYMENT}test_the_roles_it_makes_are_enough_and_no_more",
        _SQL,
    ),
    Apart(
        "docs/deployment.md",
        "CREATE ROLE reporter",
        f"{_DEPLOYMENT}test_the_roles_it_makes_are_enough_and_no_more",
        _SQL,
    ),
    Apart(
        "docs/deployment.md",
        "CREATE DATABASE bullion_restored",
        f"{_DEPLOYMENT}test_the_examples",
        _SQL,
    ),
    *(
        Apart(
            "docs/deployment.md", begins, f"{_POINT_IN_TIME}test_an_instant_between_two_orders", _PGBACKREST
        )
        for begins in (
            "# /etc/pgbackrest.conf",
            "archive_mode = on",
            "sudo -u postgres pgbackrest --stanza=bullion stanza-create",
            "sudo -u postgres pgbackrest --stanza=bullion --type=time",
        )
    ),
    Apart(
        "docs/deployment.md",
        "connections at most =",
        f"{_DEPLOYMENT}test_the_numbers_of_connections",
        _FORMULA,
    ),
    Apart(
        "docs/deployment.md",
        "map $http_x_api_key $bullion_lane {",
        "tests/nodes/test_proxies.py::test_an_upgrade_that_is_put_back",
        _PROXY,
    ),
    Apart(
        "docs/deployment.md",
        "defaults\n    mode http",
        "tests/nodes/test_proxies.py::test_an_upgrade_that_is_put_back",
        _PROXY,
    ),
    Apart(
        "docs/deployment.md",
        "server {\n    listen 443 ssl;\n    server_name desk.",
        f"{_DEPLOYMENT}test_the_proxy_hands_on_what_the_gate_looks_at",
        _NGINX,
    ),
    Apart(
        "docs/deployment.md",
        "scrape_configs:",
        "tests/metrics/test_monitoring.py::test_the_configuration_that_is_shown_is_valid",
        "settings of Prometheus, which its own checker reads",
    ),
    Apart(
        "docs/deployment.md",
        "python3 -m venv /opt/bullion",
        "tests/release/test_release.py::test_the_wheels_serve_trade_and_conform",
        "would fetch from an index; the wheel is installed without that",
    ),
    Apart(
        "docs/deployment.md",
        "deploy/compose/secrets.sh",
        "tests/deploy/test_containers.py::test_the_shell_script_makes_settings_that_are_read",
        f"{_NO_ENGINE}; the script and the compose file are checked",
    ),
    Apart(
        "docs/deployment.md",
        "kubectl apply",
        "tests/deploy/test_containers.py::test_the_manifests_keep_the_schemas_of_kubernetes",
        f"{_NO_ENGINE}; the manifests are checked",
    ),
    Apart("docs/deployment.md", "useradd --system", _UNITS, _SYSTEMD),
    Apart("docs/deployment.md", "install -D -m 644", _UNITS, _SYSTEMD),
    Apart("docs/deployment.md", "systemctl daemon-reload", _UNITS, _SYSTEMD),
    Apart("docs/logs-and-traces.md", "systemctl kill", _UNITS, _SYSTEMD),
    Apart("docs/logs-and-traces.md", "journalctl ", _UNITS, _SYSTEMD),
    Apart("docs/logs-and-traces.md", "pip install", "", "would fetch from an index"),
    Apart(
        "docs/logs-and-traces.md", "BULLION_OTEL=on", f"{_TRACING}test_the_settings_of_the_page_work", _ENV
    ),
    Apart(
        "docs/logs-and-traces.md",
        "POST /api/trading",
        f"{_TRACING}test_the_page_shows_the_spans_of_an_order",
        "a tree of spans, which a test compares with those of an order",
    ),
    Apart(
        "docs/logs-and-traces.md",
        '{"request_ids"',
        "tests/booking/test_queue.py::test_the_lines_of_a_batch_name_its_calls",
        "only shown: the ids and the time differ each time",
    ),
    Apart("docs/deployment.md", "/usr/local/sbin/bullion doctor", _UNITS, _SYSTEMD),
    Apart(
        "docs/desk.md",
        "python3 -c 'import secrets",
        f"{_DESK}test_the_first_token_is_read_by_the_service",
        "ends in `bullion serve`, which goes on until it is stopped",
    ),
    Apart(
        "docs/desk.md",
        "BULLION_DATABASE_URL=sqlite:///var/demo",
        "tests/docs/test_examples.py::test_the_desks_commands_find_the_demo",
        "on the demo, where the page is about a service of one's own",
    ),
    *(
        Apart(
            "docs/desk.md",
            begins,
            "tests/docs/test_examples.py::test_the_examples_for_the_desk",
            "after the service was stopped, which the page's other examples call",
        )
        for begins in ("bullion restore backup/bullion.db", "var/bullion.db: All equal")
    ),
    Apart(
        "docs/desk.md",
        '{"request_id":',
        "tests/docs/test_examples.py::test_the_examples_for_the_desk",
        "lines of a log, compared with those of the run",
    ),
    Apart(
        "docs/handbook.md",
        "SELECT count(*) AS parked",
        "tests/docs/test_handbook.py::test_what_it_asks_of_postgresql_can_be_asked",
        _SQL,
    ),
    Apart(
        "docs/install-debian.md",
        "# Not run by our tests: run it in the checkout",
        "",
        "copies the release from one machine to another",
    ),
    Apart(
        "docs/install-debian.md",
        "# Not run by our tests: needs the internet",
        "",
        "asks a public certificate authority",
    ),
    Apart(
        "docs/order-life.md",
        "            hedge confirms",
        "tests/docs/test_order_life.py::test_the_letters_name_every_state",
        _PICTURE,
    ),
    Apart(
        "docs/refusals.md",
        '{"detail": {"code": "rate_limited"',
        "tests/docs/test_every_block.py::test_the_refusal_that_is_shown_is_one",
        "a shape; the page is generated, and has nothing to send",
    ),
    Apart("docs/scaling.md", "# .env of nodes", f"{_SCALING}test_the_settings_it_shows_are_read", _ENV),
    Apart("docs/scaling.md", "# .env\nBULLION", f"{_SCALING}test_the_settings_it_shows_are_read", _ENV),
    Apart(
        "docs/events.md",
        '"""Follow what happens',
        "tests/client/test_documentation.py::test_the_sample_follows_events_and_misses_nothing",
        _GOES_ON,
    ),
    Apart(
        "docs/events.md",
        '"""Receive webhooks',
        "tests/client/test_documentation.py::test_the_sample_receives_webhooks",
        _GOES_ON,
    ),
    Apart(
        "docs/events.md",
        "# Not run by our tests: the service",
        "tests/client/test_webhook_calls.py::test_one_is_created_with_its_secret",
        "the service would call somebody's address",
    ),
    Apart(
        "docs/python-client.md",
        "# Not run by our tests: the service",
        "tests/client/test_webhook_calls.py::test_one_is_created_with_its_secret",
        "the service would call somebody's address",
    ),
    Apart(
        "docs/python-client.md",
        "BullionError\n",
        "tests/client/test_documentation.py::test_the_page_names_every_public_name",
        "a tree of names",
    ),
    Apart(
        "docs/python-client.md",
        "pip install dist",
        "tests/client/cli/test_distribution.py::test_with_its_extra_the_command_line_runs",
        "would fetch from an index what the client needs; the wheel is installed without that",
    ),
    Apart(
        "docs/python-client.md",
        "Buy 5 g of GOLD",
        "tests/client/cli/test_terminal.py::test_a_production_order_is_named_before_it_is_sent",
        "a question, which a terminal is asked",
    ),
    Apart("docs/scaling.md", "cores = ", "", _FORMULA),
    Apart(
        "docs/scaling.md",
        "key_test.shree.",
        f"{_SCALING}test_the_lane_it_shows_is_the_beginning_of_the_id",
        _PICTURE,
    ),
    Apart("docs/failover.md", "# .env", f"{_FAILOVER}test_the_settings_it_shows_are_read", _ENV),
    Apart("docs/failover.md", "# /etc/patroni", _PATRONI, _CLUSTER),
    Apart("docs/failover.md", "patronictl", _PATRONI, _CLUSTER),
    Apart(
        "docs/failover.md",
        "listen bullion_postgres",
        f"{_FAILOVER}test_haproxy_takes_the_configuration",
        "for another program, which checks it",
    ),
    Apart(
        "docs/failover.md",
        "port 26379",
        "tests/budgets/test_sentinel.py::test_orders_go_on_after_the_master_is_killed",
        _CLUSTER,
    ),
    Apart(
        "docs/scaling.md",
        "connections to PostgreSQL =",
        f"{_SCALING}test_its_numbers_are_those_of_the_code",
        _FORMULA,
    ),
    Apart(
        "docs/scaling.md",
        "map $host $bullion_deployment",
        "tests/maintenance/test_broker_move.py::test_a_broker_moves_while_the_others_trade",
        _PROXY,
    ),
    Apart("docs/scaling.md", "ALTER SYSTEM", f"{_SCALING}test_what_it_tells_the_primary_can_be_told", _SQL),
    Apart("docs/scaling.md", "ALTER ROLE", f"{_SCALING}test_what_it_tells_the_primary_can_be_told", _SQL),
    Apart(
        "docs/scaling.md",
        "SELECT application_name",
        f"{_SCALING}test_what_it_tells_the_primary_can_be_told",
        _SQL,
    ),
    Apart(
        "docs/scaling.md",
        "-- A sketch, not a migration.",
        f"{_SCALING}test_partitions_take_the_schema_as_it_is",
        "needs Citus, which the tests cannot ask for; the constraint that it drops is looked for",
    ),
    Apart(
        "docs/scaling.md",
        "ALTER TABLE orders RENAME",
        f"{_SCALING}test_partitions_take_the_schema_as_it_is",
        _SQL,
    ),
    Apart(
        "docs/venues.md",
        "tests/contract/test_my_venue.py",
        "tests/docs/test_venues.py::test_the_contract_is_taken_up_as_shown",
        "a part of a module, whose venue the reader has yet to write",
    ),
)

BEFORE = (
    "`export` lines tell a reader what to keep; the test has the same names from the demo it started. "
    "`make run` does not end: the demo behind it is started without make, and what make would do is read."
)
"""Why blocks that hold nothing but such lines are not run."""
