// What the client makes of networks and programs that are not the service. No service is called here.

import assert from "node:assert/strict";
import { test } from "node:test";

import { OutcomeUnknown } from "../dist/index.js";
import { client } from "./service.mjs";

const SILENT_MS = 45_000;
const EVENT = 'id: 8\nevent: order.created\ndata: {"number": 8}\n\n';

const json = (status, body) => new Response(JSON.stringify(body), { status });
const eventStream = (text) => new Response(text, { headers: { "Content-Type": "text/event-stream; charset=utf-8" } });

/** A fetch that gives these answers one after the other, then the last one again and again. */
function answering(...answers) {
  const sent = [];
  const carry = async (_, init) => {
    const answer = answers[Math.min(sent.push(init.headers), answers.length) - 1];
    return answer();
  };
  return { fetch: carry, sent };
}

/** Every pause of the client is over at once, and its length is kept. */
function hurried(context) {
  const pauses = [];
  const wait = globalThis.setTimeout;
  context.after(() => {
    globalThis.setTimeout = wait;
  });
  globalThis.setTimeout = (then, ms) => {
    if (ms !== SILENT_MS) pauses.push(ms);
    return wait(then, ms === SILENT_MS ? ms : 0);
  };
  return pauses;
}

test("a stream that ends at once is opened again after longer and longer pauses", async (context) => {
  const pauses = hurried(context);
  const stop = new AbortController();
  const { fetch, sent } = answering(() => {
    if (sent.length === 4) stop.abort();
    return eventStream("retry: 2000\nid: 7\n\nevent: end\ndata: {}\n\n");
  });
  assert.equal((await client({ fetch }).stream({ signal: stop.signal }).next()).done, true);
  assert.deepEqual(sent.map((headers) => headers["Last-Event-ID"]), [undefined, "7", "7", "7"]);
  assert.equal(pauses.length, 3);
  for (const [place, least] of [2000, 4000, 8000].entries()) {
    assert.ok(pauses[place] >= least && pauses[place] <= least * 1.5, `pause ${place}: ${pauses[place]}`);
  }
});

test("after an event the pauses are short again", async (context) => {
  const pauses = hurried(context);
  const empty = () => eventStream("id: 7\n\n");
  const { fetch } = answering(empty, empty, () => eventStream(EVENT), () => json(401, { detail: { code: "bad" } }));
  const stream = client({ fetch }).stream();
  assert.equal((await stream.next()).value.number, 8);
  await assert.rejects(stream.next(), { code: "bad" });
  assert.deepEqual(pauses.map((pause) => pause >= 1000), [false, true, false]);
});

test("what is no event stream is an error at once", async () => {
  const { fetch, sent } = answering(() => new Response("<html>", { headers: { "Content-Type": "text/html" } }));
  await assert.rejects(client({ fetch }).stream().next(), { name: "NoAnswer", status: 200 });
  await assert.rejects(client({ fetch }).quoteStream().next(), { name: "NoAnswer", status: 200 });
  assert.equal(sent.length, 2);
});

test("a stream that is told to end does not finish its pause first", async () => {
  const stop = new AbortController();
  const { fetch } = answering(() => json(503, { detail: { code: "starting" } }), () => eventStream(EVENT));
  const slow = async (...sent) => {
    const response = await fetch(...sent);
    response.headers.set("Retry-After", "600");
    setTimeout(() => stop.abort(), 20);
    return response;
  };
  assert.equal((await client({ fetch: slow }).stream({ signal: stop.signal }).next()).done, true);
});

test("whatever happens after a stream was opened comes", async () => {
  const { fetch, sent } = answering(() => eventStream(`id: 7\n\n${EVENT}`));
  const stream = client({ fetch }).stream();
  await stream.open();
  await stream.open();
  assert.equal(sent.length, 1);
  assert.equal((await stream.next()).value.number, 8);
  await stream.return();
  assert.equal((await stream.next()).done, true);
  const { fetch: other } = answering(() => eventStream(EVENT));
  const late = await client({ fetch: other }).stream().open();
  assert.equal((await late.next()).value.number, 8);
  await late.return();
});

test("an order that is sent elsewhere may be booked, unless the address is wrong", async (context) => {
  hurried(context);
  for (const status of [302, 303]) {
    const { fetch } = answering(() => new Response(null, { status }));
    await assert.rejects(client({ fetch, deadlineMs: 300 }).buy("GOLD", 1), OutcomeUnknown);
    await assert.rejects(client({ fetch }).me(), { name: "NoAnswer", status });
  }
  const { fetch, sent } = answering(() => new Response(null, { status: 308 }));
  await assert.rejects(client({ fetch }).buy("GOLD", 1), { name: "NoAnswer", status: 308 });
  assert.equal(sent.length, 1);
});

test("JSON that is no order proves nothing, and the order is asked for again", async (context) => {
  hurried(context);
  const bodies = [{}, null, { id: 5 }, { id: "a" }];
  const { fetch, sent } = answering(...bodies.map((body) => () => json(201, body)));
  assert.equal((await client({ fetch }).buy("GOLD", 1)).id, "a");
  assert.equal(new Set(sent.map((headers) => headers["Idempotency-Key"])).size, 1);
  const wrong = answering(() => json(200, { ok: true }));
  await assert.rejects(client({ fetch: wrong.fetch, deadlineMs: 300 }).buy("GOLD", 1), OutcomeUnknown);
});

test("a clock that is set does not change how long a call may take", async (context) => {
  hurried(context);
  let today = Date.now();
  context.mock.method(Date, "now", () => (today += 3_600_000));
  const { fetch, sent } = answering(() => json(503, { detail: { code: "starting" } }), () => json(201, { id: "a" }));
  assert.equal((await client({ fetch }).buy("GOLD", 1)).id, "a");
  assert.equal(sent.length, 2);
});

test("a wrong address or header is an error at once, and nothing is sent", async () => {
  const { fetch, sent } = answering(() => json(201, { id: "a" }));
  const wrong = ["", "a.example", "ftp://a.example", "https://", "https://a:b@a.example", "https://a.example/?a=1"];
  for (const baseUrl of wrong) {
    assert.throws(() => client({ fetch, baseUrl }), TypeError, baseUrl);
  }
  assert.throws(() => client({ fetch, headers: { "X-Note": "a\nb" } }), /X-Note/);
  assert.throws(() => client({ fetch, apiKey: "key_test.ключ" }), { name: "TypeError", message: /^[^к]+$/ });
  await assert.rejects(client({ fetch }).buy("GOLD", 1, { idempotencyKey: "a\nb" }), TypeError);
  await assert.rejects(client({ fetch }).buy("GOLD", 1, { headers: { "bad name": "a" } }), TypeError);
  // It would be replaced, or joined with the client's own key: the same order sent again would be a second one.
  for (const name of ["Idempotency-Key", "idempotency-key"]) {
    await assert.rejects(client({ fetch }).buy("GOLD", 1, { headers: { [name]: "k" } }), /idempotencyKey/);
    assert.throws(() => client({ fetch, headers: { [name]: "k" } }), /idempotencyKey/);
  }
  assert.equal(sent.length, 0);
});
