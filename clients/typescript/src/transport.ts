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
export async function opened(send: Fetch, sent: Sent): Promise<Response> {
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
