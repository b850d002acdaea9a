import { maskEventData, parseEventType, schemaRegistry } from "@signalbox/contracts";
import { masked, maskText, RawJson } from "@signalbox/core";

type Headers = Readonly<Record<string, string>>;

/** Headers of our own envelope, which name the event and its account. */
const ownHeader = /^(?:ce_(?:specversion|id|source|type|time|subject|dataschema|accountid|traceparent)|content-type)$/;

/** The names of a message in a list. */
export const namesOf = (headers: Headers, reason: string) => ({
  event_id: headers.ce_id ?? null,
  event_type: headers.ce_type ?? null,
  reason: maskText(reason),
});

/** The headers and the decoded body of a message, masked for an operator. */
export function maskedMessage(headers: Headers, value: Buffer | null) {
  const shown = Object.entries(headers).map(([name, text]) => [
    name,
    ownHeader.test(name) || name === schemaRegistry.idHeader ? text : masked,
  ]);
  return { headers: Object.fromEntries(shown) as Record<string, string>, body: bodyOf(headers, value) };
}

function bodyOf({ ce_type: type = "" }: Headers, value: Buffer | null): unknown {
  if (value === null) return null;
  try {
    return maskEventData(parseEventType(type)?.name ?? null, parsed(value.toString("utf8")));
  } catch {
    return `${masked} (${value.length} bytes that are not JSON)`;
  }
}

/** Parses a message; a number that would be printed with other digits, such as a partner's id, stays raw JSON. */
function parsed(text: string): unknown {
  const keepDigits = (_name: string, value: unknown, { source = "" }: { readonly source?: string } = {}) =>
    typeof value === "number" && String(value) !== source ? new RawJson(source, value, false) : value;
  return JSON.parse(text, keepDigits);
}
