import assert from "node:assert/strict";
import { test } from "node:test";

import { EventsGone } from "../dist/index.js";
import { messages } from "../dist/sse.js";
import { client } from "./service.mjs";

async function newest() {
  let after = 0;
  for (;;) {
    const page = await client().events({ after, limit: 200 });
    after = page.next_after;
    if (!page.has_more) return after;
  }
}

/** Carries streams, and cuts the first one off in the middle of its second event. */
function cutting() {
  const asked = [];
  const carry = async (url, init) => {
    const response = await fetch(url, init);
    if (!url.endsWith("/events/stream") || !response.ok) return response;
    asked.push(init.headers["Last-Event-ID"]);
    return asked.length > 1 ? response : new Response(ReadableStream.from(half(response.body)), response);
  };
  return { fetch: carry, asked };
}

async function* half(body) {
  let text = "";
  for await (const piece of body) {
    text += new TextDecoder().decode(piece);
    const second = text.indexOf("event: order.", text.indexOf("event: order.") + 1);
    if (second < 0) continue;
    yield new TextEncoder().encode(text.slice(0, second + 60));
    throw new TypeError("the connection broke");
  }
}

test("events are listed, oldest first and without a gap", async () => {
  const after = await newest();
  const order = await client().buy("GOLD", 1);
  const page = await client().events({ after, wait: 5 });
  assert.deepEqual(page.items.map((event) => [event.number, event.type]), [[after + 1, "order.created"]]);
  assert.deepEqual(page.items[0].data, order);
  await client().sell("GOLD", 1);
});

test("a stream goes on after a break, without gap and double", async () => {
  const after = await newest();
  const ids = [];
  for (const side of ["buy", "sell", "buy", "sell"]) ids.push((await client()[side]("GOLD", 1)).id);
  const { fetch, asked } = cutting();
  const numbers = [];
  const told = [];
  for await (const event of client({ fetch }).stream({ after })) {
    numbers.push(event.number);
    told.push(event.data.id);
    if (numbers.length === ids.length) break;
  }
  assert.deepEqual(numbers, ids.map((_, place) => after + 1 + place));
  assert.deepEqual(told, ids);
  assert.deepEqual(asked, [`${after}`, `${after + 1}`]);
});

test("a stream without a number begins with what happens from now on, and ends when told", async () => {
  const stop = new AbortController();
  const stream = client().stream({ signal: stop.signal });
  await stream.open();
  const placed = await client().buy("GOLD", 1);
  assert.equal((await stream.next()).value.data.id, placed.id);
  const over = stream.next();
  stop.abort();
  assert.equal((await over).done, true);
});

test("events that are gone are told with what is there", async () => {
  const beyond = (await newest()) + 1_000_000;
  const gone = await client().events({ after: beyond }).catch((error) => error);
  assert.ok(gone instanceof EventsGone);
  assert.equal(gone.newest, await newest());
  await assert.rejects(client().stream({ after: beyond }).next(), EventsGone);
});

test("a stream that is refused says why", async () => {
  await assert.rejects(client().quoteStream().next(), { code: "quote_stream_disabled", status: 403 });
});

test("the stream's text may come in any pieces", async () => {
  const text = "retry: 1000\nid: 7\n: \n\n: \r\n\r\nid: 8\revent: order.created\rdata: {\rdata:  1}\r\r\ndata: half";
  for (const size of [1, 2, 3, text.length]) {
    const pieces = text.match(new RegExp(`[^]{1,${size}}`, "g")).map((piece) => new TextEncoder().encode(piece));
    const found = [];
    for await (const message of messages(ReadableStream.from(pieces))) found.push(message);
    const withData = found.filter((message) => message.data !== undefined);
    assert.deepEqual(withData, [{ id: "8", type: "order.created", data: "{\n 1}", retryMs: 1000 }], `in pieces of ${size}`);
    assert.equal(found[0].id, "7");
  }
});
