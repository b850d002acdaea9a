import type { Caller } from "@signalbox/auth";
import { type ErrorDetail, randomId, seconds } from "@signalbox/core";
import { rotate, type Tx } from "@signalbox/storage";
import type { z } from "zod";
import { recordInAudit } from "../audit/audit-log.ts";
import type { AccountService } from "../context/account-service.ts";
import { revokeTokensOfClient } from "../sign-ins/issued-tokens.ts";
import { countApplicationsLocked, insertApplication, removeApplication, saveApplication } from "./application-store.ts";
import {
  type ApplicationPatch,
  applicationEvents,
  liveSecretsOf,
  makeSecret,
  type NewApplication,
  problemsOf,
  type StoredApplication,
} from "./stored-application.ts";

/** An application with its new secret; null for one without. */
export interface IssuedSecret {
  readonly application: StoredApplication;
  readonly secret: string | null;
}

type Invalid = { readonly outcome: "invalid"; readonly problems: readonly ErrorDetail[] };

type CreateOutcome =
  | ({ readonly outcome: "issued" } & IssuedSecret)
  | Invalid
  | { readonly outcome: "no-issuer" }
  | { readonly outcome: "limit-reached"; readonly max: number };

type UpdateOutcome = { readonly outcome: "updated"; readonly application: StoredApplication } | Invalid;

type RotateOutcome =
  | ({ readonly outcome: "issued" } & IssuedSecret)
  | { readonly outcome: "no-secret" | "already-rotated" };

/** Applications are made by hand, and every one is a page in the list of an administrator. */
const applicationsMax = 200;
/** The newest secret and the one before it. */
const secretsMax = 2;

/** Changes an application. Codes on their way to a removed address are lost; tokens keep their scopes until they end. */
export async function updateApplication(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  application: StoredApplication,
  patch: z.output<typeof ApplicationPatch>,
): Promise<UpdateOutcome> {
  const { wanted, changed } = patched(application, patch);
  if (changed.length === 0) return { outcome: "updated", application };
  const problems = problemsOf(wanted);
  if (problems.length > 0) return { outcome: "invalid", problems };
  return { outcome: "updated", application: await save(service, tx, caller, wanted, "application.update", changed) };
}

/** Gives a server another secret. At most two are valid at once. */
export async function rotateApplicationSecret(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  application: StoredApplication,
  overlapSeconds: number,
): Promise<RotateOutcome> {
  if (application.type !== "server") return { outcome: "no-secret" };
  const now = service.clock.now();
  const rotation = rotate(application.secrets, { max: secretsMax, overlapMs: seconds(overlapSeconds), now });
  if (rotation.outcome !== "rotated") return { outcome: "already-rotated" };
  const { secret, stored } = makeSecret(now);
  const wanted = { ...application, secrets: [stored, ...rotation.older] };
  return {
    outcome: "issued",
    application: await save(service, tx, caller, wanted, "application.rotate_secret", ["client_secret"]),
    secret,
  };
}

/** Ends the overlap of a rotation now: from here on only the newest secret works. */
export async function removePreviousApplicationSecrets(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  application: StoredApplication,
): Promise<void> {
  const [newest, ...older] = liveSecretsOf(application, service.clock.now());
  if (!newest || older.length === 0) return;
  const wanted = { ...application, secrets: [newest] };
  await save(service, tx, caller, wanted, "application.rotate_secret", ["client_secret"]);
}

/** Deletes an application. Its tokens end everywhere within two seconds, and its refresh tokens are nobody's. */
export async function deleteApplication(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  application: StoredApplication,
): Promise<void> {
  const { id } = application;
  await revokeTokensOfClient(service, tx, id);
  await removeApplication(tx, id);
  await recordInAudit(service, tx, caller, { action: "application.delete", subject: id });
  await service.outbox.append(tx, [applicationEvents.deleted(application)]);
}

async function save(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  application: StoredApplication,
  action: "application.update" | "application.rotate_secret",
  changed: string[],
): Promise<StoredApplication> {
  const saved = { ...application, revision: application.revision + 1, updatedAt: service.clock.now() };
  await saveApplication(tx, saved);
  await recordInAudit(service, tx, caller, { action, subject: saved.id, fields: changed });
  await service.outbox.append(tx, [applicationEvents.updated(saved, changed)]);
  return saved;
}

/** The member of each field. */
const memberOf = {
  name: "name",
  redirect_uris: "redirectUris",
  post_logout_redirect_uris: "postLogoutRedirectUris",
  scopes: "scopes",
  logo_url: "logoUrl",
  consent: "consent",
  id_token_signed_response_alg: "idTokenSignedResponseAlg",
} as const;

/** Applies a patch. `changed` has the wire names of the fields with another value. */
function patched(application: StoredApplication, patch: z.output<typeof ApplicationPatch>) {
  const given = Object.entries(patch).map(
    ([name, value]) => [name, memberOf[name as keyof typeof memberOf], value] as const,
  );
  const changed = given.filter(([, member, value]) => JSON.stringify(application[member]) !== JSON.stringify(value));
  const members = Object.fromEntries(changed.map(([, member, value]) => [member, value]));
  const wanted: StoredApplication = { ...application, ...members };
  return { wanted, changed: changed.map(([name]) => name) };
}

/** Creates an application, with a secret for a server. */
export async function createApplication(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  { name, type, scopes, party, ...wanted }: z.output<typeof NewApplication>,
): Promise<CreateOutcome> {
  const { hasIssuer, clock, outbox } = service;
  if (!hasIssuer) return { outcome: "no-issuer" };
  const now = clock.now();
  const issued = type === "server" ? makeSecret(now) : null;
  const application: StoredApplication = {
    id: randomId("app"),
    name,
    type,
    redirectUris: wanted.redirect_uris,
    postLogoutRedirectUris: wanted.post_logout_redirect_uris,
    scopes: [...new Set(scopes)],
    logoUrl: wanted.logo_url,
    party,
    consent: wanted.consent ?? (party === "third" ? "ask" : "none"),
    idTokenSignedResponseAlg: wanted.id_token_signed_response_alg,
    secrets: issued === null ? [] : [issued.stored],
    revision: 1,
    createdAt: now,
    updatedAt: now,
  };
  const problems = problemsOf(application);
  if (problems.length > 0) return { outcome: "invalid", problems };
  if ((await countApplicationsLocked(tx)) >= applicationsMax) {
    return { outcome: "limit-reached", max: applicationsMax };
  }
  await insertApplication(tx, application);
  await recordInAudit(service, tx, caller, { action: "application.create", subject: application.id });
  await outbox.append(tx, [applicationEvents.created(application)]);
  return { outcome: "issued", application, secret: issued?.secret ?? null };
}
