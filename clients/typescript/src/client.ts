// The client: each call of the API, with retries. An order keeps its Idempotency-Key on every try.

import { BullionError, NoAnswer, OutcomeUnknown } from "./errors.js";
import { EventStream } from "./event_stream.js";
import { type Decimal, type NewOrder, orderJson, type TradeType } from "./order.js";
import { judge, LINGER_MS, mayReadAgain, pauseMs } from "./retry.js";
import type { components, operations } from "./schema.js";
import { type Message, messages } from "./sse.js";
import {
  answerOf,
  checkedAddress,
  checkGivenHeaders,
  checkHeaders,
  type Fetch,
  type Method,
  openedStream,
} from "./transport.js";

type Schemas = components["schemas"];

export type Environment = "test" | "production";
export type Order<E extends Environment> = E extends "test" ? Schemas["TestOrder"] : Schemas["ProductionOrder"];
export type OrderList<E extends Environment> = E extends "test"
  ? Schemas["TestOrderList"]
  : Schemas["ProductionOrderList"];
export type Positions<E extends Environment> = E extends "test"
  ? Schemas["TestPositions"]
  : Schemas["ProductionPositions"];
export type AccountEvent<E extends Environment> = E extends "test"
  ? Schemas["TestEvent"]
  : Schemas["ProductionEvent"];
export type EventList<E extends Environment> = E extends "test"
  ? Schemas["TestEventList"]
  : Schemas["ProductionEventList"];
export type OrderQuery<E extends Environment> = NonNullable<
  operations[`list_orders_${E}`]["parameters"]["query"]
>;
export type EventQuery = NonNullable<operations["events_test"]["parameters"]["query"]>;

export interface Options<E extends Environment> {
  /** The address of the service, such as `https://trading.example`. */
  readonly baseUrl: string;
  /** `key_test.…` or `key_live.…`: it decides the environment. */
  readonly apiKey: string;
  /** Say which environment you mean, and a key of the other one is refused here. */
  readonly environment?: E;
  /** How long one try may take. */
  readonly timeoutMs?: number;
  /** How long a call may take with all its tries. */
  readonly deadlineMs?: number;
  /** Further headers of every call. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Another fetch, for proxies and tests. */
  readonly fetch?: Fetch;
}

export interface PlaceOptions {
  /** A new UUID, unless you keep keys yourself or send an order again. */
  readonly idempotencyKey?: string;
  /** If the order was sent before: that of its `OutcomeUnknown`, or `new Date()` if you only have the key. */
  readonly unansweredUntil?: Date;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface StreamOptions {
  /** The number of the last event that you handled. Without it: what happens from now on. */
  readonly after?: number;
  readonly signal?: AbortSignal;
}

const BASES = { test: "/api/trading/test/v1", production: "/api/trading/v1" } as const;
const SILENT_MS = 45_000; // Three heartbeats.
const STEADY_MS = 10_000; // A stream that was open for so long worked.

export class BullionClient<E extends Environment = Environment> {
  readonly environment: Environment;
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #fetch: Fetch;
  readonly #timeoutMs: number;
  readonly #deadlineMs: number;

