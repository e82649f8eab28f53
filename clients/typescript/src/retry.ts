// What an error means for the next try. Without clock and network.

import { NoAnswer, Refusal } from "./errors.js";
import { type Advice, REFUSALS } from "./refusals.js";

/** For this long after its caller gave up, a request may still arrive and be booked. */
export const LINGER_MS = 180_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
const SPREAD_MS = 250;
/** Without a code these mean a wrong address: the service never got the request. */
const NOT_DELIVERED = new Set([301, 307, 308, 404, 405]);
/** Without a code these come from a proxy, and pass like its 5xx. */
const TEMPORARY = new Set([408, 429]);

export interface Verdict {
  /** Sending the same once more may help. */
  readonly again: boolean;
  /** For an order: this is its final outcome. */
  readonly settles: boolean;
  /** For an order: the service looked up its key, and nothing was recorded under it then. */
  readonly lookedUp: boolean;
  /** For an order: this try may have booked it. */
  readonly unsure: boolean;
}

/** The advice of the table; for a code that it does not have, the rule of the specification. */
function adviceOn(code: string, status: number): Advice {
  const known = REFUSALS[code];
  if (known) return known;
  if (status >= 500) return { retry: "same_key_after", unsure: true };
  return { retry: status === 429 ? "same_key_after" : "never" };
}

export function judge(error: unknown): Verdict {
  if (error instanceof Refusal) {
    const advice = adviceOn(error.code, error.status);
    return {
      again: advice.retry === "same_key" || advice.retry === "same_key_after",
      settles: advice.settles ?? false,
      lookedUp: advice.lookedUp ?? false,
      unsure: advice.unsure ?? false,
    };
  }
  const misled = error instanceof NoAnswer && error.status !== undefined && NOT_DELIVERED.has(error.status);
  const again = error instanceof NoAnswer && !misled;
  return { again, settles: false, lookedUp: false, unsure: again };
}

/** Whether a read may be sent again. Unlike an order, it need not be resolved in spite of a wrong address. */
export function mayReadAgain(error: unknown): boolean {
  if (!(error instanceof NoAnswer) || error.status === undefined) return judge(error).again;
  return error.status >= 500 || TEMPORARY.has(error.status);
}

/**
 * How long to wait before the try after this many, spread so that callers do not all come back at once. The first pause
 * is not shorter than `leastMs`, and the later ones grow from it.
 */
export function pauseMs(error: unknown, tries: number, leastMs = 0): number {
  const asked = error instanceof Refusal ? error.retryAfterS : undefined;
  if (asked !== undefined) return asked * 1000 + Math.random() * SPREAD_MS;
  const first = Math.max(FIRST_PAUSE_MS, leastMs);
  const own = Math.min(first * 2 ** (tries - 1), Math.max(LONGEST_PAUSE_MS, first));
  return own * (1 + Math.random() / 2);
}
