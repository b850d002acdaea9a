import type { Caller } from "@signalbox/auth";
import { examples, overlapSeconds } from "@signalbox/contracts";
import { randomId, seconds } from "@signalbox/core";
import type { Refusal } from "@signalbox/http";
import { audited, operation, tooMany } from "@signalbox/service";
import { rotate, type Tx } from "@signalbox/storage";
import { z } from "zod";
import type { IngestService } from "../context/ingest-service.ts";
import { assertUsable } from "./assert-usable.ts";
import { answerSource, lockedOwnSource, sourcePath, webhooksWrite } from "./own-source.ts";
import { isShort, newAddress, newSecret, revised, type Source, sourceUpdated } from "./source.ts";
import { findSourceWithSecrets } from "./source-row.ts";
import { saveSource, saveSourceAddresses } from "./source-store.ts";

/** Largest number of live secrets, and of live addresses: the current one and two former ones. */
const max = 3;

/** Gives a source its partner's next secret. @throws AppError `validation_error` for one that does not fit */
async function rotateSourceSecret(service: IngestService, tx: Tx, caller: Caller, source: Source, next: NextSecret) {
  const { secret, overlap_seconds: overlapSeconds } = next;
  assertUsable(service, source, secret);
  const now = service.clock.now();
  const found = await findSourceWithSecrets(tx, service.sealer, source.id, now);
  const { current, former, verifyToken } = found?.secrets ?? { current: secret, former: [], verifyToken: null };
  const values = [...source.secrets.slice(0, 1).map((present) => ({ ...present, secret: current })), ...former];
  const rotation = rotate(values, { max, overlapMs: seconds(overlapSeconds), now });
  if (rotation.outcome !== "rotated") return rotation;
  const secrets = [newSecret(now), ...rotation.older.map(({ secret: _, ...value }) => value)];
  const rotated = revised(source, { secrets, isSecretShort: isShort(source, secret) }, now);
  await saveSource(service, tx, rotated, { current: secret, former: rotation.older, verifyToken });
  return announceRotation(service, tx, caller, rotated, "secret");
}

async function removePreviousSecrets(service: IngestService, tx: Tx, caller: Caller, source: Source): Promise<void> {
  if (source.secrets.length === 1) return;
  const now = service.clock.now();
  const found = await findSourceWithSecrets(tx, service.sealer, source.id, now);
  if (found === null) return;
  const changed = revised(source, { secrets: source.secrets.slice(0, 1) }, now);
  await saveSource(service, tx, changed, { ...found.secrets, former: [] });
  await announceRotation(service, tx, caller, changed, "secret");
}

async function rotateSourceAddress(service: IngestService, tx: Tx, caller: Caller, source: Source, overlapMs: number) {
  const now = service.clock.now();
  const rotation = rotate(source.addresses, { max, overlapMs, now });
  if (rotation.outcome !== "rotated") return rotation;
  const addresses = [newAddress(randomId("ing"), now), ...rotation.older];
  const rotated = revised(source, { addresses }, now);
  await saveSourceAddresses(tx, rotated);
  return announceRotation(service, tx, caller, rotated, "ingest_path");
}

async function removePreviousAddresses(service: IngestService, tx: Tx, caller: Caller, source: Source): Promise<void> {
  if (source.addresses.length === 1) return;
  const changed = revised(source, { addresses: source.addresses.slice(0, 1) }, service.clock.now());
  await saveSourceAddresses(tx, changed);
  await announceRotation(service, tx, caller, changed, "ingest_path");
}

const rotations = { secret: "webhook_source.rotate_secret", ingest_path: "webhook_source.rotate_url" } as const;
type Rotated = keyof typeof rotations;

async function announceRotation(service: IngestService, tx: Tx, caller: Caller, source: Source, field: Rotated) {
  tx.afterCommit(() => service.sourceCache.forget(source.id));
  const entry = audited(caller, { action: rotations[field], subject: source.id, fields: [field] });
  await service.outbox.append(tx, [sourceUpdated(source, [field]), entry]);
  return source;
}

