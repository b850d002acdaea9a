import { routeOf } from "../edge-routes.ts";

/** One request, as it is counted. */
export interface AccessLine {
  /** The published prefix of its path; `none` where nothing is published. */
  readonly route: string;
  readonly service: string;
  readonly status: string;
  /** Time of all attempts at services together; null where nginx answered by itself. */
  readonly upstreamSeconds: number | null;
}

/**
 * Reads one message of nginx's syslog: `<190>Nov 26 18:00:00 edge: {…}`. Returns null for anything else. The path only
 * chooses a route of the table, so that no label holds text of a caller.
 */
export function parseAccessLine(message: string): AccessLine | null {
  const fields = membersOf(message.slice(message.indexOf("{")));
  if (fields === null) return null;
  const { path, status, upstream_seconds: upstream } = fields;
  if (typeof path !== "string" || typeof status !== "string" || !/^[1-5]\d\d$/.test(status)) return null;
  const route = routeOf(path);
  return {
    route: route?.prefix ?? "none",
    service: route?.service ?? "none",
    status,
    upstreamSeconds: typeof upstream === "string" ? sumOf(upstream) : null,
  };
}

function membersOf(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** Adds `0.003, 0.120 : 0.004`: attempts are divided by commas, upstreams by colons, and `-` had no time. */
function sumOf(times: string): number | null {
  const numbers = times.split(/[,:]/).flatMap((part) => {
    const seconds = Number.parseFloat(part);
    return Number.isFinite(seconds) ? [seconds] : [];
  });
  return numbers.length === 0 ? null : numbers.reduce((sum, one) => sum + one, 0);
}
