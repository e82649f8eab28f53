// What each refusal advises.
// Written by `make generate` from src/bullion/refusals/catalogue.py. Change that, not this.

export interface Advice {
  readonly retry: "never" | "same_key" | "same_key_after" | "new_key";
  /** It is the final outcome of the key. */
  readonly settles?: true;
  /** The key was looked up, and nothing was recorded under it then. */
  readonly lookedUp?: true;
  /** The try may have booked the order. */
  readonly unsure?: true;
}

export const REFUSALS: Readonly<Record<string, Advice>> = {
  headers_too_large: { retry: "never" },
  malformed_http: { retry: "never" },
  request_timeout: { retry: "same_key" },
  method_not_allowed: { retry: "never" },
  auth_throttled: { retry: "same_key_after" },
  missing_credential: { retry: "never" },
  malformed_credential: { retry: "never" },
  wrong_tenant: { retry: "never" },
  wrong_environment: { retry: "never" },
  invalid_credential: { retry: "never" },
  credential_revoked: { retry: "never" },
  credential_rotated: { retry: "never" },
  credential_expired: { retry: "never" },
  address_not_allowed: { retry: "never" },
  api_access_disabled: { retry: "never" },
  account_inactive: { retry: "never" },
  insufficient_scope: { retry: "never" },
  rate_limited: { retry: "same_key_after" },
  rate_limiter_unavailable: { retry: "same_key_after" },
  scenario_not_allowed: { retry: "never" },
  unknown_scenario: { retry: "never" },
  quote_stream_disabled: { retry: "never" },
  too_many_streams: { retry: "same_key_after" },
  request_too_large: { retry: "never" },
  unsupported_encoding: { retry: "never" },
  production_trading_disabled: { retry: "never", lookedUp: true },
  production_prerequisites_unmet: { retry: "same_key_after", lookedUp: true },
  idempotency_key_required: { retry: "never" },
  invalid_request: { retry: "never" },
  idempotency_key_reused: { retry: "never", settles: true },
  order_not_found: { retry: "never" },
  events_gone: { retry: "never" },
  webhook_not_found: { retry: "never" },
  webhook_url_refused: { retry: "never" },
  webhook_limit: { retry: "never" },
  webhook_off: { retry: "never" },
  unknown_symbol: { retry: "never", lookedUp: true },
  symbol_not_trading: { retry: "never", lookedUp: true },
  invalid_side: { retry: "never", lookedUp: true },
  side_not_offered: { retry: "never", lookedUp: true },
  rates_not_ready: { retry: "same_key_after", lookedUp: true },
  no_live_price: { retry: "never", lookedUp: true },
  unpriced: { retry: "never", lookedUp: true },
  stale_rate: { retry: "same_key_after", lookedUp: true },
  trading_halted: { retry: "never", lookedUp: true },
  symbol_frozen: { retry: "never", lookedUp: true },
  quantity_rule: { retry: "never", lookedUp: true },
  tradeability_unverified: { retry: "same_key_after", lookedUp: true },
  symbol_unavailable: { retry: "same_key_after", lookedUp: true },
  group_trading_disabled: { retry: "never", lookedUp: true },
  group_quantity_rule: { retry: "never", lookedUp: true },
  pricing_unavailable: { retry: "same_key_after", lookedUp: true },
  limit_exceeded: { retry: "never", lookedUp: true },
  out_of_stock: { retry: "never", lookedUp: true },
  price_moved: { retry: "new_key", settles: true, lookedUp: true },
  order_rejected: { retry: "new_key", settles: true, lookedUp: true },
  booking_conflict: { retry: "same_key" },
  booking_unavailable: { retry: "same_key_after" },
  booking_busy: { retry: "same_key_after" },
  booking_not_completed: { retry: "same_key_after", lookedUp: true },
  booking_outcome_unknown: { retry: "same_key_after", unsure: true },
  service_unavailable: { retry: "same_key_after", unsure: true },
  internal_error: { retry: "same_key", unsure: true },
};