export const secretText = z.string().min(1).max(1024).describe("Secret that the partner signs with. Write-only.");

const RotateSecretBody = z
  .strictObject({
    secret: secretText,
    overlap_seconds: overlapSeconds("the present secret still verifies").default(86_400),
  })
  .meta({ id: "RotateWebhookSourceSecret" })
  .register(examples, { example: { secret: "the next secret of the shop", overlap_seconds: 3_600 } });

type NextSecret = z.output<typeof RotateSecretBody>;

const RotateUrlBody = z
  .strictObject({
    overlap_seconds: overlapSeconds("the present address is still accepted", 86_400).default(86_400),
  })
  .meta({ id: "RotateWebhookSourceUrl" })
  .register(examples, { example: { overlap_seconds: 3_600 } });

/** Declares the rotations of secrets and addresses, and the ends of their overlaps. */
export function sourceRotations(service: IngestService) {
  const of = lockedOwnSource(service);
  return {
    rotateWebhookSourceSecret: operation({
      summary: "Give a source its partner's next secret",
      description: "Until the overlap ends the present secret verifies too. At most three secrets verify at once.",
      auth: { ...webhooksWrite, stepUp: true },
      audit: "webhook_source.rotate_secret",
      input: RotateSecretBody,
      of,
      change: (tx, source, { caller, input }) => rotateSourceSecret(service, tx, caller, source, input),
      refusals: { "limit-reached": ({ max }) => tooManyLive("secret", "secrets", max) },
      rest: { post: `${sourcePath}/secret/rotate`, ...answerSource(service) },
      graph: { payload: "webhookSource" },
    }),
    deletePreviousWebhookSourceSecrets: operation({
      summary: "End the overlap of rotations: only the newest secret verifies",
      description: "Webhooks that are signed with an older secret are refused from then on.",
      auth: { ...webhooksWrite, stepUp: true },
      audit: "webhook_source.rotate_secret",
      of,
      change: (tx, source, { caller }) => removePreviousSecrets(service, tx, caller, source),
      rest: { delete: `${sourcePath}/secret/previous`, responses: { 204: "empty" }, idempotent: true },
      graph: {
        payload: { webhookSourceId: (_, { params }) => params.id },
        type: "DeletePreviousWebhookSourceSecretsPayload",
      },
    }),
    rotateWebhookSourceUrl: operation({
      summary: "Give a source another address",
      description:
        "The present address is accepted until the overlap ends, by default a day. At most three addresses are accepted at once.",
      auth: webhooksWrite,
      audit: "webhook_source.rotate_url",
      input: RotateUrlBody,
      of,
      change: (tx, source, { caller, input }) =>
        rotateSourceAddress(service, tx, caller, source, seconds(input.overlap_seconds)),
      refusals: { "limit-reached": ({ max }) => tooManyLive("ingest_path", "addresses", max) },
      rest: { post: `${sourcePath}/rotate-url`, ...answerSource(service) },
      graph: { payload: "webhookSource" },
    }),
    deletePreviousWebhookSourceAddresses: operation({
      summary: "End the overlap of rotations: only the newest address is accepted",
      description: "Posts to an older address are refused from then on.",
      auth: webhooksWrite,
      audit: "webhook_source.rotate_url",
      of,
      change: (tx, source, { caller }) => removePreviousAddresses(service, tx, caller, source),
      rest: { delete: `${sourcePath}/addresses/previous`, responses: { 204: "empty" }, idempotent: true },
      graph: {
        payload: { webhookSourceId: (_, { params }) => params.id },
        type: "DeletePreviousWebhookSourceAddressesPayload",
      },
    }),
  };
}

const tooManyLive = (field: string, noun: string, max: number): Refusal =>
  tooMany(
    field,
    `A source has at most ${max} ${noun} at once; end the older ones, or rotate with an overlap of 0 seconds.`,
  );
