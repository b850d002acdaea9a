import { Failure } from "../failures.ts";

/** One server-sent event. */
export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/** A message has at most this many bytes; more on one line is no stream of ours. */
const lineCharactersMax = 8 * 1024 * 1024;

/** Reads server-sent events as they arrive. Comments keep a connection alive, and are events without data here. */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let rest = "";
  // A line that comes in many pieces is searched once: what was searched has no end of a block.
  let searched = 0;
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    let start = 0;
    for (;;) {
      const end = rest.indexOf("\n\n", Math.max(start, searched - 1));
      if (end < 0) break;
      yield eventOf(rest.slice(start, end));
      start = end + 2;
      searched = start;
    }
    rest = rest.slice(start);
    searched = rest.length;
    if (rest.length > lineCharactersMax) throw new Failure("The stream has a message without an end.");
  }
}

function eventOf(block: string): ServerEvent {
  const members = new Map<string, string>();
  for (const line of block.split("\n")) {
    const at = line.indexOf(":");
    if (at > 0) members.set(line.slice(0, at), line.slice(at + 1).replace(/^ /, ""));
  }
  return { event: members.get("event") ?? "message", data: members.get("data") ?? "" };
}
