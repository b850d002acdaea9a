import { type DeadEvent, type DeadLetter, dataOf, type ParkedKey } from "@signalbox/client";
import { api } from "../session/api.ts";
import { deploymentUrl } from "../session/place.ts";

/** A message that needs a decision: a dead letter, a dead event, or the first of a parked key. */
export type Message = DeadLetter | DeadEvent | ParkedKey;

/** A kind of message that waits for an operator, in words. */
export interface MessageKind {
  readonly collection: "dead-letters" | "dead-events" | "parked";
  readonly title: string;
  readonly what: string;
  readonly about: string;
  readonly none: string;
  /** The section of the runbooks that says how to mend it. */
  readonly runbook: string;
  /** The action that keeps the message, and the one that gives it up. */
  readonly again: Act;
  readonly giveUp: Act;
}

interface Act {
  readonly verb: "replay" | "drop" | "retry" | "skip";
  readonly label: string;
  /** The label of the button that does it, once its effect was shown. */
  readonly confirm: string;
  readonly about: string;
}

export const deadLetters: MessageKind = {
  collection: "dead-letters",
  title: "Dead letters",
  what: "dead letter",
  about: "Messages that a consumer gave up on: unreadable, or failed each time. They have had no effect.",
  none: "No consumer has given up on a message.",
  runbook: "deadletters",
  again: {
    verb: "replay",
    label: "Replay",
    confirm: "Replay it",
    about:
      "Only the consumer that gave up on it gets it again, once, after later messages with its key. Fix the cause first.",
  },
  giveUp: {
    verb: "drop",
    label: "Drop",
    confirm: "Drop it",
    about: "It is removed permanently and never takes effect.",
  },
};

export const deadEvents: MessageKind = {
  collection: "dead-events",
  title: "Dead events",
  what: "dead event",
  about: "Events that the log refused permanently. Their changes are stored, but no consumer received them.",
  none: "The log has not refused any event.",
  runbook: "eventsrefused",
  again: {
    verb: "replay",
    label: "Replay",
    confirm: "Replay it",
    about: "It goes back into its outbox with its id, after later events with its key. Fix the cause first.",
  },
  giveUp: {
    verb: "drop",
    label: "Drop",
    confirm: "Drop it",
    about: "It is removed permanently. No consumer ever gets it.",
  },
};

export const parkedKeys: MessageKind = {
  collection: "parked",
  title: "Parked keys",
  what: "parked key",
  about: "Keys whose first message failed. It is retried automatically; the messages behind it wait.",
  none: "No key is parked.",
  runbook: "messagesparked",
  again: {
    verb: "retry",
    label: "Try now",
    confirm: "Try it now",
    about: "The first message is tried at once. It counts as one of its tries.",
  },
  giveUp: {
    verb: "skip",
    label: "Skip",
    confirm: "Skip it",
    about: "The first message becomes a dead letter, from where it can be replayed. Those behind it continue.",
  },
};

export const runbookUrl = (section: string): string => new URL(`docs/runbooks#${section}`, deploymentUrl).href;

/** Reads a page of messages of a kind, the longest waiting first. */
export async function readMessages({ collection }: MessageKind, query: object) {
  const path = `/api/v1/operations/${collection}` as "/api/v1/operations/dead-letters";
  const data = await dataOf(api.GET(path, { params: { query: query as { limit?: number } } }));
  return data as Omit<typeof data, "items"> & { readonly items: readonly Message[] };
}

/** Acts on a message as it was seen: when something came between, the answer is 409 and nothing was done. */
export async function act(
  { collection }: MessageKind,
  { id, version }: Pick<Message, "id" | "version">,
  verb: Act["verb"],
  body: { readonly dry_run: boolean; readonly reason?: string },
) {
  const path = `/api/v1/operations/${collection}/{id}/${verb}` as "/api/v1/operations/dead-letters/{id}/drop";
  const params = { path: { id } };
  const headers = { "If-Match": `"${version}"` };
  return await dataOf(api.POST(path, { params, headers, body: body as { dry_run: boolean; reason: string } }));
}
