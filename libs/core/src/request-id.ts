import { randomUUID } from "node:crypto";

/** Regular expression of an id from outside that is kept: it is short and plain, because logs and answers show it. */
export const requestIdPattern = "^[A-Za-z0-9._:~+/=-]{1,128}$";
const acceptable = new RegExp(requestIdPattern);

/** Creates the id of a request: `req_` and 32 hexadecimal digits, the form that nginx can create too. */
export function newRequestId(): string {
  // A UUID is the fastest source of random bits: node creates many at once.
  return `req_${randomUUID().replaceAll("-", "")}`;
}

/** Returns the id of the request in answers, logs and traces: the caller's `X-Request-Id`, or a new one. */
export function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === "string" && acceptable.test(header) ? header : newRequestId();
}
