import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";

import { BullionClient, OutcomeUnknown, Refusal } from "../dist/index.js";
import { apiKey, baseUrl, client, losing, playing } from "./service.mjs";

const name = () => `ts-${randomUUID().slice(0, 8)}`;
const placedAs = async (clientOrderId) => (await client().orders({ client_order_id: clientOrderId })).items;

test("it reads the account, the market and the book", async () => {
  const account = await client().me();
  assert.equal(account.environment, "test");
  const symbols = await client().symbols();
  assert.ok(symbols.some((symbol) => symbol.symbol_code === "GOLD"));
  const [quote] = await client().quotes("GOLD");
  assert.match(quote.buy, /^[0-9]+\.[0-9]{2}$/);
  assert.equal((await client().positions()).gold.unit, "g");
});

test("an order is placed and read back", async () => {
  const clientOrderId = name();
  const order = await client().buy("GOLD", "5", { clientOrderId });
  assert.deepEqual([order.status, order.quantity, order.client_order_id], ["filled", "5.0000", clientOrderId]);
  assert.match(order.deal_label, /^T-[0-9]+$/);
  assert.deepEqual(await client().order(order.id), order);
  assert.deepEqual(await client().wait(order), order);
  await client().sell("GOLD", 5n);
});

test("a lost answer is asked for again with the same key, and there is one order", async () => {
  const clientOrderId = name();
  const { fetch, keys } = losing(1);
  const order = await client({ fetch }).buy("GOLD", 1, { clientOrderId });
  assert.equal(keys.length, 2);
  assert.equal(new Set(keys).size, 1);
  assert.deepEqual((await placedAs(clientOrderId)).map((each) => each.id), [order.id]);
});

test("two orders have two keys", async () => {
  const { fetch, keys } = losing(0);
  const placing = client({ fetch });
  await placing.buy("GOLD", 1);
  await placing.sell("GOLD", 1);
  assert.equal(new Set(keys).size, 2);
});

test("without any answer the outcome is unknown, and the key finds the one order later", async () => {
  const clientOrderId = name();
  const { fetch } = losing(Infinity);
  const lost = await client({ fetch, deadlineMs: 300 }).buy("GOLD", 1, { clientOrderId }).catch((error) => error);
  assert.ok(lost instanceof OutcomeUnknown);
  const { idempotencyKey, unansweredUntil } = lost;
  const found = await client().buy("GOLD", 1, { clientOrderId, idempotencyKey, unansweredUntil });
  assert.deepEqual((await placedAs(clientOrderId)).map((each) => each.id), [found.id]);
});

test("a refusal while an earlier try may be on its way is no proof", async () => {
  const { fetch } = playing("answer_lost", "trading_halted");
  await assert.rejects(client({ fetch }).buy("GOLD", 1), OutcomeUnknown);
  const settled = playing("answer_lost", "price_moved");
  await assert.rejects(client({ fetch: settled.fetch }).buy("GOLD", 1), { code: "price_moved" });
});

test("three minutes after the last try without an answer, a refusal is the outcome", async (context) => {
  const halted = (sent) => client({ fetch: playing("trading_halted").fetch }).buy("GOLD", 1, sent);
  const { fetch } = playing("answer_lost", "trading_halted");
  const began = Date.now();
  const lost = await client({ fetch }).buy("GOLD", 1).catch((error) => error);
  const { idempotencyKey, unansweredUntil } = lost;
  assert.ok(unansweredUntil >= began && unansweredUntil <= Date.now());
  assert.ok(lost.message.includes(unansweredUntil.toISOString()));
  let now = unansweredUntil.getTime() + 179_000;
  context.mock.method(Date, "now", () => now);
  const sent = { idempotencyKey, unansweredUntil };
  await assert.rejects(halted(sent), { name: "OutcomeUnknown", idempotencyKey, unansweredUntil });
  now += 1000;
  await assert.rejects(halted(sent), { code: "trading_halted" });
});

