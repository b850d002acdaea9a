import { dataOf } from "../../answers.ts";
import type { Client } from "../../client.ts";
import { connect } from "../connect.ts";
import type { Context } from "../context.ts";
import type { Input } from "../declare.ts";
import { UsageError } from "../failures.ts";
import { listen } from "../listen/listener.ts";
import { isOfTypes } from "../listen/load-events.ts";
import { printable } from "../output.ts";
import { parseTime } from "../parse-time.ts";

interface TailOptions {
  readonly events: readonly string[];
  readonly since: string | undefined;
  readonly "no-follow": boolean;
}

interface ShownEvent {
  readonly id: string;
  readonly type: string;
  readonly created_at: string;
  readonly body: string;
}

/** Prints events as they are published, and those since a time before. */
export async function run(context: Context, { options }: Input<TailOptions>): Promise<void> {
  const { nowMs, stopping } = context;
  const since = options.since === undefined ? null : parseTime("since", options.since, nowMs());
  const isFollowing = !options["no-follow"];
  if (!isFollowing && since === null)
    throw new UsageError("--no-follow needs --since: there would be nothing to show.");
  const { client, ...connection } = await connect(context);
  const types = options.events.length > 0 ? options.events : ["*"];
  const show = createShow(context);
  if (!isFollowing) return showPast(client, types, since, show);
  // Live events wait until those before them are shown.
  let past: Promise<void> = Promise.resolve();
  await listen(
    { ...connection, client },
    {
      eventTypes: types,
      credit: 100,
      signal: stopping(),
      nowMs,
      deliver: async () => ({ status: 204, error: null, ms: 0, body: "" }),
      onEndpoint: (_, replaces) => {
        // What a lost endpoint did not get is read from the list; what was shown before is known.
        const from = replaces ? show.newest() : since;
        past = past.then(() => showPast(client, types, from, show));
      },
      onConnection: (state, reason) => void (state === "lost" && context.output.note(`Reconnecting: ${reason}.`)),
      onAttempt: ({ message }) => {
        const { event_id: id, type, body } = message;
        past = past.then(() => show.event({ id, type, created_at: timeIn(body, nowMs()), body }));
      },
      onSettled: () => undefined,
    },
  );
  await past;
}

/** Returns the time of an event by its own body; a partner's body in its original form has none. */
function timeIn(body: string, nowMs: number): string {
  try {
    const { created_at: time } = JSON.parse(body);
    if (typeof time === "string") return time;
  } catch {}
  return new Date(nowMs).toISOString();
}

const rememberedMax = 20_000;

type Show = ReturnType<typeof createShow>;

/** Creates the printer of events, which prints none twice. */
function createShow({ output }: Context) {
  const shown = new Set<string>();
  let newest: Date | null = null;
  return {
    newest: () => newest,
    event({ id, type, created_at: at, body }: ShownEvent): void {
      if (shown.has(id)) return;
      shown.add(id);
      if (shown.size > rememberedMax) shown.delete(shown.values().next().value ?? id);
      newest = new Date(at);
      output.item({ id, type, created_at: at, body });
      output.line(printable(`${at}  ${type}  ${id}  ${body}`));
    },
  };
}

/** Prints the events since a time, oldest first. */
async function showPast(client: Client, types: readonly string[], since: Date | null, show: Show): Promise<void> {
  if (since === null) return;
  const found: ShownEvent[] = [];
  for (let cursor: string | undefined; ; ) {
    const [only] = types.length === 1 && types[0] !== "*" ? types : [];
    const query = {
      limit: 100,
      from: since.toISOString(),
      ...(only === undefined ? {} : { type: only }),
      ...(cursor === undefined ? {} : { cursor }),
    };
    const page = await dataOf(client.GET("/api/v1/webhooks/events", { params: { query } }));
    found.push(...page.items.filter(({ type }) => isOfTypes(type, types)));
    if (!page.next_cursor || found.length >= rememberedMax) break;
    cursor = page.next_cursor;
  }
  for (const event of found.reverse()) show.event(event);
}
