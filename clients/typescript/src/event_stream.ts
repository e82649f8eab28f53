// The events of an account as they happen: where the reader is, and what comes next.

import type { Message } from "./sse.js";

type Connect = (position: () => Readonly<Record<string, string>>) => AsyncGenerator<Message, void, undefined>;

/** Every event, without end, gap or double. */
export class EventStream<Event extends { readonly number: number }> implements AsyncIterableIterator<Event> {
  readonly #messages: AsyncGenerator<Message, void, undefined>;
  #last: number | undefined;
  #waiting: Event[] = [];

  constructor(connect: Connect, after: number | undefined) {
    this.#last = after;
    this.#messages = connect(() => (this.#last === undefined ? {} : { "Last-Event-ID": `${this.#last}` }));
  }

  /**
   * Connect, unless it is known after which event to begin: whatever happens once this has returned comes. Without it,
   * that holds from the first `next` on.
   */
  async open(): Promise<this> {
    while (this.#last === undefined && (await this.#take()));
    return this;
  }

  async next(): Promise<IteratorResult<Event, undefined>> {
    for (;;) {
      const event = this.#waiting.shift();
      if (event !== undefined) return { value: event, done: false };
      if (!(await this.#take())) return { value: undefined, done: true };
    }
  }

  /** Close the connection. */
  async return(): Promise<IteratorResult<Event, undefined>> {
    this.#waiting = [];
    await this.#messages.return();
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Take one message in. False after the end. */
  async #take(): Promise<boolean> {
    const { value: message, done } = await this.#messages.next();
    if (done) return false;
    if (message.data !== undefined) this.#accept(await this.#read(message.data));
    else if (this.#last === undefined && /^[0-9]+$/.test(message.id ?? "")) this.#last = Number(message.id);
    return true;
  }

  #accept(event: Event): void {
    if (this.#last !== undefined && event.number <= this.#last) return;
    this.#last = event.number;
    this.#waiting.push(event);
  }

  async #read(data: string): Promise<Event> {
    try {
      return JSON.parse(data) as Event;
    } catch (error) {
      await this.return();
      throw error;
    }
  }
}