  constructor(options: Options<E>) {
    const kind = /^key_(test|live)\./.exec(options.apiKey)?.[1];
    if (kind === undefined) throw new TypeError("apiKey must begin with key_test. or key_live.");
    this.environment = kind === "test" ? "test" : "production";
    if (options.environment !== undefined && options.environment !== this.environment) {
      throw new TypeError(`apiKey is for ${this.environment}, not for ${options.environment}`);
    }
    this.#base = checkedAddress(options.baseUrl) + BASES[this.environment];
    checkGivenHeaders(options.headers);
    this.#headers = { ...options.headers, "X-API-Key": options.apiKey };
    checkHeaders(this.#headers);
    this.#fetch = options.fetch ?? fetch;
    this.#timeoutMs = options.timeoutMs ?? 10_000;
    this.#deadlineMs = options.deadlineMs ?? 60_000;
  }

  // --- Reading ---------------------------------------------------------------------------------------------

  me(): Promise<Schemas["Account"]> {
    return this.#read("/me");
  }

  async symbols(): Promise<Schemas["Symbol"][]> {
    return (await this.#read<Schemas["Symbols"]>("/symbols")).items;
  }

  async quotes(symbolCode?: string): Promise<Schemas["Quote"][]> {
    return (await this.#read<Schemas["Quotes"]>("/quotes", { symbol_code: symbolCode })).items;
  }

  positions(): Promise<Positions<E>> {
    return this.#read("/positions");
  }

  order(id: string): Promise<Order<E>> {
    return this.#read(`/orders/${encodeURIComponent(id)}`);
  }

  /** One page, newest first. */
  orders(query: OrderQuery<E> = {} as OrderQuery<E>): Promise<OrderList<E>> {
    return this.#read("/orders", query);
  }

  /** One page of events, oldest first; with `wait` an empty one comes only after so many seconds. */
  events(query: EventQuery = {}): Promise<EventList<E>> {
    return this.#read("/events", query, (query.wait ?? 0) * 1000);
  }

  /** Read the order until it is no longer pending; after the time, as it is. */
  async wait(order: { readonly id: string }, timeoutMs = 30_000): Promise<Order<E>> {
    const giveUpAt = performance.now() + timeoutMs;
    for (;;) {
      const found = await this.order(order.id);
      if ((found.status as string) !== "pending" || performance.now() >= giveUpAt) return found;
      await sleep(Math.min(1000, Math.max(giveUpAt - performance.now(), 0)));
    }
  }

  // --- Placing ---------------------------------------------------------------------------------------------

  buy(symbolCode: string, quantity: Decimal, more: Partial<NewOrder> & PlaceOptions = {}): Promise<Order<E>> {
    return this.#side("buy", symbolCode, quantity, more);
  }

  sell(symbolCode: string, quantity: Decimal, more: Partial<NewOrder> & PlaceOptions = {}): Promise<Order<E>> {
    return this.#side("sell", symbolCode, quantity, more);
  }

  #side(
    tradeType: TradeType,
    symbolCode: string,
    quantity: Decimal,
    more: Partial<NewOrder> & PlaceOptions,
  ): Promise<Order<E>> {
    return this.place({ ...more, tradeType, symbolCode, quantity }, more);
  }

  /**
   * Place one order, and never two. A production order may still be `pending`: see `wait`. Throws a `Refusal` if
   * nothing is booked, and `OutcomeUnknown` if that is not known.
   */
  async place(order: NewOrder, options: PlaceOptions = {}): Promise<Order<E>> {
    const key = options.idempotencyKey ?? crypto.randomUUID();
    const body = orderJson(order);
    checkGivenHeaders(options.headers);
    const headers = { ...options.headers, "Content-Type": "application/json", "Idempotency-Key": key };
    checkHeaders(headers);
    const { unansweredUntil } = options;
    let doubt = unansweredUntil === undefined ? undefined : doubtUntil(millisecondsOf(unansweredUntil));
    const giveUpAt = performance.now() + this.#deadlineMs;
    for (let tries = 1; ; tries += 1) {
      const began = performance.now();
      try {
        const answer = await this.#send<Order<E> | null>("POST", "/orders", headers, this.#timeoutMs, body);
        if (typeof answer?.id !== "string") throw new NoAnswer("The answer is not an order", undefined);
        return answer;
      } catch (error) {
        const verdict = judge(error);
        if (verdict.settles) throw error;
        if (verdict.unsure) doubt = doubtUntil(Date.now());
        else if (verdict.lookedUp && doubt && began - doubt.since >= LINGER_MS) doubt = undefined;
        const pause = pauseMs(error, tries);
        if (!verdict.again || performance.now() + pause > giveUpAt) {
          throw doubt ? new OutcomeUnknown(key, doubt.until, { cause: error }) : error;
        }
        await sleep(pause);
      }
    }
  }

  // --- Events as they happen -------------------------------------------------------------------------------

  /** Each price that changes, without end, if the broker offers it. */
  async *quoteStream(options: { readonly signal?: AbortSignal } = {}): AsyncGenerator<Schemas["Quote"], void, undefined> {
    for await (const message of this.#messages("/quotes/stream", () => ({}), options.signal)) {
      if (message.data !== undefined) yield JSON.parse(message.data) as Schemas["Quote"];
    }
  }

  /**
   * Every event, without end, gap or double: after a break it goes on after the last one. Throws `EventsGone` if
   * events were missed that are no longer kept, and a `Refusal` if the key may no longer read. Without `after` it
   * begins when it is first read, or with `await stream.open()`.
   */
  stream(options: StreamOptions = {}): EventStream<AccountEvent<E>> {
    return new EventStream((position) => this.#messages("/events/stream", position, options.signal), options.after);
  }

  /** The messages of a stream, which is opened again after every end, until it is refused or told to end. */
  async *#messages(
    path: string,
    headers: () => Readonly<Record<string, string>>,
    ended: AbortSignal | undefined,
  ): AsyncGenerator<Message, void, undefined> {
    let retryMs: number | undefined;
    for (let failed = 0; !ended?.aborted; ) {
      const abort = new AbortController();
      let silence = setTimeout(() => abort.abort(), SILENT_MS);
      let openSince = Infinity;
      let problem: unknown;
      try {
        const body = await openedStream(this.#fetch, {
          method: "GET",
          url: this.#base + path,
          headers: { ...this.#headers, Accept: "text/event-stream", ...headers() },
          signal: AbortSignal.any([abort.signal, ...(ended ? [ended] : [])]),
        });
        openSince = performance.now();
        for await (const message of messages(body)) {
          clearTimeout(silence);
          silence = setTimeout(() => abort.abort(), SILENT_MS);
          retryMs = message.retryMs ?? retryMs;
          if (message.type === "end") break; // The next try is told why.
          if (message.data !== undefined) failed = 0;
          yield message;
        }
      } catch (error) {
        if (ended?.aborted) return;
        if (error instanceof BullionError && !mayReadAgain(error)) throw error;
        problem = error;
      } finally {
        clearTimeout(silence);
        abort.abort();
      }
      failed = performance.now() - openSince >= STEADY_MS ? 1 : failed + 1;
      await sleep(pauseMs(problem, failed, retryMs), ended);
    }
  }

  // --- Calls -----------------------------------------------------------------------------------------------

  /** A call that has no method here, such as those of webhooks. It is sent once. */
  call<Body>(method: Method, path: string, body?: unknown): Promise<Body> {
    const headers = body === undefined ? {} : { "Content-Type": "application/json" };
    return this.#send(method, path, headers, this.#timeoutMs, body === undefined ? undefined : JSON.stringify(body));
  }

  async #read<Body>(path: string, query: object = {}, moreMs = 0): Promise<Body> {
    const given = Object.entries(query as Record<string, unknown>).filter(([, value]) => value !== undefined);
    const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
    const target = text === "" ? path : `${path}?${text}`;
    const giveUpAt = performance.now() + this.#deadlineMs + moreMs;
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#send<Body>("GET", target, {}, this.#timeoutMs + moreMs);
      } catch (error) {
        const pause = pauseMs(error, tries);
        if (!mayReadAgain(error) || performance.now() + pause > giveUpAt) throw error;
        await sleep(pause);
      }
    }
  }

