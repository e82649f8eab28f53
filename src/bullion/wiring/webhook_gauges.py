"""Metrics of the delivery of webhooks by a node."""

from prometheus_client import CollectorRegistry, Counter

from bullion.events.webhook_delivery import DELIVERED, FAILED, WebhookDelivery

from .counter_copy import CounterCopy


class WebhookGauges:
    def __init__(self, registry: CollectorRegistry, delivery: WebhookDelivery) -> None:
        attempts = Counter(
            "bullion_webhook_attempts",
            "Attempts to deliver an event to a webhook.",
            ["outcome"],
            registry=registry,
        )
        stopped = Counter(
            "bullion_webhooks_switched_off",
            "Webhooks that were switched off because their deliveries failed.",
            registry=registry,
        )
        self._delivery = delivery
        self._attempts = {each: CounterCopy(attempts.labels(each)) for each in (DELIVERED, FAILED)}
        self._stopped = CounterCopy(stopped)

    def publish(self) -> None:
        for outcome, copy in self._attempts.items():
            copy.update(self._delivery.outcomes[outcome])
        self._stopped.update(self._delivery.switched_off)
