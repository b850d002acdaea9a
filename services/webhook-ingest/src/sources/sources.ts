import { type Caller, requireStepUp } from "@signalbox/auth";
import { changedMembers, definedMembers, patched } from "@signalbox/core";
import { audited } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import type { IngestService } from "../context/ingest-service.ts";
import { assertUsable } from "./assert-usable.ts";
import {
  isShort,
  type NewSource,
  newSecret,
  revised,
  type Source,
  type SourceChange,
  sourceCreated,
  sourceDeleted,
  sourceFieldNames,
  sourceFrom,
  sourceUpdated,
} from "./source.ts";
import { areIntegrationsEnabled } from "./source-access.ts";
import { findSourceWithSecrets, type SourceSecrets } from "./source-row.ts";
import { mergeSettings } from "./source-settings.ts";
import {
  insertSource,
  lockSourceCount,
  lockSourcesOf,
  noteDeletedAccount,
  removeSource,
  saveSource,
} from "./source-store.ts";

/** Creates a source. @throws AppError `validation_error` for a secret or settings that do not fit the scheme */
export async function createSource(service: IngestService, tx: Tx, caller: Caller, wanted: NewSource) {
  const { secret, verifyToken } = wanted;
  const { accountId } = caller;
  if (!areIntegrationsEnabled(service)) return { outcome: "switched-off" } as const;
  assertUsable(service, wanted, secret);
  const max = service.configuration.get("webhook-ingest.sources.max");
  if ((await lockSourceCount(tx, accountId)) >= max) return { outcome: "limit-reached", max } as const;
  const source = sourceFrom(wanted, accountId, service.clock.now());
  await insertSource(service, tx, source, { current: secret, former: [], verifyToken });
  const entry = audited(caller, { action: "webhook_source.create", subject: source.id });
  await service.outbox.append(tx, [sourceCreated(source), entry]);
  return { outcome: "created", source } as const;
}

/** Updates a source. A new secret needs a step-up: it allows forged webhooks. Without a change nothing is written. */
export async function updateSource(
  service: IngestService,
  tx: Tx,
  caller: Caller,
  source: Source,
  change: SourceChange,
): Promise<Source> {
  const { sourceCache, outbox, clock } = service;
  const { secret, verifyToken, settings = {}, ...fields } = change;
  const wanted = { ...patched(source, fields), settings: mergeSettings(source.settings, settings) };
  const proofs = Object.keys(definedMembers({ secret, verify_token: verifyToken }));
  const changed = [...changedMembers(source, wanted, sourceFieldNames), ...proofs];
  if (changed.length === 0) return source;
  if (proofs.length > 0) requireStepUp(caller, clock);
  const former = await formerSecrets(service, tx, source, change);
  const current = secret ?? former?.current;
  assertUsable(service, wanted, current);
  const isSecretShort = current === undefined ? source.isSecretShort : isShort(wanted, current);
  const now = clock.now();
  const secrets = secret === undefined ? source.secrets : [newSecret(now)];
  const updated = revised(wanted, { isSecretShort, secrets }, now);
  await saveSource(service, tx, updated, former && secretsAfter(former, change));
  tx.afterCommit(() => sourceCache.forget(source.id));
  const entry = audited(caller, { action: "webhook_source.update", subject: source.id, fields: changed });
  await outbox.append(tx, [sourceUpdated(updated, changed), entry]);
  return updated;
}

export async function deleteSource(service: IngestService, tx: Tx, caller: Caller, source: Source): Promise<void> {
  await removeSource(tx, source.id);
  tx.afterCommit(() => service.sourceCache.forget(source.id));
  const entry = audited(caller, { action: "webhook_source.delete", subject: source.id });
  await service.outbox.append(tx, [sourceDeleted(source), entry]);
}

export async function deleteSourcesOf(service: IngestService, tx: Tx, accountId: string): Promise<void> {
  const owned = await lockSourcesOf(service, tx, accountId);
  for (const { id } of owned) await removeSource(tx, id);
  await noteDeletedAccount(tx, accountId);
  if (owned.length > 0) await service.outbox.append(tx, owned.map(sourceDeleted));
}

/** Returns the present secrets when one of them, or its encoding, changes. */
async function formerSecrets({ sealer, clock }: IngestService, tx: Tx, { id }: Source, change: SourceChange) {
  const { secret, verifyToken, settings = {} } = change;
  const reading = ["secretEncoding", "tokenFormat", "tokenKey", "keyFormat", "acceptShortSecret"];
  const isRead = reading.some((name) => name in settings);
  if (secret === undefined && verifyToken === undefined && !isRead) return undefined;
  return (await findSourceWithSecrets(tx, sealer, id, clock.now()))?.secrets;
}

/** Returns the secrets after a change. A new secret ends all former ones. */
const secretsAfter = (now: SourceSecrets, { secret, verifyToken }: SourceChange): SourceSecrets => ({
  current: secret ?? now.current,
  former: secret === undefined ? now.former : [],
  verifyToken: verifyToken === undefined ? now.verifyToken : verifyToken,
});
