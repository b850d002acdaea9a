import {
  type Context,
  context,
  type Link,
  type Span as OtelSpan,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { maskText } from "@signalbox/core";
import type { Attributes, Span, SpanEngine, SpanOptions } from "./span.ts";
import { formatTraceparent, parseTraceparent, type TraceIdentity } from "./trace-identity.ts";

const kinds = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
};

/** Spans that OpenTelemetry records and exports. */
export const otelSpanEngine: SpanEngine = {
  exports: true,
  span: (service, name, options, work) => {
    const parent = contextOf(options.parent);
    const otelSpan = trace.getTracer(service).startSpan(
      name,
      {
        kind: kinds[options.kind ?? "internal"],
        attributes: { "signalbox.service": service, ...present(options.attributes) },
        links: linksOf(options),
        root: options.parent === null,
      },
      parent,
    );
    return context.with(trace.setSpan(parent, otelSpan), () => endWith(otelSpan, work));
  },
  current: () => {
    const active = trace.getSpanContext(context.active());
    return active && identityOf(active);
  },
  within: (parent, work) => context.with(trace.setSpanContext(context.active(), spanContextOf(parent)), work),
};

function endWith<T>(otelSpan: OtelSpan, work: (span: Span) => T): T {
  let result: T;
  try {
    result = work(spanOf(otelSpan));
  } catch (error) {
    endFailed(otelSpan, error);
    throw error;
  }
  if (!isThenable(result)) {
    otelSpan.end();
    return result;
  }
  return result.then(
    (value: unknown) => {
      otelSpan.end();
      return value;
    },
    (error: unknown) => {
      endFailed(otelSpan, error);
      throw error;
    },
  ) as T;
}

/** Recognizes a query of Prisma, which is no Promise but is awaited like one. */
function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

function endFailed(otelSpan: OtelSpan, error: unknown): void {
  const name = error instanceof Error ? error.name : "Error";
  const message = maskText(error instanceof Error ? error.message : String(error));
  otelSpan.recordException({ name, message });
  otelSpan.setStatus({ code: SpanStatusCode.ERROR, message });
  otelSpan.end();
}

function spanOf(otelSpan: OtelSpan): Span {
  const identity = identityOf(otelSpan.spanContext());
  return {
    traceId: identity.traceId,
    spanId: identity.spanId,
    traceparent: formatTraceparent(identity),
    setAttributes: (attributes) => void otelSpan.setAttributes(present(attributes)),
    fail: (reason) => void otelSpan.setStatus({ code: SpanStatusCode.ERROR, message: maskText(reason) }),
  };
}

function contextOf(parent: string | null | undefined): Context {
  const identity = parseTraceparent(parent);
  return identity ? trace.setSpanContext(context.active(), spanContextOf(identity)) : context.active();
}

function linksOf({ links = [] }: SpanOptions): Link[] {
  return links.flatMap((link) => {
    const identity = parseTraceparent(link);
    return identity ? [{ context: spanContextOf(identity) }] : [];
  });
}

function identityOf({ traceId, spanId, traceFlags }: SpanContext): TraceIdentity {
  return { traceId, spanId, flags: traceFlags.toString(16).padStart(2, "0") };
}

function spanContextOf({ traceId, spanId, flags }: TraceIdentity): SpanContext {
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}

function present(attributes: Attributes = {}): Record<string, string | number | boolean | string[]> {
  const entries = Object.entries(attributes).filter((entry) => entry[1] !== undefined);
  return Object.fromEntries(entries) as Record<string, string | number | boolean | string[]>;
}
