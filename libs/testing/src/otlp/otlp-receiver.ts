import { gunzipSync } from "node:zlib";
import { eventually } from "../eventually.ts";
import { createReceiver, type ReceivedRequest } from "../receiver.ts";
import { jsonSpans } from "./json-spans.ts";
import type { ReceivedSpan } from "./received-span.ts";

export interface OtlpReceiver {
  /** The value for `telemetry.otlp-endpoint`; spans are posted to `/v1/traces` below it. */
  readonly endpoint: string;
  /** Every span so far. */
  readonly spans: readonly ReceivedSpan[];
  /** Waits until the spans received so far make `check` return true. */
  waitFor(
    check: (spans: readonly ReceivedSpan[]) => boolean,
    options?: { timeoutMs?: number; message?: string },
  ): Promise<readonly ReceivedSpan[]>;
  /** Answers exports with this status, such as the 503 of an overloaded collector. */
  fail(status: number): void;
  close(): Promise<void>;
}

/** A real OTLP/HTTP collector for the traces of our exporter: JSON, plain or gzipped. */
export async function createOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const receiver = await createReceiver((request) => {
    if (request.path !== "/v1/traces") return { status: 404 };
    if (!String(request.headers["content-type"]).startsWith("application/json")) return { status: 415 };
    spans.push(...read(request));
    return { headers: { "content-type": "application/json" }, body: "{}" };
  });
  return {
    endpoint: receiver.url,
    spans,
    waitFor: async (check, options) => {
      await eventually(() => check(spans), { message: "the spans arrive", ...options });
      return spans;
    },
    fail: (status) => receiver.answer({ status }),
    close: () => receiver.close(),
  };
}

function read({ headers, body }: ReceivedRequest): ReceivedSpan[] {
  return jsonSpans(headers["content-encoding"] === "gzip" ? gunzipSync(body) : body);
}