  async #send<Body>(
    method: Method,
    target: string,
    headers: Readonly<Record<string, string>>,
    timeoutMs: number,
    body?: string,
  ): Promise<Body> {
    try {
      return await answerOf<Body>(this.#fetch, {
        method,
        url: this.#base + target,
        headers: { ...this.#headers, ...headers },
        signal: AbortSignal.timeout(timeoutMs),
        ...(body === undefined ? {} : { body }),
      });
    } catch (error) {
      if (error instanceof BullionError) throw error;
      throw new NoAnswer("The call failed", undefined, { cause: error });
    }
  }
}

/** A try may have booked the order, or may still book it. */
interface Doubt {
  /** When the last such try ended, on the clock of `performance.now()`: a wall clock may be set during the call. */
  readonly since: number;
  /** The same on the wall clock, which has a meaning in a later run. */
  readonly until: Date;
}

function doubtUntil(ms: number): Doubt {
  const now = Date.now();
  // A time in the future means that the clock was set back. It counts as now.
  const until = Math.min(ms, now);
  return { since: performance.now() - (now - until), until: new Date(until) };
}

/** Checked for callers without types: a date that went through JSON is a string. */
function millisecondsOf(unansweredUntil: Date): number {
  if (unansweredUntil instanceof Date && !Number.isNaN(unansweredUntil.getTime())) return unansweredUntil.getTime();
  throw new TypeError("unansweredUntil must be a valid Date");
}

/** Ends early when told to. */
function sleep(ms: number, ended?: AbortSignal): Promise<void> {
  if (ended?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      ended?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    ended?.addEventListener("abort", done);
  });
}
