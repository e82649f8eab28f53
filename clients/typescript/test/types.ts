// Compiled, never run: what the types know.

import { BullionClient } from "../src/index.js";

const test = new BullionClient({ baseUrl: "", apiKey: "", environment: "test" });
const live = new BullionClient({ baseUrl: "", apiKey: "", environment: "production" });

export async function typed(): Promise<unknown[]> {
  const label: string = (await test.buy("GOLD", "5")).deal_label;
  const deal: number | null | undefined = (await live.buy("GOLD", "5")).deal_no;
  await live.orders({ status: "open", since: "2026-11-15" });
  // @ts-expect-error A test order has no deal number.
  (await test.buy("GOLD", "5")).deal_no;
  // @ts-expect-error There is no such state.
  await live.orders({ status: "cancelled" });
  // @ts-expect-error A test order has one state only, and no filter for it.
  await test.orders({ status: "open" });
  // @ts-expect-error A side is not an argument of a buy.
  await live.place({ symbolCode: "GOLD", tradeType: "hold", quantity: "5" });
  return [label, deal];
}
