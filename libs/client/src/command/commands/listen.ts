import { connect } from "../connect.ts";
import type { Connection, Context } from "../context.ts";
import type { Input } from "../declare.ts";
import { UsageError } from "../failures.ts";
import { forward, type LocalAnswer, targetOf } from "../listen/forward.ts";
import { createLineView } from "../listen/line-view.ts";
import { listen, type View, type ViewOptions } from "../listen/listener.ts";

interface ListenOptions {
  readonly forward: string | undefined;
  readonly events: readonly string[];
  readonly concurrency: string | undefined;
  readonly timeout: string | undefined;
  readonly plain: boolean;
}

/** Forwards events to a local receiver until it is stopped. */
export async function run(context: Context, { options }: Input<ListenOptions>): Promise<void> {
  const target = options.forward === undefined ? null : targetOf(options.forward);
  const credit = wholeOf("concurrency", options.concurrency ?? "10", 100);
  const timeoutMs = wholeOf("timeout", options.timeout ?? "30", 3_600) * 1_000;
  const connection = await connect(context);
  const stop = new AbortController();
  const stopping = context.stopping();
  const signal = AbortSignal.any([stop.signal, stopping]);
  const view = await viewFor(context, connection, { target, plain: options.plain, stop: () => stop.abort() });
  try {
    await listen(connection, {
      eventTypes: options.events.length > 0 ? options.events : ["*"],
      credit,
      signal,
      nowMs: context.nowMs,
      deliver: (message) => (target === null ? taken() : forward(target, message, { timeoutMs, nowMs: context.nowMs })),
      onEndpoint: view.onEndpoint,
      onConnection: view.onConnection,
      onAttempt: view.onAttempt,
      onSettled: view.onSettled,
    });
  } finally {
    view.close();
  }
}

/** Without a receiver every message counts as delivered. */
const taken = async (): Promise<LocalAnswer> => ({ status: 204, error: null, ms: 0, body: "" });

async function viewFor(
  context: Context,
  connection: Connection,
  { plain, ...options }: ViewOptions & { readonly plain: boolean },
): Promise<View> {
  if (!context.isInteractive || plain) return createLineView(context, options);
  const { createScreenView } = await import("../listen/screen-view.ts");
  return createScreenView(context, connection, options);
}

function wholeOf(name: string, text: string, max: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > max) throw new UsageError(`--${name} must be a whole number from 1 to ${max}.`);
  return value;
}
