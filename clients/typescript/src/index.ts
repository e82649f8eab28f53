export {
  type AccountEvent,
  BullionClient,
  type Environment,
  type EventList,
  type EventQuery,
  type Options,
  type Order,
  type OrderList,
  type OrderQuery,
  type PlaceOptions,
  type Positions,
  type StreamOptions,
} from "./client.js";
export type { EventStream } from "./event_stream.js";
export { BullionError, EventsGone, NoAnswer, OutcomeUnknown, Refusal } from "./errors.js";
export type { Decimal, NewOrder, TradeType } from "./order.js";
export type { components, operations } from "./schema.js";