test("an answer that is lost again begins the three minutes again", async () => {
  const { fetch } = playing("answer_lost", "trading_halted");
  const sent = { idempotencyKey: randomUUID(), unansweredUntil: new Date(Date.now() - 180_000) };
  const began = Date.now();
  const lost = await client({ fetch }).buy("GOLD", 1, sent).catch((error) => error);
  assert.ok(lost instanceof OutcomeUnknown);
  assert.ok(lost.unansweredUntil >= began);
});

test("a refusal before the key is looked up is never the outcome of an order in doubt", async () => {
  const { fetch } = playing("credential_expired");
  const sent = { idempotencyKey: randomUUID(), unansweredUntil: new Date(0) };
  await assert.rejects(client({ fetch }).buy("GOLD", 1, sent), OutcomeUnknown);
});

test("a time in the future counts as now, and an invalid one is an error before anything is sent", async () => {
  const { fetch, keys } = playing("trading_halted");
  const sent = (unansweredUntil) => ({ idempotencyKey: randomUUID(), unansweredUntil });
  for (const bad of [new Date(NaN), "2026-11-15T00:00:00Z", null]) {
    await assert.rejects(client({ fetch }).buy("GOLD", 1, sent(bad)), /TypeError: unansweredUntil/);
  }
  assert.equal(keys.length, 0);
  const later = new Date(Date.now() + 3_600_000);
  const lost = await client({ fetch }).buy("GOLD", 1, sent(later)).catch((error) => error);
  assert.ok(lost instanceof OutcomeUnknown);
  assert.ok(lost.unansweredUntil <= Date.now());
});

test("what the table says to send again is sent again, after the wait", async () => {
  const { fetch, keys } = playing("stale_rate; retry_after=1", "rate_limited; retry_after=1");
  const began = Date.now();
  assert.equal((await client({ fetch }).buy("GOLD", 1)).status, "filled");
  assert.ok(Date.now() - began >= 2000);
  assert.equal(keys.length, 3);
  assert.equal(new Set(keys).size, 1);
});

test("a refusal is told by its code, and not tried again", async () => {
  const { fetch, keys } = losing(0);
  const refused = await client({ fetch }).buy("TIN", 1).catch((error) => error);
  assert.ok(refused instanceof Refusal);
  assert.deepEqual([refused.code, refused.status, keys.length], ["unknown_symbol", 404, 1]);
  assert.match(refused.requestId, /^[0-9a-f]{24}$/);
  await assert.rejects(client().order(randomUUID()), { code: "order_not_found" });
  await assert.rejects(client().orders({ limit: 0 }), { code: "invalid_request" });
});

test("weights are decimals as they are written", async () => {
  await assert.rejects(client().buy("GOLD", 0.1 + 0.2), /write it as a string/);
  for (const bad of ["1e2", "-1", "", "1,5", "NaN", "01"]) await assert.rejects(client().buy("GOLD", bad), TypeError);
  const { fetch, bodies } = keeping();
  await assert.rejects(client({ fetch }).buy("GOLD", "0.30000000000000000001"), { code: "invalid_request" });
  assert.ok(bodies[0].includes('"quantity":0.30000000000000000001'));
});

test("the key decides the environment", () => {
  assert.throws(() => new BullionClient({ baseUrl, apiKey, environment: "production" }), /for test/);
  assert.throws(() => new BullionClient({ baseUrl, apiKey: "secret" }), /key_test/);
});

test("another program at the address is no refusal", async () => {
  const elsewhere = async () => new Response("<html>", { status: 404 });
  await assert.rejects(client({ fetch: elsewhere }).buy("GOLD", 1), { name: "NoAnswer", status: 404 });
});

function keeping() {
  const bodies = [];
  const carry = (url, init) => {
    bodies.push(init.body ?? "");
    return fetch(url, init);
  };
  return { fetch: carry, bodies };
}
