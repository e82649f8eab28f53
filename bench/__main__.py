"""What is measured, and in which order: `python -m bench`."""

import argparse
import contextlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import httpx

from tests.support.servers import NotInstalled

from .calls import BASE, Call, get, orders
from .figures import Run
from .floors import running_floor
from .load import Job, measure
from .ratios import RATIOS
from .report import LEGEND, ratio_lines, table, write_results
from .service import PLAIN, Service, running_service, servers

RESULTS = Path(__file__).with_name("results.json")
_FEW = (64,)


@dataclass(frozen=True, slots=True)
class Extent:
    rounds: int
    connections: tuple[int, ...]
    warm_up_s: float
    seconds: float


# Many short rounds rather than few long ones: noise that lasts for seconds then spoils some of them, and the
# median leaves those out.
FULL = Extent(rounds=5, connections=(1, 16, 64), warm_up_s=0.3, seconds=1.2)
QUICK = Extent(rounds=3, connections=(1, 64), warm_up_s=0.05, seconds=0.1)


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench", description="Measures speed as ratios to a bare server.")
    parser.add_argument(
        "--quick", action="store_true", help="a few seconds: shows that it works, not how fast"
    )
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file to write (%(default)s)")
    wanted = parser.parse_args()
    wanted.results.unlink(missing_ok=True)  # or a run that fails would seem to have left it
    run = _measure(QUICK if wanted.quick else FULL)
    ratios = [ratio for ratio in RATIOS if all(each in run.outcomes for each in ratio.calls)]
    write_results(wanted.results, run, ratios)
    print(f"\nMedians of {run.rounds} rounds of {run.seconds} s each:\n\n{table(run)}\n\n{LEGEND}\n")
    for ratio in ratios:
        print(ratio_lines(run, ratio))
    print(f"\nWritten to {wanted.results}.")


def _measure(extent: Extent) -> Run:
    print("Starting the services and the floors they are measured against.", flush=True)
    with contextlib.ExitStack() as stack:
        calls = _calls(stack)
        run = Run(extent.rounds, extent.seconds)
        for number in range(1, extent.rounds + 1):
            for connections in extent.connections:
                # One right after the other: what slows this machine for a while slows both sides of a ratio.
                for call in calls:
                    if connections in call.connections:
                        _measure_call(run, extent, number, call, connections)
    return run


def _calls(stack: contextlib.ExitStack) -> list[Call]:
    """Every call beside its floor. A floor is sent the very same requests, so that it has as much to read."""
    services = {"sqlite": stack.enter_context(running_service())}
    plain = {"sqlite": stack.enter_context(running_service(PLAIN))}
    try:
        postgres, redis = stack.enter_context(servers())
    except NotInstalled as missing:
        print(f"Without PostgreSQL and Redis: {missing}.", flush=True)
    else:
        for place, module in ((services, "bullion"), (plain, PLAIN)):
            settings = {"BULLION_DATABASE_URL": postgres.new_database(), "BULLION_REDIS_URL": redis.url}
            place["pg"] = stack.enter_context(running_service(module, **settings))
    some = services["sqlite"]
    order_ids = {name: _filled(service) for name, service in services.items()}
    me = tuple(get(f"{BASE}/me", key) for key in some.keys)
    get_floor = stack.enter_context(running_floor("get", len(some.get("/me"))))
    post_floor = stack.enter_context(running_floor("post", len(some.get(f"/orders/{order_ids['sqlite']}"))))
    list_floor = stack.enter_context(running_floor("get", len(some.get("/orders"))))
    calls = [
        Call("get_floor", get_floor, me),
        Call("me", some.endpoint, me),
        Call("post_floor", post_floor, orders(some.keys)),
    ]
    calls += [Call(f"orders_{name}", each.endpoint, orders(each.keys)) for name, each in services.items()]
    calls += [Call(f"plain_{name}", each.endpoint, orders(each.keys)) for name, each in plain.items()]
    for name, service in services.items():
        one = get(f"{BASE}/orders/{order_ids[name]}", service.keys[0])
        positions = tuple(get(f"{BASE}/positions", key) for key in service.keys)
        calls.append(Call(f"positions_{name}", service.endpoint, positions, _FEW))
        calls.append(Call(f"order_{name}", service.endpoint, (one,), _FEW))
    calls.append(Call("list_floor", list_floor, (get(f"{BASE}/orders", some.keys[0]),), _FEW))
    for name, service in services.items():
        calls.append(Call(f"list_{name}", service.endpoint, (get(f"{BASE}/orders", service.keys[0]),), _FEW))
    return calls


def _filled(service: Service) -> str:
    """Give the first account a page of orders; the id of one of them."""
    headers = {"X-API-Key": service.keys[0]}
    order_id = ""
    with httpx.Client(base_url=f"{service.api_url}{BASE}", headers=headers) as client:
        for number in range(60):
            body = {"symbol_code": "GOLD", "trade_type": "buy" if number % 2 else "sell", "quantity": 1}
            answer = client.post("/orders", json=body, headers={"Idempotency-Key": str(uuid4())})
            order_id = json.loads(answer.raise_for_status().content)["id"]
    return order_id


def _measure_call(run: Run, extent: Extent, number: int, call: Call, connections: int) -> None:
    job = Job(
        port=call.endpoint.port,
        requests=call.requests,
        connections=connections,
        warm_up_s=extent.warm_up_s,
        seconds=extent.seconds,
        server_pid=call.endpoint.pid,
    )
    outcome = measure(job)
    what = f"round {number} of {extent.rounds}, {call.name}, connections {connections}"
    if outcome.errors:
        # Figures of a server that fails are worth nothing, so there is nothing to write.
        sys.exit(f"{what}: {outcome.errors}")
    run.note(call.name, connections, outcome)
    print(f"{what}: {outcome.requests_per_s:,.0f} requests/s", flush=True)


if __name__ == "__main__":
    main()
