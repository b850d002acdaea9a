import {
  type AuditAction,
  DeadEventDetail,
  DeadEventResource,
  DeadLetterDetail,
  DeadLetterResource,
  ParkedKeyDetail,
  ParkedKeyResource,
} from "@signalbox/contracts";
import type { z } from "zod";

/** A kind of message that needs a decision, with the actions on it. */
export interface MessageKind {
  readonly collection: "dead-letters" | "dead-events" | "parked";
  readonly item: z.ZodType<{ readonly id: string; readonly since: string; readonly version: string }>;
  readonly noun: string;
  readonly exampleId: string;
  readonly summary: string;
  /** The resource with the decoded body. */
  readonly detail: { readonly schema: z.ZodType<{ readonly version: string }>; readonly audit: AuditAction };
  readonly actions: readonly {
    readonly verb: string;
    readonly audit: AuditAction;
    readonly summary: string;
    readonly description: string;
    readonly needsReason?: true;
  }[];
}

export const messageKinds: readonly MessageKind[] = [
  {
    collection: "dead-letters",
    item: DeadLetterResource,
    noun: "DeadLetter",
    exampleId: "images.facts:signalbox.account.v1:3:1041",
    summary: "List the dead letters, oldest first",
    detail: { schema: DeadLetterDetail, audit: "dead_letter.read" },
    actions: [
      {
        verb: "replay",
        audit: "dead_letter.replay",
        summary: "Replay a dead letter to its consumer",
        description:
          "Only the consumer that gave up on it receives it again, after later messages of its key and with a fresh set of tries. Effects that already happened are not repeated.",
      },
      {
        verb: "drop",
        audit: "dead_letter.drop",
        summary: "Remove a dead letter for good",
        description: "It will never be processed.",
        needsReason: true,
      },
    ],
  },
  {
    collection: "dead-events",
    item: DeadEventResource,
    noun: "DeadEvent",
    exampleId: "images:0197a1c2-7b30-7c11-9d8e-2f1a5b6c7d8e",
    summary: "List the events that the log refused, oldest first",
    detail: { schema: DeadEventDetail, audit: "dead_event.read" },
    actions: [
      {
        verb: "replay",
        audit: "dead_event.replay",
        summary: "Put a refused event back into its outbox",
        description: "It keeps its id and is published after later events of its key.",
      },
      {
        verb: "drop",
        audit: "dead_event.drop",
        summary: "Remove a refused event for good",
        description: "No consumer will ever receive it.",
        needsReason: true,
      },
    ],
  },
  {
    collection: "parked",
    item: ParkedKeyResource,
    noun: "ParkedKey",
    exampleId: "images.facts:acc_5Yb0cPq7TnV2sKxW9mRdLh",
    summary: "List the keys whose messages wait behind a failed one, longest queue first",
    detail: { schema: ParkedKeyDetail, audit: "parked_key.read" },
    actions: [
      {
        verb: "retry",
        audit: "parked_key.retry",
        summary: "Try the first message of a parked key now",
        description: "This counts as one of its tries.",
      },
      {
        verb: "skip",
        audit: "parked_key.skip",
        summary: "Move the first message of a parked key to the dead letters",
        description: "Processing continues with the messages behind it. It can be replayed from the dead letters.",
        needsReason: true,
      },
    ],
  },
];
