import { limitProperties } from "@signalbox/contracts/properties";
import type { ServiceContext } from "@signalbox/runtime";
import { defineProperties, property } from "@signalbox/runtime";
import { runtimeProperties } from "@signalbox/runtime/properties";

const rate = (requests: number, what: string) =>
  property.integer(
    { default: requests, min: 1, max: 1_000_000, unit: "requests" },
    `Requests ${what} in one window; further ones get 429.`,
  );

const window = (milliseconds: number, what: string) =>
  property.integer(
    { default: milliseconds, min: 1_000, max: 3_600_000, unit: "ms" },
    `The window for requests ${what}.`,
  );

const work = (unit: "bytes" | "ms", what: string, effect: string) =>
  property.integer(
    { default: null, min: 1, max: 1_000_000_000_000, unit },
    `${effect} ${what} in one window, refused ones included; beyond it the answer is 429.`,
  );

const bytesOf = (what: string) => work("bytes", what, "Bytes of bodies that are read for");
const processorTimeOf = (what: string) => work("ms", what, "Processor time for bodies, documents and plans of");

/** The properties of every service with a public listener. Imports nothing heavy. */
export const httpProperties = defineProperties({
  "http.base-url": runtimeProperties["http.base-url"],
  "http.cors.origins": property.list(
    { default: [], pattern: "\\*|[a-z][a-z0-9+.-]*://[^/?#@\\s]+", local: true },
    "Origins, such as https://app.example.com, whose pages may call the API in a browser; * lets every page read responses that need no credentials.",
  ),
  "http.trusted-proxies": property.list(
    { default: [], pattern: "[0-9A-Fa-f:.]+(/[0-9]{1,3})?", local: true },
    "Addresses or networks whose X-Forwarded-For is trusted; empty uses the address of the connection.",
  ),
  "http.strict-responses": property.boolean(
    { default: false, local: true },
    "Answers 500 when a handler returns a status or field it has not declared; otherwise such fields are left out.",
  ),
  "http.rate-limit.credential.requests": rate(600, "of one credential"),
  "http.rate-limit.credential.burst": property.integer(
    { default: null, min: 1, max: 1_000_000, unit: "requests" },
    "Requests of one credential in one second; the default is a third of the window's, 200 of 600.",
  ),
  "http.rate-limit.credential.window": window(10_000, "of one credential"),
  "http.rate-limit.credential.bytes": bytesOf("one credential (default: 128 KiB for each allowed request)"),
  "http.rate-limit.credential.processor-time": processorTimeOf(
    "one credential (default: 5 ms for each allowed request)",
  ),
  "http.rate-limit.account.requests": rate(1_800, "of one account, with all of its credentials"),
  "http.rate-limit.account.window": window(10_000, "of one account"),
  "http.rate-limit.anonymous.requests": rate(120, "without credentials from one address"),
  "http.rate-limit.anonymous.window": window(60_000, "without credentials"),
  "http.rate-limit.anonymous.bytes": bytesOf(
    "one address without credentials (default: 64 KiB for each allowed request)",
  ),
  "http.rate-limit.anonymous.processor-time": processorTimeOf(
    "one address without credentials (default: 25 ms for each allowed request)",
  ),
  "http.rate-limit.failed-sign-in.requests": rate(30, "with bad credentials from one address"),
  "http.rate-limit.failed-sign-in.window": window(60_000, "with bad credentials"),
  "http.error-docs": runtimeProperties["http.error-docs"],
  "limits.requestTimeoutSeconds": limitProperties["limits.requestTimeoutSeconds"],
  "limits.maxRequestBytes": limitProperties["limits.maxRequestBytes"],
});

type HttpProperties = typeof httpProperties;

type Context = ServiceContext<HttpProperties>;

/** The part of a `ServiceContext` that the edge needs; every service's own context fits. */
export interface HttpContext extends Pick<Context, "service" | "log" | "tracer" | "metrics" | "clock"> {
  readonly configuration: Pick<Context["configuration"], "get" | "onChange">;
}
