import { eventually } from "@signalbox/testing";
import { once } from "../../containers/page-lines.ts";
import { createClient } from "../../journey/client.ts";
import { readLog } from "../../systems/read-log.ts";
import type { TrustingScene, Victim } from "../scene/trusting-scene.ts";

/** A place where events and logs end up. */
export interface Sink {
  readonly name: string;
  /** A text that is certainly there: a search that misses it has not looked. */
  readonly marker: string;
  readonly read: () => Promise<string>;
}

/** The last actions before the sinks are read; each sink contains one of them. */
interface Marks {
  readonly requestId: string;
  readonly traceId: string;
  readonly displayName: string;
}

/** Every place where a part of the person's requests may end up. */
export function sinksOf(
  scene: TrustingScene,
  { headers }: Victim,
  { requestId, traceId, displayName }: Marks,
): readonly Sink[] {
  const { system, spans, send, administrator } = scene;
  const textOf = async (path: string, by = headers) => (await send(path, { headers: { ...by } })).bytes.toString();
  const sinks: Sink[] = [
    { name: "the logs", marker: requestId, read: async () => system.output() },
    {
      name: "the traces",
      marker: traceId,
      read: async () =>
        JSON.stringify(spans.spans, (_name, value) => (typeof value === "bigint" ? String(value) : value)),
    },
    { name: "the events", marker: displayName, read: () => eventsOf(scene) },
    { name: "the metrics", marker: "http_server", read: () => managed(scene, "/management/metrics") },
    { name: "the management env", marker: "propertySources", read: () => managed(scene, "/management/env") },
    { name: "the owner's audit", marker: requestId, read: () => textOf("/api/account/audit/?limit=70") },
    {
      name: "the audit of all accounts",
      marker: requestId,
      read: () => textOf("/api/accounts/audit/?limit=70", administrator),
    },
    { name: "the export", marker: displayName, read: () => textOf("/api/account/export/") },
    { name: "the graph", marker: displayName, read: () => graphOf(scene, headers) },
    {
      name: "the account's lists",
      marker: "Planted",
      read: async () => (await Promise.all(lists.map((path) => textOf(path)))).join("\n"),
    },
  ];
  return sinks.map((sink) => ({ ...sink, read: once(() => settled(sink)) }));
}

const lists = [
  "/api/account/api-keys/",
  "/api/v1/webhooks/sources",
  "/api/v1/webhooks/endpoints",
  "/images",
  "/api/v1/webhooks/deliveries",
  "/api/v1/webhooks/attempts",
];

/** Reads a sink once it contains the last actions. */
const settled = (sink: Sink): Promise<string> =>
  eventually(
    async () => {
      const text = await sink.read();
      return text.includes(sink.marker) && text;
    },
    { message: `${sink.name} show ${sink.marker}` },
  );

async function managed({ system, administrator }: TrustingScene, path: string): Promise<string> {
  const urls = system.managementUrls.size > 0 ? [...system.managementUrls.values()] : [system.managementUrl];
  const answers = urls.map((url) => createClient(url)(path, { headers: { ...administrator } }));
  return (await Promise.all(answers)).map(({ bytes }) => bytes.toString()).join("\n");
}

async function graphOf({ send }: TrustingScene, headers: Victim["headers"]): Promise<string> {
  const query = `{ viewer { displayName apiKeys(first: 70) { edges { node { name hint } } } auditLog(first: 70) { edges { node { action subject } } }
    webhookEndpoints(first: 70) { edges { node { url description } } } webhookSources(first: 70) { edges { node { name } } } } }`;
  return (await send("/graphql", { headers: { ...headers }, body: { query } })).bytes.toString();
}

async function eventsOf({ system }: TrustingScene): Promise<string> {
  const records = await readLog(system.eventsUrl);
  return records.map(({ key, headers, value }) => `${key} ${JSON.stringify(headers)} ${value}`).join("\n");
}
