// The body of an order: weights and prices are decimals, and no float comes near them.

export type TradeType = "buy" | "sell";

/** `"2.5"`, or a whole number. Other numbers are binary floats, and 0.1 + 0.2 is not 0.3. */
export type Decimal = string | number | bigint;

export interface NewOrder {
  readonly symbolCode: string;
  readonly tradeType: TradeType;
  /** In the unit of the symbol: grams of gold, kilograms of silver. */
  readonly quantity: Decimal;
  /** If the price has moved further from it than the broker tolerates, nothing is booked. */
  readonly expectedPrice?: Decimal;
  /** Your own name for the order. */
  readonly clientOrderId?: string;
}

/** JSON with the decimals as they were written. */
export function orderJson(order: NewOrder): string {
  const fields = [
    `"symbol_code":${JSON.stringify(order.symbolCode)}`,
    `"trade_type":${JSON.stringify(order.tradeType)}`,
    `"quantity":${decimalJson(order.quantity, "quantity")}`,
  ];
  if (order.expectedPrice !== undefined) {
    fields.push(`"expected_price":${decimalJson(order.expectedPrice, "expectedPrice")}`);
  }
  if (order.clientOrderId !== undefined) {
    fields.push(`"client_order_id":${JSON.stringify(order.clientOrderId)}`);
  }
  return `{${fields.join(",")}}`;
}

function decimalJson(value: Decimal, name: string): string {
  if (typeof value === "number" && !Number.isSafeInteger(value)) {
    throw new TypeError(`${name} is the float ${value}: write it as a string, such as "2.5"`);
  }
  const text = String(value);
  if (!/^(0|[1-9][0-9]*)(\.[0-9]+)?$/.test(text)) {
    throw new TypeError(`${name} must be a decimal such as "2.5"; this is ${JSON.stringify(text)}`);
  }
  return text;
}
