// Server-sent events, as the HTML standard has them: what a stream of bytes says, event by event.

export interface Message {
  /** The last `id` so far, also one of a message without data. */
  readonly id: string | undefined;
  readonly type: string;
  /** Undefined for a message that has only an id. */
  readonly data: string | undefined;
  /** How long to wait before the stream is opened again, if it named that so far. */
  readonly retryMs: number | undefined;
}

/** The lines of a stream, without their ends: LF, CR or CRLF. */
async function* lines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return; // What is left is not a whole line, and was not meant to be read.
      rest += decoder.decode(value, { stream: true });
      // A CR at the very end may be half of a CRLF.
      const cut = rest.endsWith("\r") ? rest.length - 1 : rest.length;
      const parts = rest.slice(0, cut).split(/\r\n|\r|\n/);
      rest = (parts.pop() ?? "") + rest.slice(cut);
      yield* parts;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Every message, and every heartbeat as an empty one, so that the reader knows that the line is alive. */
export async function* messages(body: ReadableStream<Uint8Array>): AsyncGenerator<Message> {
  let id: string | undefined;
  let retryMs: number | undefined;
  let type = "message";
  let data: string[] = [];
  for await (const line of lines(body)) {
    if (line === "") {
      yield { id, type, data: data.length > 0 ? data.join("\n") : undefined, retryMs };
      type = "message";
      data = [];
      continue;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "id") id = value;
    else if (field === "event") type = value;
    else if (field === "data") data.push(value);
    else if (field === "retry" && /^[0-9]{1,9}$/.test(value)) retryMs = Number(value);
  }
}
