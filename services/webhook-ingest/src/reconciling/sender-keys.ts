import type { Caller } from "@signalbox/auth";
import { examples, readableSenders, webhookSourceExample } from "@signalbox/contracts";
import { AppError } from "@signalbox/core";
import { audited, type Edges, edgesOf, operation } from "@signalbox/service";
import { inTransaction, type Tx } from "@signalbox/storage";
import { z } from "zod";
import type { IngestService } from "../context/ingest-service.ts";
import { answerSource, lockedOwnSource, sourcePath, webhooksWrite } from "../sources/own-source.ts";
import {
  placeProblem,
  type RefusedKeyReason,
  readable,
  type SenderKey,
  type SenderPlace,
} from "../sources/sender-key.ts";
import { revised, type Source, sourceUpdated } from "../sources/source.ts";
import { lockSourceById, saveSenderKey } from "../sources/source-store.ts";
import { endSchedule, startSchedule } from "./reconciliation-store.ts";

/** Gives a source the read key of its sender. @throws AppError `validation_error` for one that does not fit */
async function setSenderKey(service: IngestService, tx: Tx, caller: Caller, source: Source, given: GivenKey) {
  const { clock, outbox } = service;
  const place = placeOf(given);
  assertFits(service, place, source);
  const at = clock.now().toISOString();
  const key = { ...place, state: "unchecked", reason: null, since: at, setAt: at } as const;
  const updated = await changeSenderKey(service, tx, source, key, given.key);
  await startSchedule(tx, updated.id, clock.now(), updated.createdAt);
  await outbox.append(tx, [audited(caller, { action: "webhook_source.set_sender_key", subject: source.id })]);
  return updated;
}

async function removeSenderKey(service: IngestService, tx: Tx, caller: Caller, source: Source): Promise<void> {
  if (source.senderKey === null) return;
  await changeSenderKey(service, tx, source, null, null);
  await endSchedule(tx, source.id, service.clock.now());
  await service.outbox.append(tx, [
    audited(caller, { action: "webhook_source.delete_sender_key", subject: source.id }),
  ]);
}

/** Notes that the sender took the key, or for which reason it did not. A key that was replaced meanwhile stays. */
export async function noteSenderKey(service: IngestService, known: Source, reason: RefusedKeyReason | null) {
  const { pool, clock } = service;
  const { id, senderKey } = known;
  const state = reason === null ? "working" : "refused";
  if (senderKey?.state === state && senderKey.reason === reason) return;
  await inTransaction(pool, async (tx) => {
    const source = await lockSourceById(service, tx, id);
    if (!source?.senderKey || source.senderKey.setAt !== senderKey?.setAt) return;
    if (source.senderKey.state === state && source.senderKey.reason === reason) return;
    const since = clock.now().toISOString();
    await changeSenderKey(service, tx, source, { ...source.senderKey, state, reason, since });
  });
}

async function changeSenderKey(
  service: IngestService,
  tx: Tx,
  source: Source,
  senderKey: SenderKey | null,
  text?: string | null,
): Promise<Source> {
  const { sourceCache, outbox, clock } = service;
  const updated = revised(source, { senderKey }, clock.now());
  await saveSenderKey(service, tx, updated, text);
  tx.afterCommit(() => sourceCache.forget(source.id));
  await outbox.append(tx, [sourceUpdated(updated, ["sender_key"])]);
  return updated;
}

function assertFits({ outbound }: IngestService, place: SenderPlace, source: Source): void {
  const isForbidden = outbound.check(place.apiUrl, { requireHttps: true }) !== null;
  const problem = isForbidden
    ? { field: "api_url", message: "The address of the sender's API must be public, and https." }
    : placeProblem(place, source);
  if (problem === null) return;
  throw new AppError("validation_error", "The key does not fit the source.", {
    details: [{ ...problem, code: "invalid_value" }],
  });
}

const name = "[A-Za-z0-9_.-]{1,100}";

const SetSenderKeyBody = z
  .strictObject({
    sender: z.enum(readableSenders).describe("The sender whose list is read."),
    key: z
      .string()
      .min(8)
      .max(512)
      .regex(/^[\x21-\x7e]+$/)
      .describe("A key of the sender that may read, and for GitHub ask for redeliveries. Write-only."),
    repository: z
      .string()
      .regex(new RegExp(`^${name}/${name}$`), "A repository as owner/name.")
      .optional()
      .describe("For GitHub: the repository of the webhook, as `owner/name`."),
    organization: z
      .string()
      .regex(new RegExp(`^${name}$`))
      .optional()
      .describe("For GitHub: the organization of the webhook, instead of a repository."),
    hook_id: z
      .int()
      .min(1)
      .optional()
      .describe("For GitHub: the id of the webhook, the number in the URL of its page."),
    api_url: z
      .url({ protocol: /^https?$/ })
      .max(512)
      .regex(/^[^?#]*$/, "An address without a query.")
      .optional()
      .describe("The address of the API, for a server of your own such as GitHub Enterprise Server."),
  })
  .meta({ id: "SetWebhookSenderKey" })
  .register(examples, {
    example: {
      sender: "github",
      key: "a fine-grained token".replaceAll(" ", "-"),
      repository: "acme/shop",
      hook_id: 42,
    },
  });

type GivenKey = z.output<typeof SetSenderKeyBody>;

const placeOf = ({ sender, repository, organization, hook_id: hookId, api_url: apiUrl }: GivenKey): SenderPlace => ({
  sender,
  repository: repository ?? null,
  organization: organization ?? null,
  hookId: hookId ?? null,
  apiUrl: (apiUrl ?? readable[sender].apiUrl).replace(/\/+$/, ""),
});

const path = `${sourcePath}/sender-key` as const;
const auth = { ...webhooksWrite, stepUp: true } as const;

export function senderKeyApi(service: IngestService): Edges {
  const of = lockedOwnSource(service);
  const declared = {
    setWebhookSenderKey: operation({
      summary: "Give a source a read key of its sender",
      description:
        "Missed webhooks are then recovered from the sender's own list. The key takes the place of the last one, and is never shown.",
      auth,
      audit: "webhook_source.set_sender_key",
      input: SetSenderKeyBody,
      of,
      change: (tx, source, { caller, input }) => setSenderKey(service, tx, caller, source, input),
      rest: { put: path, ...answerSource(service) },
      graph: { payload: "webhookSource" },
    }),
    deleteWebhookSenderKey: operation({
      summary: "Remove the read key of a source's sender",
      description: "A comparison under way ends; what was recovered stays.",
      auth,
      audit: "webhook_source.delete_sender_key",
      of,
      change: (tx, source, { caller }) => removeSenderKey(service, tx, caller, source),
      rest: { delete: path, responses: { 204: "empty" }, idempotent: true },
      graph: { payload: { webhookSourceId: (_, { params }) => params.id }, type: "DeleteWebhookSenderKeyPayload" },
    }),
  };
  return edgesOf(declared, { exampleIds: { id: webhookSourceExample.id } });
}
