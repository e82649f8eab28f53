// One call over fetch: its answer as JSON, or an error that says what is known.

import { EventsGone, NoAnswer, Refusal } from "./errors.js";

export type Fetch = typeof fetch;
export type Method = "GET" | "POST" | "PATCH" | "DELETE";

export interface Sent {
  readonly method: Method;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

/** Throws for a header of the caller's that decides whether an order is a second one. */
export function checkGivenHeaders(headers: Readonly<Record<string, string>> = {}): void {
  for (const name of Object.keys(headers)) {
    if (name.toLowerCase() !== "idempotency-key") continue;
    throw new TypeError(`headers cannot set ${name}: give idempotencyKey to place, buy or sell`);
  }
}

/** Throws unless a call could be sent with these: a call that fails for them would be tried again for nothing. */
export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    try {
      new Headers([[name, value]]);
    } catch {
      // Without the value, which may be a key.
      throw new TypeError(`The header ${JSON.stringify(name)} has a name or value that cannot be sent`);
    }
  }
}

/** The address without slashes at its end. */
export function checkedAddress(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  const plain = url?.username === "" && url.password === "" && !/[?#]/.test(baseUrl);
  if (!plain || !/^https?:$/.test(url.protocol)) {
    throw new TypeError("baseUrl must be an address such as https://trading.example, without user, query and fragment");
  }
  return baseUrl.replace(/\/+$/, "");
}

/** The answer's body, or a Refusal or NoAnswer. */
export async function answerOf<Body>(send: Fetch, sent: Sent): Promise<Body> {
  const response = await opened(send, sent);
  try {
    return (await response.json()) as Body;
  } catch (error) {
    throw new NoAnswer("The answer broke off, or it is not JSON", undefined, { cause: error });
  }
}

/** A response that was not refused, before its body is read. */
async function opened(send: Fetch, sent: Sent): Promise<Response> {
  const { url, ...init } = sent;
  let response: Response;
  try {
    response = await send(url, { ...init, redirect: "manual" });
  } catch (error) {
    throw new NoAnswer("No answer came", undefined, { cause: error });
  }
  if (response.ok) return response;
  throw await refusalOf(response);
}

/** The bytes of a stream of events, or a Refusal or NoAnswer. */
export async function openedStream(send: Fetch, sent: Sent): Promise<ReadableStream<Uint8Array>> {
  const response = await opened(send, sent);
  const kind = response.headers.get("content-type") ?? "";
  if (response.body === null || !/^text\/event-stream *(;|$)/i.test(kind)) {
    throw new NoAnswer("The answer is not a stream of events", response.status);
  }
  return response.body;
}

async function refusalOf(response: Response): Promise<Refusal | NoAnswer> {
  let detail: Record<string, unknown> | undefined;
  try {
    const body: unknown = await response.json();
    const found = (body as { detail?: unknown } | null)?.detail;
    if (typeof found === "object" && found !== null) detail = found as Record<string, unknown>;
  } catch (error) {
    return new NoAnswer(`Something answered ${response.status} that is not the service`, response.status, {
      cause: error,
    });
  }
  const code = detail?.["code"];
  if (detail === undefined || typeof code !== "string") {
    return new NoAnswer(`Something answered ${response.status} without a code`, response.status);
  }
  const waits = response.headers.get("retry-after");
  const Kind = code === "events_gone" ? EventsGone : Refusal;
  return new Kind(
    code,
    response.status,
    String(detail["message"] ?? ""),
    detail,
    response.headers.get("x-request-id") ?? undefined,
    waits !== null && /^[0-9]{1,6}$/.test(waits) ? Number(waits) : undefined,
  );
}
