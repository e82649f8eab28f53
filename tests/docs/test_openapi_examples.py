"""What the OpenAPI description shows to paste is taken by the demo."""

from pathlib import Path

import httpx

from tests.docs.demo import demo_in
from tests.support.node import own_transport

TEST = "/api/trading/test/v1"


def test_the_demo_takes_the_orders_that_the_description_shows(tmp_path: Path) -> None:
    """With rates that stand still: an example that names a price is near to where the demo begins."""
    with demo_in(tmp_path, BULLION_FEED="desk") as demo:
        demo.stand_still()
        variables = demo.variables()
        with httpx.Client(
            base_url=variables["API"],
            headers={"X-API-Key": variables["KEY"]},
            transport=own_transport(),
        ) as client:
            description = client.get("/openapi.json").json()
            orders = description["components"]["schemas"]["PlaceOrder"]["examples"]
            assert {order["symbol_code"] for order in orders} == {"GOLD", "SILVER"}
            for number, order in enumerate(orders):
                answer = client.post(f"{TEST}/orders", json=order, headers={"Idempotency-Key": f"{number}"})
                assert answer.status_code == httpx.codes.CREATED, answer.text
            real = {each["symbol_code"]: each for each in client.get(f"{TEST}/symbols").json()["items"]}
            shown = description["paths"][f"{TEST}/symbols"]["get"]["responses"]["200"]
            for symbol in shown["content"]["application/json"]["example"]["items"]:
                assert symbol == real[symbol["symbol_code"]]
