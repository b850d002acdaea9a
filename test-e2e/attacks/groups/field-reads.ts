import type { Things } from "./owned-things.ts";

/** A query for every field of the graph that declares access. */
export const fieldReads = ({ account }: Pick<Things, "account">): Readonly<Record<string, string>> => ({
  "Query.viewer": "{ viewer { id displayName contactAddress } }",
  "Query.account": `{ account(id: "${account}") { id displayName } }`,
  "Query.accounts": "{ accounts(first: 100) { edges { node { id } } } }",
  "Query.accountsAuditLog": "{ accountsAuditLog(first: 100) { edges { node { subject } } } }",
  "Query.properties": "{ properties { name } }",
  "Account.settings": "{ viewer { settings { locale } } }",
  "Account.administration": "{ viewer { administration { roles } } }",
  "Account.auditLog": "{ viewer { auditLog(first: 100) { edges { node { subject } } } } }",
  "Account.apiKeys": "{ viewer { apiKeys(first: 100) { edges { node { id } } } } }",
  "Account.serviceClients": "{ viewer { serviceClients(first: 100) { edges { node { id } } } } }",
  "Account.signIns": "{ viewer { signIns(first: 100) { edges { node { id } } } } }",
  "Account.images": "{ viewer { images(first: 100) { edges { node { id } } } } }",
  "Account.webhookEndpoints": "{ viewer { webhookEndpoints(first: 100) { edges { node { id } } } } }",
  "Account.webhookDeliveries": "{ viewer { webhookDeliveries(first: 100) { edges { node { id } } } } }",
  "Account.webhookEvents": "{ viewer { webhookEvents(first: 100) { edges { node { id body } } } } }",
  "Account.webhookEventTypes": "{ viewer { webhookEventTypes(first: 100) { edges { node { name } } } } }",
  "Account.webhookReplays": "{ viewer { webhookReplays(first: 100) { edges { node { id } } } } }",
  "Account.webhookSources": "{ viewer { webhookSources(first: 100) { edges { node { id } } } } }",
});
