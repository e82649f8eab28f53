// What can go wrong, from the point of view of somebody who placed an order.

export class BullionError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The service refused the call. Branch on `code`, never on the message. */
export class Refusal extends BullionError {
  constructor(
    readonly code: string,
    readonly status: number,
    message: string,
    /** Everything that the refusal says, such as `errors`, `reason` or `order`. */
    readonly detail: Readonly<Record<string, unknown>>,
    /** Names the call in the service's log: quote it to the desk. */
    readonly requestId: string | undefined,
    readonly retryAfterS: number | undefined,
  ) {
    super(`${code}: ${message}`);
  }
}

/** Events after the number that was asked for are no longer kept. Read the orders again, go on after `newest`. */
export class EventsGone extends Refusal {
  get oldest(): number {
    return Number(this.detail["oldest"]);
  }

  get newest(): number {
    return Number(this.detail["newest"]);
  }
}

/** No answer came, or none of this service. */
export class NoAnswer extends BullionError {
  constructor(
    message: string,
    /** The status, if something answered that is not the service. */
    readonly status: number | undefined,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/**
 * It is not known whether the order was booked. Never place another one for it. Place the same order again with this
 * `idempotencyKey` and `unansweredUntil`, now or later.
 */
export class OutcomeUnknown extends BullionError {
  constructor(
    readonly idempotencyKey: string,
    /** When the last try without an answer ended. For three minutes more it may still be booked. */
    readonly unansweredUntil: Date,
    options?: ErrorOptions,
  ) {
    super(
      "It is unknown whether the order is booked. Place the same order again with " +
        `idempotencyKey ${idempotencyKey} and unansweredUntil ${unansweredUntil.toISOString()}`,
      options,
    );
  }
}
