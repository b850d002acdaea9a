import { randomUUID } from "node:crypto";

const acceptable = /^[A-Za-z0-9._:~+/=-]{1,128}$/;

/** The id under which the request is found in answers, logs and traces: the caller's `X-Request-Id`, or a new one. */
export function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === "string" && acceptable.test(header) ? header : randomUUID();
}
