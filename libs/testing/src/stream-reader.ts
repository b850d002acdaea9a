/** One event of a stream of Server-Sent Events. */
export interface StreamEvent {
  /** `message` when the stream names none. */
  readonly event: string;
  readonly id: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: each test asserts the members it reads.
  readonly data: any;
}

export interface StreamReader {
  readonly status: number;
  readonly headers: Headers;
  /** Every event so far; a block without data counts as one with data `null`. */
  readonly events: StreamEvent[];
  /** Received lines that are no event: comments and `retry`. */
  readonly lines: string[];
  /** Settles when either side has ended the stream. */
  readonly ended: Promise<void>;
  close(): void;
}

/** Reads a stream of Server-Sent Events as it arrives. Any other answer is returned as it is. */
export async function readStream(
  url: string,
  headers: Record<string, string>,
  onEvent: (event: StreamEvent) => void = () => {},
): Promise<StreamReader> {
  const controller = new AbortController();
  const response = await fetch(url, { headers, signal: controller.signal });
  const [events, lines]: [StreamEvent[], string[]] = [[], []];
  const read = async (): Promise<void> => {
    let rest = "";
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
    if (!isStream || response.body === null) return;
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      const blocks = (rest + chunk).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const count = events.length;
        take(block, events, lines);
        if (events.length > count) onEvent(events.at(-1) as StreamEvent);
      }
    }
  };
  return {
    status: response.status,
    headers: response.headers,
    events,
    lines,
    ended: read().catch(() => {}),
    close: () => controller.abort(),
  };
}

function take(block: string, events: StreamEvent[], lines: string[]): void {
  const members = block.split("\n").map((line) => /^(event|id|data): ?(.*)$/.exec(line) ?? line);
  for (const member of members) if (typeof member === "string" && member !== "") lines.push(member);
  const find = (name: string) => members.find((member) => typeof member !== "string" && member[1] === name)?.[2];
  const [data, id] = [find("data"), find("id")];
  if (data === undefined && id === undefined) return;
  events.push({ event: find("event") ?? "message", id, data: data === undefined ? null : JSON.parse(data) });
}
