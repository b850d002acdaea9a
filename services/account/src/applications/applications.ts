import type { Caller } from "@signalbox/auth";
import { type Clock, type ErrorDetail, randomId, seconds } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { rotate, type Tx } from "@signalbox/storage";
import type { z } from "zod";
import type { Audit } from "../audit/audit-log.ts";
import type { IssuedTokens } from "../sign-ins/issued-tokens.ts";
import type { ApplicationStore } from "./application-store.ts";
import {
  type ApplicationPatch,
  applicationEvents,
  liveSecretsOf,
  makeSecret,
  type NewApplication,
  problemsOf,
  type StoredApplication,
} from "./stored-application.ts";

interface Dependencies {
  readonly applicationStore: ApplicationStore;
  readonly issuedTokens: Pick<IssuedTokens, "revokeOfClient">;
  readonly audit: Pick<Audit, "record">;
  readonly outbox: Pick<Outbox, "append">;
  readonly clock: Clock;
  /** True when the built-in issuer runs; only it knows these applications. */
  readonly hasIssuer: boolean;
}

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
  | { readonly outcome: "no-secret" }
  | { readonly outcome: "already-rotated" };

/** Applications are made by hand, and every one is a page in the list of an administrator. */
const applicationsMax = 200;
/** The newest secret and the one before it. */
const secretsMax = 2;

export type Applications = ReturnType<typeof createApplications>;

/** The applications of the deployment that people sign in to, managed by its administrators. */
export function createApplications(dependencies: Dependencies) {
  const { applicationStore, issuedTokens, audit, outbox, clock } = dependencies;

  const save = (...given: Saving) => saveChanged(given, dependencies);

  return {
    create: (tx: Tx, caller: Caller, wanted: z.output<typeof NewApplication>): Promise<CreateOutcome> =>
      create(tx, caller, wanted, dependencies),

    /** Changes an application. Codes on their way to a removed address are lost; tokens keep their scopes until they end. */
    async update(
      tx: Tx,
      caller: Caller,
      application: StoredApplication,
      patch: z.output<typeof ApplicationPatch>,
    ): Promise<UpdateOutcome> {
      const { wanted, changed } = patched(application, patch);
      if (changed.length === 0) return { outcome: "updated", application };
      const problems = problemsOf(wanted);
      if (problems.length > 0) return { outcome: "invalid", problems };
      return { outcome: "updated", application: await save(tx, caller, wanted, "application.update", changed) };
    },

    /** Gives a server another secret. At most two are valid at once. */
    async rotate(
      tx: Tx,
      caller: Caller,
      application: StoredApplication,
      overlapSeconds: number,
    ): Promise<RotateOutcome> {
      if (application.type !== "server") return { outcome: "no-secret" };
      const now = clock.now();
      const rotation = rotate(application.secrets, { max: secretsMax, overlapMs: seconds(overlapSeconds), now });
      if (rotation.outcome !== "rotated") return { outcome: "already-rotated" };
      const { secret, stored } = makeSecret(now);
      const wanted = { ...application, secrets: [stored, ...rotation.older] };
      return {
        outcome: "issued",
        application: await save(tx, caller, wanted, "application.rotate_secret", ["client_secret"]),
        secret,
      };
    },

    /** Ends the overlap of a rotation now: from here on only the newest secret works. */
    async removePrevious(tx: Tx, caller: Caller, application: StoredApplication): Promise<void> {
      const [newest, ...older] = liveSecretsOf(application, clock.now());
      if (!newest || older.length === 0) return;
      await save(tx, caller, { ...application, secrets: [newest] }, "application.rotate_secret", ["client_secret"]);
    },

    /** Deletes an application. Its tokens end everywhere within two seconds, and its refresh tokens are nobody's. */
    async delete(tx: Tx, caller: Caller, application: StoredApplication): Promise<void> {
      const { id } = application;
      await issuedTokens.revokeOfClient(tx, id);
      await applicationStore.remove(tx, id);
      await audit.record(tx, caller, { action: "application.delete", subject: id });
      await outbox.append(tx, [applicationEvents.deleted(application)]);
    },
  };
}

type Saving = readonly [
  tx: Tx,
  caller: Caller,
  application: StoredApplication,
  action: "application.update" | "application.rotate_secret",
  changed: readonly string[],
];

async function saveChanged(
  [tx, caller, application, action, changed]: Saving,
  { applicationStore, audit, outbox, clock }: Pick<Dependencies, "applicationStore" | "audit" | "outbox" | "clock">,
): Promise<StoredApplication> {
  const saved = { ...application, revision: application.revision + 1, updatedAt: clock.now() };
  await applicationStore.save(tx, saved);
  await audit.record(tx, caller, { action, subject: saved.id, fields: [...changed] });
  await outbox.append(tx, [applicationEvents.updated(saved, changed)]);
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
} as const;

/** Applies a patch. `changed` has the wire names of the fields with another value. */
function patched(application: StoredApplication, patch: z.output<typeof ApplicationPatch>) {
  const given = Object.entries(patch).map(([name, value]) => ({
    name,
    member: memberOf[name as keyof typeof memberOf],
    value,
  }));
  const changed = given.filter(({ member, value }) => JSON.stringify(application[member]) !== JSON.stringify(value));
  const members = Object.fromEntries(changed.map(({ member, value }) => [member, value]));
  const wanted: StoredApplication = { ...application, ...members };
  return { wanted, changed: changed.map(({ name }) => name) };
}

async function create(
  tx: Tx,
  caller: Caller,
  { name, type, scopes, party, ...wanted }: z.output<typeof NewApplication>,
  { applicationStore, audit, outbox, clock, hasIssuer }: Dependencies,
): Promise<CreateOutcome> {
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
    secrets: issued === null ? [] : [issued.stored],
    revision: 1,
    createdAt: now,
    updatedAt: now,
  };
  const problems = problemsOf(application);
  if (problems.length > 0) return { outcome: "invalid", problems };
  if ((await applicationStore.countLocked(tx)) >= applicationsMax) {
    return { outcome: "limit-reached", max: applicationsMax };
  }
  await applicationStore.insert(tx, application);
  await audit.record(tx, caller, { action: "application.create", subject: application.id });
  await outbox.append(tx, [applicationEvents.created(application)]);
  return { outcome: "issued", application, secret: issued?.secret ?? null };
}
