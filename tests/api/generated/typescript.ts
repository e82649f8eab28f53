// Places orders with the types that openapi-typescript made of the description.

import type { components, paths } from "./schema";

declare const process: { argv: string[] };

type Place = paths["/api/trading/test/v1/orders"]["post"];
type Body = Place["requestBody"]["content"]["application/json"];
type Responses = Place["responses"];
type Json<Status extends keyof Responses> = Responses[Status]["content"]["application/json"];
type Code = components["schemas"]["Refusal"]["detail"]["code"];

const [address, key] = process.argv.slice(2) as [string, string];

async function place(orderKey: string, symbolCode: string, quantity: number): Promise<Response> {
  const body: Body = { symbol_code: symbolCode, trade_type: "buy", quantity };
  const headers = { "X-API-Key": key, "Idempotency-Key": orderKey, "Content-Type": "application/json" };
  return fetch(`${address}/api/trading/test/v1/orders`, { method: "POST", headers, body: JSON.stringify(body) });
}

async function main(): Promise<void> {
  const order = (await (await place("1", "GOLD", 1)).json()) as Json<201>;
  const unknown = (await (await place("2", "TIN", 1)).json()) as Json<404>;
  const size = (await (await place("3", "GOLD", 1.5)).json()) as Json<400>;
  const reused = (await (await place("1", "GOLD", 2)).json()) as Json<422>;
  const codes: Code[] = [unknown.detail.code, size.detail.code];
  if (reused.detail.code !== "invalid_request") codes.push(reused.detail.code);
  // @ts-expect-error A code that no refusal has.
  codes.filter((code) => code === "no_such_code");
  console.log(JSON.stringify([order.status, ...codes]));
}

void main();
