import { isDeepStrictEqual } from "node:util";
import { type Caller, requireStepUp } from "@signalbox/auth";
import { AppError, type Clock, changedMembers, type ErrorDetail, patched } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import type { OutboundClient } from "@signalbox/net";
import { audited } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import { createEndpointSecret } from "@signalbox/webhook-signatures";
import type { SigningKeys } from "../signing-keys/signing-keys.ts";
import {
  type Endpoint,
  type EndpointChange,
  endpointCreated,
  endpointDeleted,
  endpointFieldNames,
  endpointFrom,
  endpointUpdated,
  type NewEndpoint,
  noUrl,
  requireScopeOf,
} from "./endpoint.ts";
import { defaultSettings, settle } from "./endpoint-settings.ts";
import type { EndpointStore } from "./endpoint-store.ts";
import type { SecretStore } from "./secret-store.ts";

interface EndpointDependencies {
  readonly endpointStore: EndpointStore;
  readonly secretStore: Pick<SecretStore, "insert" | "saveCredentials">;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly outbound: Pick<OutboundClient, "check">;
  readonly signingKeys: Pick<SigningKeys, "ensure">;
  /** Largest number of endpoints of one account: every event costs a delivery for each. */
  readonly endpointsMax: () => number;
  /** Returns true when this deployment lets accounts register endpoints. */
  readonly mayRegister: () => boolean;
}

export type Endpoints = ReturnType<typeof createEndpoints>;

/** Creates the operations on the endpoints of an account: create, update, delete. */
export function createEndpoints(dependencies: EndpointDependencies) {
  const { endpointStore, secretStore, signingKeys, outbox, clock, outbound, endpointsMax, mayRegister } = dependencies;
  return {
    /** Creates an endpoint, which gets the events committed from now on. Its secret is shown this once. */
    async create(tx: Tx, caller: Caller, wanted: NewEndpoint) {
      const { accountId } = caller;
      requireScopeOf(wanted, caller);
      if (wanted.scope === "all") requireStepUp(caller, clock);
      if (!mayRegister()) return { outcome: "switched-off" } as const;
      const url = urlOf(outbound, wanted);
      const max = endpointsMax();
      if ((await endpointStore.lockCount(tx, accountId)) >= max) return { outcome: "limit-reached", max } as const;
      const at = clock.now();
      const { settings, credentials } = settle(defaultSettings, wanted.settings ?? {}, at);
      requireFitting(wanted, settings);
      const made = endpointFrom({ ...wanted, url, settings }, accountId, at);
      const secret = createEndpointSecret();
      if (settings.signatures.includes("v1a")) await signingKeys.ensure(tx, accountId);
      await endpointStore.insert(tx, made);
      const endpoint = { ...made, secrets: [await secretStore.insert(tx, made.id, secret, at)] };
      await secretStore.saveCredentials(tx, endpoint.id, credentials);
      const entry = audited(caller, {
        action: "webhook_endpoint.create",
        subject: endpoint.id,
        ...(wanted.scope === "all" && everyAccount),
      });
      await outbox.append(tx, [endpointCreated(endpoint), entry]);
      return { outcome: "created", endpoint, secret } as const;
    },

    /** Updates an endpoint. A change that alters nothing writes nothing. */
    update: (tx: Tx, caller: Caller, endpoint: Endpoint, change: EndpointChange): Promise<Endpoint> =>
      updateEndpoint(dependencies, tx, caller, endpoint, change),

    /** Deletes an endpoint. It and its deliveries disappear at once, and a worker removes the rows. */
    async delete(tx: Tx, caller: Caller, endpoint: Endpoint): Promise<void> {
      await endpointStore.remove(tx, endpoint.id, clock.now());
      const entry = audited(caller, { action: "webhook_endpoint.delete", subject: endpoint.id });
      await outbox.append(tx, [endpointDeleted(endpoint), entry]);
    },
  };
}

/** Audit fields of an endpoint that gets the events of all accounts. */
const everyAccount = { fields: ["scope"], reason: "all accounts" };

