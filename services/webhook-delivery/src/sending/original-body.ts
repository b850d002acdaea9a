export interface OriginalWebhook {
  readonly body: Buffer;
  /** Headers that the source forwards, the media type among them. */
  readonly headers: Readonly<Record<string, string>>;
}

interface ReceivedData {
  readonly headers?: Readonly<Record<string, string>>;
  readonly payload_text?: string;
  readonly payload_base64?: string;
}

/** Extracts a partner's webhook from the envelope of `webhook.received`; its JSON stays byte for byte. */
export function originalOf(envelope: Buffer): OriginalWebhook {
  const { headers = {}, payload_text: text, payload_base64: base64 } = dataOf(envelope);
  if (base64 !== undefined) return { body: Buffer.from(base64, "base64"), headers };
  if (text !== undefined) return { body: Buffer.from(text), headers };
  return { body: rawMember(rawMember(envelope, "data"), "payload"), headers };
}

const dataOf = (envelope: Buffer): ReceivedData =>
  (JSON.parse(envelope.toString("utf8")) as { data: ReceivedData }).data;

const quote = 0x22;
const backslash = 0x5c;
const opening = new Set([0x7b, 0x5b]);
const closing = new Set([0x7d, 0x5d]);
const comma = 0x2c;
const colon = 0x3a;

export function rawMember(json: Buffer, name: string): Buffer {
  let [depth, start, key] = [0, 0, ""];
  for (let at = 0; at < json.length; at++) {
    const byte = json[at] as number;
    if (byte === quote) {
      const end = endOfText(json, at);
      if (depth === 1 && start === 0) key = JSON.parse(json.toString("utf8", at, end + 1)) as string;
      at = end;
    } else if (opening.has(byte)) depth++;
    else if (depth === 1 && byte === colon) start = at + 1;
    else if ((depth === 1 && byte === comma) || (closing.has(byte) && --depth === 0)) {
      if (key === name) return trimmed(json.subarray(start, at));
      start = 0;
    }
  }
  throw new Error(`the JSON has no member ${name}`);
}

function trimmed(json: Buffer): Buffer {
  let [from, to] = [0, json.length];
  while (from < to && (json[from] as number) <= 0x20) from++;
  while (to > from && (json[to - 1] as number) <= 0x20) to--;
  return json.subarray(from, to);
}

function endOfText(json: Buffer, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    if (json[at] === backslash) at++;
    else if (json[at] === quote) return at;
  }
  throw new Error("a text in the JSON does not end");
}
