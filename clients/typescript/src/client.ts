// The client: each call of the API, with retries. An order keeps its Idempotency-Key on every try.

import { BullionError, NoAnswer, OutcomeUnknown, Refusal } from "./errors.js";
import { type Decimal, type NewOrder, orderJson, type TradeType } from "./order.js";
import { judge, LINGER_MS, pauseMs } from "./retry.js";
import type { components, operations } from "./schema.js";
import { type Message, messages } from "./sse.js";
import { answerOf, type Fetch, type Method, opened } from "./transport.js";

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
  /** The order was sent before under this key, and an earlier try may still be on its way. */
  readonly again?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface StreamOptions {
  /** The number of the last event that you handled. Without it: what happens from now on. */
  readonly after?: number;
  readonly signal?: AbortSignal;
}

const BASES = { test: "/api/trading/test/v1", production: "/api/trading/v1" } as const;
const SILENT_MS = 45_000; // Three heartbeats.

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
    this.#base = options.baseUrl.replace(/\/+$/, "") + BASES[this.environment];
    this.#headers = { ...options.headers, "X-API-Key": options.apiKey };
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
    const giveUpAt = Date.now() + timeoutMs;
    for (;;) {
      const found = await this.order(order.id);
      if ((found.status as string) !== "pending" || Date.now() >= giveUpAt) return found;
      await sleep(Math.min(1000, Math.max(giveUpAt - Date.now(), 0)));
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
    const headers = { ...options.headers, "Content-Type": "application/json", "Idempotency-Key": key };
    const giveUpAt = Date.now() + this.#deadlineMs;
    let doubtSince = options.again ? Date.now() : undefined;
    for (let tries = 1; ; tries += 1) {
      const began = Date.now();
      try {
        return await this.#send<Order<E>>("POST", "/orders", headers, this.#timeoutMs, body);
      } catch (error) {
        const verdict = judge(error);
        if (verdict.settles) throw error;
        if (verdict.unsure) doubtSince = Date.now();
        else if (verdict.lookedUp && doubtSince !== undefined && began - doubtSince >= LINGER_MS) {
          doubtSince = undefined;
        }
        const pause = pauseMs(error, tries);
        if (!verdict.again || Date.now() + pause > giveUpAt) {
          throw doubtSince === undefined ? error : new OutcomeUnknown(key, { cause: error });
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
   * events were missed that are no longer kept, and a `Refusal` if the key may no longer read.
   */
  async *stream(options: StreamOptions = {}): AsyncGenerator<AccountEvent<E>, void, undefined> {
    let last = options.after;
    const position = (): Record<string, string> => (last === undefined ? {} : { "Last-Event-ID": `${last}` });
    for await (const message of this.#messages("/events/stream", position, options.signal)) {
      if (message.data !== undefined) {
        const event = JSON.parse(message.data) as AccountEvent<E>;
        if (last !== undefined && event.number <= last) continue;
        last = event.number;
        yield event;
      } else if (last === undefined && message.id !== undefined && /^[0-9]+$/.test(message.id)) {
        last = Number(message.id);
      }
    }
  }

  /** The messages of a stream, which is opened again after every break, until it is refused or told to end. */
  async *#messages(
    path: string,
    headers: () => Readonly<Record<string, string>>,
    ended: AbortSignal | undefined,
  ): AsyncGenerator<Message, void, undefined> {
    for (let failed = 0; !ended?.aborted; ) {
      const abort = new AbortController();
      let silence = setTimeout(() => abort.abort(), SILENT_MS);
      try {
        const response = await opened(this.#fetch, {
          method: "GET",
          url: this.#base + path,
          headers: { ...this.#headers, Accept: "text/event-stream", ...headers() },
          signal: AbortSignal.any([abort.signal, ...(ended ? [ended] : [])]),
        });
        if (response.body === null) throw new NoAnswer("The stream has no body", response.status);
        for await (const message of messages(response.body)) {
          clearTimeout(silence);
          silence = setTimeout(() => abort.abort(), SILENT_MS);
          failed = 0;
          if (message.type === "end") break; // The next try is told why.
          yield message;
        }
      } catch (error) {
        if (ended?.aborted) return;
        const misled = error instanceof NoAnswer && error.status !== undefined;
        if ((error instanceof Refusal || misled) && !judge(error).again) throw error;
        failed += 1;
        await sleep(pauseMs(error, failed));
      } finally {
        clearTimeout(silence);
        abort.abort();
      }
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
    const giveUpAt = Date.now() + this.#deadlineMs + moreMs;
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#send<Body>("GET", target, {}, this.#timeoutMs + moreMs);
      } catch (error) {
        const pause = pauseMs(error, tries);
        if (!judge(error).again || Date.now() + pause > giveUpAt) throw error;
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

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
