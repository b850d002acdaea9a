import type { Caller } from "@signalbox/auth";
import { apiKeyExample, examples } from "@signalbox/contracts";
import {
  booleanParameter,
  created,
  type HttpResponse,
  listPage,
  noContent,
  ok,
  pageOf,
  pageParameters,
  type Refusal,
  type Routes,
  refused,
} from "@signalbox/http";
import { conflict, list, type OwnRow, operation, ownRows, record } from "@signalbox/service";
import type { ListRange } from "@signalbox/storage";
import { z } from "zod";
import { recordReadOfAccount } from "../audit/audit-log.ts";
import type { AccountService } from "../context/account-service.ts";
import { ownAccount } from "../profile/account-api.ts";
import {
  type Credential,
  CredentialPatch,
  etagOfCredential,
  type newCredential,
  refusedCredential,
} from "./credential.ts";
import {
  type HeldCredential,
  lockWithAccount,
  type Revoked,
  revokeByAdministrator,
  revokeWithCreated,
} from "./credential-revocations.ts";
import { type CredentialKind, createCredential, type Issued, renameCredential } from "./credentials.ts";

/** The differences between the kinds of credentials at both edges. */
export interface CredentialForm<C extends Credential> {
  /** The noun in texts, such as "API key", and the word for it where the kind is known. */
  readonly noun: string;
  readonly word: string;
  readonly kind: CredentialKind<C>;
  /** Its type in the graph. */
  readonly type: "ApiKey" | "ServiceClient";
  /** True when the graph finds it by its id, for fields of other services. */
  readonly isEntity: boolean;
  /** The end of the path of a list, and the parameter of one. */
  readonly folder: "api-keys" | "clients";
  readonly idParameter: "key_id" | "client_id";
  readonly input: ReturnType<typeof newCredential>;
  readonly resource: z.ZodType;
  readonly issuedResource: z.ZodType;
  /** The members that show the secret of a new credential, once, beside its view. */
  readonly secretView: (issued: Issued<C>) => object;
  /** The members of payloads. */
  readonly members: { readonly one: string; readonly secret: string };
  readonly tooMany: (max: number) => Refusal;
  readonly texts: { readonly issued: string; readonly secretless: string; readonly revoked: string };
}

const read = { scopes: ["account:read"], access: "own-account:read" } as const;
export const security = { scopes: ["account:security"], stepUp: true } as const;
const administration = { scopes: ["account:admin"] } as const;

const RevocationQuery = z.object({
  revoke_created: booleanParameter()
    .default(false)
    .describe("True to also revoke the credentials that it created, directly or indirectly."),
});

const Revocation = z
  .object({
    id: z.string().describe("The id of the revoked credential."),
    created_live: z.int().min(1).describe("Number of active keys and clients that it created."),
  })
  .meta({ id: "Revocation" })
  .register(examples, { example: { id: apiKeyExample.id, created_live: 2 } });

const noIssuer = conflict(
  "clients",
  "no_issuer",
  "Service clients get their tokens from the built-in issuer, which does not run here. Create the client at the identity provider, or use an API key.",
);

/** Declares the operations that both kinds of credentials have, for owners and for administrators. */
export function credentialOperations<C extends Credential>(service: AccountService, form: CredentialForm<C>) {
  return { ...reads(service, form), ...writes(service, form), ...revocations(service, form) };
}

/** Reads a page of an account's credentials; an administrator's read leaves an entry in the account's audit. */
const pageReader =
  <C extends Credential>(service: AccountService, { kind }: CredentialForm<C>) =>
  async (range: ListRange, { caller, accountId }: { readonly caller: Caller; readonly accountId: string }) => {
    const credentials = await kind.store.list(service.pool, accountId, range);
    await recordReadOfAccount(service, caller, accountId, `account.read_${kind.audited}s`);
    return credentials;
  };

