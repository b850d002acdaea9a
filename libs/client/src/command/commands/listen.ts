import { connect } from "../connect.ts";
import type { Connection, Context } from "../context.ts";
import type { Input } from "../declare.ts";
import { UsageError } from "../failures.ts";
import { type ForwardOptions, type ForwardTerms, forward, type LocalAnswer, receiverOf } from "../listen/forward.ts";
import { createLineView } from "../listen/line-view.ts";
import { listen, type View, type ViewOptions } from "../listen/listener.ts";
import { loadEvents } from "../listen/load-events.ts";

interface ListenOptions extends ForwardOptions {
  readonly events: readonly string[];
  readonly concurrency: string | undefined;
  readonly timeout: string | undefined;
  readonly plain: boolean;
  readonly latest: boolean;
  readonly "load-from": string | undefined;
}

/** Forwards events to a local receiver until it is stopped. */
export async function run(context: Context, { options }: Input<ListenOptions>): Promise<void> {
  const receiver = await receiverOf(options);
  const target = receiver?.url ?? null;
  const credit = wholeOf("concurrency", options.concurrency ?? "10", 100);
  const timeoutMs = wholeOf("timeout", options.timeout ?? "30", 3_600) * 1_000;
  const terms: ForwardTerms = { timeoutMs, nowMs: context.nowMs };
  const file = options["load-from"];
  if (file !== undefined) {
    if (receiver === null) throw new UsageError("--load-from needs --forward.");
    if (options.latest) throw new UsageError("--latest and --load-from exclude each other.");
    return loadEvents(context, file, { events: options.events, receiver, terms });
  }
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
      deliver: (message) => (receiver === null ? taken() : forward(receiver, message, terms)),
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
