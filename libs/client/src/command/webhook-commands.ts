import { type Command, declare } from "./declare.ts";

const events = {
  type: "string",
  multiple: true,
  value: "types",
  describe: "Event types, or prefixes that end in *; may be repeated. All by default",
} as const;

/** Options for a receiver whose certificate no public authority has signed. */
const trust = {
  ca: {
    type: "string",
    value: "file",
    describe: "Also trusts the certificates in this PEM file, for an https receiver",
  },
  "skip-verify": { type: "boolean", describe: "Accepts any certificate of the receiver" },
} as const;

/** Options of a command that counts deliveries, and sends them again once they are confirmed. */
const counted = {
  "event-id": { type: "string", multiple: true, value: "id", describe: "Only this event; may be repeated" },
  rate: { type: "string", value: "count", describe: "Maximum deliveries per second" },
  "dry-run": { type: "boolean", describe: "Counts the deliveries and sends nothing" },
  yes: { type: "boolean", short: "y", describe: "Skips the confirmation" },
} as const;

/** The commands around events and their deliveries. */
export const webhookCommands: readonly Command[] = [
  declare({
    name: "listen",
    summary: "Forward events to a receiver on this machine",
    description:
      "Makes a temporary endpoint and posts its messages to your receiver, with the bytes and headers of a webhook. Its response\n" +
      "is recorded as the attempt: 2xx delivers, anything else fails and is sent again. The endpoint ends a minute after this command.\n" +
      "On a terminal: arrows select, r attempts again, d shows the details, o opens the console. A pipe gets one line per attempt.",
    options: {
      forward: {
        type: "string",
        value: "url",
        describe: "Receiver, such as http://localhost:3000/hooks or 3000/hooks",
      },
      ...trust,
      events,
      latest: { type: "boolean", describe: "Starts at the newest event, which is the default" },
      "load-from": {
        type: "string",
        value: "file",
        describe: "Forwards the events of this file, one JSON object per line, and exits; - reads standard input",
      },
      concurrency: { type: "string", value: "count", describe: "Messages in flight; 10 by default, at most 100" },
      timeout: {
        type: "string",
        value: "seconds",
        describe: "Maximum wait for a response; 30 by default, raise it for a debugger",
      },
      plain: { type: "boolean", describe: "Prints lines even on a terminal" },
    },
    examples: [
      "signalbox listen --forward http://localhost:3000/hooks --events 'image.*'",
      "signalbox listen --forward https://localhost:3000/hooks --ca dev-ca.pem",
      "signalbox listen --events order.created --json > events.jsonl",
      "signalbox listen --forward 3000/hooks --load-from events.jsonl",
    ],
    load: () => import("./commands/listen.ts"),
  }),
  declare({
    name: "trigger",
    summary: "Publish a test event of your own type, or send a bookmark",
    description:
      "Its data comes from --data, or is generated from the schema of a declared type. Signalbox checks it like any other event.\n" +
      "A bookmarked webhook goes to a receiver with --forward, with the bytes and headers of its sender\n" +
      "but without the signature, or is published as an event of its type, which endpoints and `signalbox listen` get signed.",
    args: [{ name: "type", describe: "Name of the type, such as order.created, or bookmark:name" }],
    options: {
      data: { type: "string", value: "json", describe: "Data of the event: JSON, @file or - for standard input" },
      id: { type: "string", value: "id", describe: "Your own id: the same event is published only once" },
      subject: { type: "string", value: "text", describe: "Subject of the event, for ordered endpoints" },
      forward: { type: "string", value: "url", describe: "Receiver of a bookmark, such as 3000/hooks" },
      ...trust,
      as: {
        type: "string",
        value: "type",
        describe: "Type to publish a bookmark as; the sender's by default",
      },
      "dry-run": { type: "boolean", describe: "Prints the event and publishes nothing" },
    },
    examples: [
      "signalbox trigger order.created",
      "signalbox trigger order.paid --data '{\"total\":120}'",
      "signalbox trigger bookmark:first-order --forward 3000/hooks",
      "signalbox trigger bookmark:first-order --as order.created",
    ],
    load: () => import("./commands/trigger.ts"),
  }),
  declare({
    name: "events tail",
    summary: "Print events as they are published",
    description:
      "Shows each event of the account once, with its body. With --since, earlier events come first. Press Ctrl-C to stop.",
    options: {
      events,
      since: { type: "string", value: "time", describe: "Starts at a time, such as 2h, 7d or 2026-01-31T09:00:00Z" },
      "no-follow": { type: "boolean", describe: "Exits after the events of --since" },
    },
    examples: ["signalbox events tail --events 'image.*'", "signalbox events tail --since 1h --no-follow --json"],
    load: () => import("./commands/events-tail.ts"),
  }),
  declare({
    name: "replay",
    summary: "Send deliveries again",
    description:
      "Sends one delivery by its id, or those of an endpoint whatever their status, oldest first. Counts them and asks first; without\n" +
      "a terminal, --yes is needed.",
    args: [{ name: "delivery", describe: "A delivery, whd_…, instead of --endpoint", optional: true }],
    options: {
      endpoint: { type: "string", value: "id", describe: "Endpoint whose deliveries go out again" },
      since: { type: "string", value: "time", describe: "Events since a time, such as 2h, 7d or 2026-01-31T09:00:00Z" },
      until: { type: "string", value: "time", describe: "Events before a time; now by default" },
      status: {
        type: "string",
        value: "status",
        describe: "exhausted, parked, succeeded or waiting; all of them by default",
      },
      events,
      ...counted,
      wait: { type: "boolean", describe: "Waits until the replay has ended" },
    },
    examples: [
      "signalbox replay whd_01m7yt1vt6et5vn6drq8e5238v",
      "signalbox replay --endpoint whe_01m7yt1vt6et5vn6drq8e5238v --status exhausted --since 2h --dry-run",
      "signalbox replay --endpoint whe_01m7yt1vt6et5vn6drq8e5238v --status exhausted --since 2h --rate 50 --yes --wait",
    ],
    load: () => import("./commands/replay.ts"),
  }),
  declare({
    name: "retry",
    summary: "Retry all deliveries that have not arrived",
    description:
      "Retries what is waiting, exhausted or parked now, oldest first. Counts the deliveries and asks\n" +
      "first; without a terminal, --yes is needed. `signalbox replay` also sends again what has arrived.",
    options: {
      endpoint: {
        type: "string",
        value: "id",
        describe: "Only deliveries to this endpoint; all push endpoints by default",
      },
      since: {
        type: "string",
        value: "time",
        describe: "Events since a time, such as 2h; all that are kept by default",
      },
      until: { type: "string", value: "time", describe: "Events before a time; now by default" },
      status: { type: "string", value: "status", describe: "waiting, exhausted or parked; all of them by default" },
      events,
      ...counted,
      wait: { type: "boolean", describe: "Waits until the retry has ended" },
    },
    examples: [
      "signalbox retry --since 2h --dry-run",
      "signalbox retry --endpoint whe_01m7yt1vt6et5vn6drq8e5238v --status waiting --rate 50 --yes --wait",
    ],
    load: () => import("./commands/retry.ts"),
  }),
  declare({
    name: "verify",
    summary: "Verify a saved request against a secret, offline",
    description:
      "Runs a receiver's checks one by one and says which one fails, and why. The request is a file with headers, an empty line\n" +
      "and the body, or a line of `signalbox listen --json`. Exits with 1 when it is not genuine.",
    args: [{ name: "file", describe: "The request; - or nothing reads standard input", optional: true }],
    options: {
      secret: {
        type: "string",
        multiple: true,
        value: "secret",
        describe: "Secret whsec_…, public key whpk_… or @file; SIGNALBOX_WEBHOOK_SECRET by default",
      },
      at: { type: "string", value: "time", describe: "Time at which the request arrived; now by default" },
      tolerance: { type: "string", value: "seconds", describe: "Maximum age of a request; 300 by default" },
    },
    examples: [
      "signalbox verify request.txt --secret @secret.txt",
      "signalbox verify request.txt --secret @secret.txt --at 2026-01-31T09:00:00Z --json",
    ],
    load: () => import("./commands/verify.ts"),
  }),
];