function reads<C extends Credential>(service: AccountService, form: CredentialForm<C>) {
  const { pageLimits, pool } = service;
  const { noun, kind, resource, texts } = form;
  const { base, one, idOf, view, show, missing } = edgeOf(service, form);
  return {
    list: list({
      summary: `List the account's ${noun}s, newest first`,
      description: `Revoked and expired ${noun}s are listed too. Secrets are never shown again.`,
      auth: read,
      limits: pageLimits,
      read: pageReader(service, form),
      rest: { get: base, item: resource, view },
      graph: { ofOthers: { ...administration, access: "read" }, audit: `account.read_${kind.audited}s` },
    }),
    read: record({
      summary: `Read ${article(noun)}, ${texts.secretless}`,
      description: `Name, scopes, state and times of the ${noun}.`,
      auth: read,
      find: ({ caller, params }) => kind.store.find(pool, caller.accountId, idOf(params)),
      missing,
      rest: { get: one, resource, answer: show },
      ...(form.isEntity && {
        graph: {
          type: form.type,
          load: ownRows(({ accountId }, ids) => kind.store.findMany(pool, accountId, ids)),
        },
      }),
    }),
  };
}

function writes<C extends Credential>(service: AccountService, form: CredentialForm<C>) {
  const { noun, word, kind, members } = form;
  const { base, one, show, id } = edgeOf(service, form);
  const { answerIssued, issuedGraph } = secretAnswers(service, form);
  return {
    create: operation({
      summary: `Create ${article(noun)}`,
      description: form.texts.issued,
      auth: security,
      audit: `${kind.audited}.create`,
      input: form.input,
      of: ownAccount(service),
      change: (tx, account, { caller, input: { expires_at: expiresAt, ...wanted } }) =>
        createCredential(service, tx, caller, kind, account, { ...wanted, expiresAt }),
      refusals: {
        invalid: (problems) => refusedCredential(problems, word),
        "limit-reached": ({ max }) => form.tooMany(max),
        "no-issuer": noIssuer,
      },
      rest: {
        post: base,
        responses: { 201: form.issuedResource, 422: "error" },
        idempotent: "sealed",
        answer: answerIssued,
      },
      graph: issuedGraph,
    }),
    rename: operation({
      summary: `Rename ${article(noun)}`,
      description: "A new name needs a recent sign-in; the same name changes nothing.",
      auth: { scopes: security.scopes, stepUpFor: "another name" },
      audit: `${kind.audited}.update`,
      input: CredentialPatch,
      of: ownCredential(service, form),
      change: (tx, credential, { caller, input }) =>
        renameCredential(service, tx, caller, kind, credential, input.name),
      rest: {
        patch: one,
        mergePatch: true,
        responses: { 200: form.resource, 204: "empty", 409: "error" },
        idempotent: true,
        answer: show,
      },
      graph: { payload: members.one, ...id },
    }),
  };
}

function revocations<C extends Credential>(service: AccountService, form: CredentialForm<C>) {
  const { noun, type, kind, members, texts } = form;
  const { one, ofAccount, idOf, etag, missing, id } = edgeOf(service, form);
  const rest = {
    responses: { 200: Revocation, 204: "empty", 409: "error" },
    idempotent: true,
    answer: ({ credential: { id }, createdLive }: Revoked<C>): HttpResponse =>
      createdLive === 0 ? noContent() : ok({ id, created_live: createdLive }),
  } as const;
  const graph = {
    payload: {
      [members.one]: ({ credential }: Revoked<C>) => credential,
      createdLive: ({ createdLive }: Revoked<C>) => createdLive,
    },
    type: `${type}Payload`,
  };
  return {
    revoke: operation({
      summary: `Revoke ${article(noun)}`,
      description: `${texts.revoked} If credentials that it created are still active, 200 returns their number.`,
      auth: security,
      audit: `${kind.audited}.revoke`,
      input: RevocationQuery,
      of: ownCredential(service, form),
      change: (tx, credential, { caller, input }) =>
        revokeWithCreated(service, tx, caller, kind, credential, input.revoke_created),
      rest: { delete: one, ...rest },
      graph: { ...graph, ...id },
    }),
    revokeByAdministrator: operation({
      summary: `Revoke ${article(noun)} of an account`,
      description: `${texts.revoked} The owner gets a notice. If credentials that it created are still active, 200 returns their number.`,
      auth: { ...administration, stepUp: true },
      audit: `${kind.audited}.revoke`,
      input: RevocationQuery,
      of: {
        find: (tx, { params }) => lockWithAccount(service, tx, kind.store, idOf(params, "account_id"), idOf(params)),
        etag: ({ credential }) => etag(credential),
        missing,
      },
      change: (tx, held, { caller, input }) =>
        revokeByAdministrator(service, tx, caller, kind, held, input.revoke_created),
      rest: { delete: `${ofAccount}:${form.idParameter}`, ...rest },
      graph: { ...graph, keysInInput: true, names: { ...id.names, account_id: "accountId" } },
    }),
  };
}