/** Updates an endpoint. A new URL, which gets all events of the old one, needs a step-up. */
async function updateEndpoint(
  { endpointStore, secretStore, signingKeys, outbox, clock, outbound }: EndpointDependencies,
  tx: Tx,
  caller: Caller,
  endpoint: Endpoint,
  { settings, url, ...fields }: EndpointChange,
): Promise<Endpoint> {
  requireScopeOf(endpoint, caller);
  const isSame = url === undefined || url === endpoint.url;
  const target = isSame ? endpoint.url : urlOf(outbound, { type: endpoint.type, url });
  const settled = settle(endpoint.settings, settings ?? {}, clock.now());
  requireFitting(endpoint, settled.settings);
  const wanted = { ...patched(endpoint, { ...fields, url: target }), settings: settled.settings };
  const changed = changedMembers(endpoint, wanted, endpointFieldNames);
  if (settled.credentials.size > 0 && !changed.includes("settings")) changed.push("settings");
  if (changed.length === 0) return endpoint;
  requireSameEvents(caller, endpoint, wanted);
  if (wanted.url !== endpoint.url) requireStepUp(caller, clock);
  const updated = { ...wanted, revision: endpoint.revision + 1, updatedAt: clock.now() };
  if (wanted.settings.signatures.includes("v1a")) await signingKeys.ensure(tx, endpoint.accountId);
  await endpointStore.save(tx, updated);
  await secretStore.saveCredentials(tx, endpoint.id, settled.credentials);
  const entry = audited(caller, { action: "webhook_endpoint.update", subject: endpoint.id, fields: changed });
  await outbox.append(tx, [endpointUpdated(updated, changed), entry]);
  return updated;
}

/**
 * Lets a portal session of chosen endpoints decide how events come and never which: those of the account's other
 * endpoints are not for it.
 * @throws AppError `forbidden` on the fields that choose events
 */
function requireSameEvents({ portal }: Caller, before: Endpoint, after: Endpoint): void {
  if (!portal?.endpointIds) return;
  const fields = [
    ...(isDeepStrictEqual(before.eventTypes, after.eventTypes) ? [] : ["event_types"]),
    ...(isDeepStrictEqual(before.settings.filter, after.settings.filter) ? [] : ["settings.filter"]),
  ];
  if (fields.length === 0) return;
  const message = "This portal session does not choose the events of its endpoints; ask the account that made it.";
  const details = fields.map((field) => ({ field, code: "portal_session" as const, message }));
  throw new AppError("forbidden", message, { details });
}

/** Returns the URL of a push endpoint. @throws AppError `validation_error` on `url` that is missing or not allowed */
function urlOf(outbound: Pick<OutboundClient, "check">, { type, url }: Pick<NewEndpoint, "type" | "url">): string {
  if (type === "push" && url === undefined) throw refusedUrl("required", "A push endpoint needs a URL.");
  if (type === "pull" && url !== undefined) throw refusedUrl("not_allowed", "A pull endpoint has no URL.");
  return url === undefined ? noUrl : targetOf(outbound, url);
}

/** Settings of a connection, which a pull endpoint does not make. */
const pushOnly = ["timeout_seconds", "client_certificate"] as const;

/** @throws AppError `validation_error` for a setting that has no meaning for the type */
function requireFitting({ type }: Pick<Endpoint, "type">, settings: Endpoint["settings"]): void {
  const set = type === "pull" ? pushOnly.filter((name) => settings[name] !== null) : [];
  if (set.length === 0) return;
  const message = "A pull endpoint makes no connection.";
  const details = set.map((name) => ({ field: `settings.${name}`, code: "not_allowed" as const, message }));
  throw new AppError("validation_error", message, { details });
}

/**
 * Normalizes the URL and refuses one that can never be delivered to: not https, with credentials, with a fragment, or a
 * literal address that is not public. The addresses that a name resolves to are checked at the socket, at every
 * attempt.
 * @throws AppError `validation_error` on `url`
 */
function targetOf(outbound: Pick<OutboundClient, "check">, text: string): string {
  const problem = outbound.check(text, { requireHttps: true });
  if (problem !== null) throw refusedUrl(problem.code, problem.message);
  const url = new URL(text);
  if (url.href.includes("#")) throw refusedUrl("malformed", "Remove the fragment (#): it is never sent.");
  return url.href;
}

function refusedUrl(code: ErrorDetail["code"], message: string): AppError {
  const details = [{ field: "url", code, message }];
  return new AppError("validation_error", "Nothing can be delivered to this URL.", { details });
}
