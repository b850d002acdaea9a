import { isDeepStrictEqual } from "node:util";
import { type Caller, requireStepUp } from "@signalbox/auth";
import { AppError, changedMembers, type ErrorDetail, patched } from "@signalbox/core";
import type { OutboundClient } from "@signalbox/net";
import { audited, tooMany } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import { createEndpointSecret } from "@signalbox/webhook-signatures";
import type { DeliveryService } from "../context/delivery-service.ts";
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
import { insertEndpoint, lockEndpointCount, removeEndpoint, saveEndpoint } from "./endpoint-store.ts";
import { writableSettings } from "./portal-view.ts";
import { insertSecret, saveCredentials } from "./secret-store.ts";
import { ensureSigningKey } from "./signing-keys.ts";

export async function createEndpoint(service: DeliveryService, tx: Tx, caller: Caller, wanted: NewEndpoint) {
  const { configuration, clock, sender, outbox, sealer } = service;
  const { accountId } = caller;
  requireScopeOf(wanted, caller);
  if (wanted.scope === "all") requireStepUp(caller, clock);
  if (!configuration.get("capabilities.webhooks")) return { outcome: "switched-off" } as const;
  const url = urlOf(sender.outbound, wanted.type, wanted.url);
  const max = configuration.get("webhook-delivery.endpoints.max");
  if ((await lockEndpointCount(tx, accountId)) >= max) return { outcome: "limit-reached", max } as const;
  const at = clock.now();
  const { settings, credentials } = settle(defaultSettings, wanted.settings ?? {}, at);
  requireFitting(wanted.type, settings);
  const made = endpointFrom({ ...wanted, url, settings }, accountId, at);
  const secret = createEndpointSecret();
  if (settings.signatures.includes("v1a")) await ensureSigningKey(service, tx, accountId);
  await insertEndpoint(tx, made);
  const endpoint = { ...made, secrets: [await insertSecret(tx, sealer, made.id, secret, at)] };
  await saveCredentials(tx, sealer, endpoint.id, credentials);
  const scope = wanted.scope === "all" ? everyAccount : {};
  const entry = audited(caller, { action: "webhook_endpoint.create", subject: endpoint.id, ...scope });
  await outbox.append(tx, [endpointCreated(endpoint), entry]);
  return { outcome: "created", endpoint, secret } as const;
}

export const createRefusals = {
  "switched-off": { code: "forbidden", message: "Webhook endpoints are switched off." },
  "limit-reached": ({ max }: { readonly max: number }) =>
    tooMany("endpoints", `The account has ${max} endpoints; delete one that is not needed.`),
} as const;

const everyAccount = { fields: ["scope"], reason: "all accounts" };

/** Updates an endpoint. A new URL needs a step-up. A change that alters nothing writes nothing. */
export async function updateEndpoint(
  service: DeliveryService,
  tx: Tx,
  caller: Caller,
  endpoint: Endpoint,
  { settings, url, ...fields }: EndpointChange,
): Promise<Endpoint> {
  const { clock, sender, outbox, sealer } = service;
  requireScopeOf(endpoint, caller);
  const isSame = url === undefined || url === endpoint.url;
  const target = isSame ? endpoint.url : urlOf(sender.outbound, endpoint.type, url);
  const settled = settle(endpoint.settings, writableSettings(caller, settings ?? {}), clock.now());
  requireFitting(endpoint.type, settled.settings);
  const wanted = { ...patched(endpoint, { ...fields, url: target }), settings: settled.settings };
  const changed = changedMembers(endpoint, wanted, endpointFieldNames);
  if (settled.credentials.size > 0 && !changed.includes("settings")) changed.push("settings");
  if (changed.length === 0) return endpoint;
  requireSameEvents(caller, endpoint, wanted);
  requireScopeOf(wanted, caller);
  if (wanted.url !== endpoint.url) requireStepUp(caller, clock);
  const updated = { ...wanted, revision: endpoint.revision + 1, updatedAt: clock.now() };
  if (wanted.settings.signatures.includes("v1a")) await ensureSigningKey(service, tx, endpoint.accountId);
  await saveEndpoint(tx, updated);
  await saveCredentials(tx, sealer, endpoint.id, settled.credentials);
  const entry = audited(caller, { action: "webhook_endpoint.update", subject: endpoint.id, fields: changed });
  await outbox.append(tx, [endpointUpdated(updated, changed), entry]);
  return updated;
}

export async function deleteEndpoint({ clock, outbox }: DeliveryService, tx: Tx, caller: Caller, endpoint: Endpoint) {
  await removeEndpoint(tx, endpoint.id, clock.now());
  const entry = audited(caller, { action: "webhook_endpoint.delete", subject: endpoint.id });
  await outbox.append(tx, [endpointDeleted(endpoint), entry]);
}

/** Refuses other events to a portal session of chosen endpoints. @throws AppError `forbidden` on those fields */
function requireSameEvents({ portal }: Caller, before: Endpoint, after: Endpoint): void {
  if (!portal?.endpointIds) return;
  const fields = [
    ...(isDeepStrictEqual(before.eventTypes, after.eventTypes) ? [] : ["event_types"]),
    ...(isDeepStrictEqual(before.settings.filter, after.settings.filter) ? [] : ["settings.filter"]),
  ];
  if (fields.length === 0) return;
  const message = "A portal session cannot choose the events of its endpoints; ask the account that created it.";
  const details = fields.map((field) => ({ field, code: "portal_session" as const, message }));
  throw new AppError("forbidden", message, { details });
}

/** Returns the URL of a push endpoint. @throws AppError `validation_error` on `url` that is missing or not allowed */
function urlOf(outbound: OutboundClient, type: Endpoint["type"], url: string | undefined): string {
  if (type === "push" && url === undefined) throw refusedUrl("required", "A push endpoint needs a URL.");
  if (type === "pull" && url !== undefined) throw refusedUrl("not_allowed", "A pull endpoint has no URL.");
  return url === undefined ? noUrl : targetOf(outbound, url);
}

/** Settings of a connection, which a pull endpoint does not make. */
const pushOnly = ["timeout_seconds", "client_certificate"] as const;

/** @throws AppError `validation_error` for a setting that has no meaning for the type */
function requireFitting(type: Endpoint["type"], settings: Endpoint["settings"]): void {
  const set = type === "pull" ? pushOnly.filter((name) => settings[name] !== null) : [];
  if (set.length === 0) return;
  const message = "A pull endpoint makes no connections, so it has no such setting.";
  const details = set.map((name) => ({ field: `settings.${name}`, code: "not_allowed" as const, message }));
  throw new AppError("validation_error", message, { details });
}

/** Normalizes the URL. Addresses of a name are checked at the socket. @throws AppError `validation_error` on `url` */
function targetOf(outbound: OutboundClient, text: string): string {
  const problem = outbound.check(text, { requireHttps: true });
  if (problem !== null) throw refusedUrl(problem.code, problem.message);
  const url = new URL(text);
  if (url.href.includes("#")) throw refusedUrl("malformed", "Remove the fragment (#): it is never sent.");
  return url.href;
}

function refusedUrl(code: ErrorDetail["code"], message: string): AppError {
  const details = [{ field: "url", code, message }];
  return new AppError("validation_error", "Deliveries to this URL are not possible.", { details });
}