/** Adds the list of an account's credentials for administrators, which the graph has as a field of the account. */
export function addAdministratorList<C extends Credential>(
  service: AccountService,
  routes: Routes,
  operationId: string,
  form: CredentialForm<C>,
): void {
  const { noun, kind, resource } = form;
  const { ofAccount, view } = edgeOf(service, form);
  const readPage = pageReader(service, form);
  routes.get(ofAccount, {
    operationId,
    summary: `List the ${noun}s of an account, newest first`,
    description: "For administrators; reading them is recorded in the account's audit.",
    auth: administration,
    audit: `account.read_${kind.audited}s`,
    query: z.object(pageParameters(service.pageLimits)),
    responses: { 200: pageOf(resource), 404: "error" },
    async handle({ caller, params, query }) {
      const account = await service.accountStore.find(params.account_id);
      if (!account) return refused(404, "not_found");
      return listPage(query, (range) => readPage(range, { caller, accountId: account.id }), view);
    },
  });
}

/** The paths of a kind, and the common parts of its operations. */
function edgeOf<C extends Credential>({ clock }: AccountService, form: CredentialForm<C>) {
  const { noun, folder, idParameter, kind } = form;
  const base = `/api/account/${folder}/`;
  const view = (credential: C) => kind.view(credential, clock.now());
  const etag = (credential: C) => etagOfCredential(view(credential), credential);
  return {
    base,
    one: `${base}:${idParameter}`,
    ofAccount: `/api/accounts/:account_id/${folder}/` as const,
    /** The type knows no names, because the path is composed. */
    idOf: (params: unknown, name: string = idParameter) => (params as Readonly<Record<string, string>>)[name] ?? "",
    view,
    etag,
    show: (credential: C): HttpResponse => ok(view(credential), { etag: etag(credential) }),
    missing: `There is no such ${noun}.`,
    /** The credential's id as a member of the graph's input. */
    id: { keysInInput: true, names: { [idParameter]: "id" } } as const,
  };
}

/** The answers that show a secret, once. */
export function secretAnswers<C extends Credential>(service: AccountService, form: CredentialForm<C>) {
  const { base, view, etag, id } = edgeOf(service, form);
  const { one, secret: secretMember } = form.members;
  // The validator belongs to the representation of GET, so the next change can use it.
  const options = ({ credential }: Issued<C>) => ({ etag: etag(credential) });
  const shown = (issued: Issued<C>) => ({ ...view(issued.credential), ...form.secretView(issued) });
  return {
    answerIssued: (issued: Issued<C>): HttpResponse =>
      created(base + issued.credential.id, shown(issued), options(issued)),
    answerRotated: (issued: Issued<C>): HttpResponse => ok(shown(issued), options(issued)),
    issuedGraph: {
      payload: {
        [one]: ({ credential }: Issued<C>) => credential,
        [secretMember]: ({ secret }: Issued<C>) => secret,
      },
      type: `Issued${form.type}Payload`,
      ...id,
    },
  };
}

/** Finds and locks a credential of the caller. */
export function ownCredential<C extends Credential>(
  service: AccountService,
  form: CredentialForm<C>,
): OwnRow<C, unknown> {
  const { idOf, etag, missing } = edgeOf(service, form);
  return { find: (tx, { caller, params }) => form.kind.store.lock(tx, caller.accountId, idOf(params)), etag, missing };
}

/** Finds a credential of the caller and locks its account too: a suspended account must not get new access. */
export function heldCredential<C extends Credential>(
  service: AccountService,
  form: CredentialForm<C>,
): OwnRow<HeldCredential<C>, unknown> {
  const { idOf, etag, missing } = edgeOf(service, form);
  return {
    find: (tx, { caller, params }) => lockWithAccount(service, tx, form.kind.store, caller.accountId, idOf(params)),
    etag: ({ credential }) => etag(credential),
    missing,
  };
}

const article = (noun: string): string => `${/^[aeiou]/i.test(noun) ? "an" : "a"} ${noun}`;
