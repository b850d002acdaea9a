/** Headers as they are written in a request, one on each line. */
export const headerLines = (headers: Readonly<Record<string, string | readonly string[]>>): string =>
  Object.entries(headers)
    .flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}`))
    .join("\n");

/** Reads headers that were pasted, one on each line; names are compared in lower case. @throws Error with the line that is none */
export function headersOfLines(text: string): Record<string, string> {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  return Object.fromEntries(
    lines.map((line, at) => {
      const colon = line.indexOf(":");
      if (colon < 1) throw new Error(`Headers: line ${at + 1} has no colon. Write each header as name: value.`);
      return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
}

/** Returns the address of the trace that a message belongs to (W3C Trace Context, `traceparent`); null without one. */
export function traceUrl(template: string | null, { traceparent }: Readonly<Record<string, string>>): string | null {
  const [, traceId] = /^[0-9a-f]{2}-([0-9a-f]{32})-/.exec(traceparent ?? "") ?? [];
  return template === null || traceId === undefined ? null : template.replace("{trace_id}", traceId);
}
