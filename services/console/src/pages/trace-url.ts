/** Returns the address of the trace that a message belongs to (W3C Trace Context, `traceparent`); null without one. */
export function traceUrl(template: string | null, { traceparent }: Readonly<Record<string, string>>): string | null {
  const [, traceId] = /^[0-9a-f]{2}-([0-9a-f]{32})-/.exec(traceparent ?? "") ?? [];
  return template === null || traceId === undefined ? null : template.replace("{trace_id}", traceId);
}
