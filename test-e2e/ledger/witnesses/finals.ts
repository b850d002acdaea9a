import { createHash } from "node:crypto";
import type { Agreement, Evidence, FinalImage, FinalReplay, Revision } from "../evidence.ts";
import { createHttp } from "../http.ts";
import type { Member, Scene } from "../scene.ts";
import { publishedType } from "../scene.ts";
import { ledgerFlag, overriddenProperty } from "../writers/configuration.ts";
import { settingsText } from "../writers/edits.ts";
import { servedBy } from "./reads.ts";

type Finals = Pick<
  Evidence,
  | "images"
  | "imageRows"
  | "accounts"
  | "webhooks"
  | "revokedKeys"
  | "overrides"
  | "flags"
  | "revisions"
  | "publications"
  | "replays"
>;

const lanes = 8;

/**
 * Reads all data of the round's accounts as their owners see it, and from the databases the counts that owners cannot
 * see.
 */
export async function readFinals(scene: Scene): Promise<Finals> {
  const { system, members } = scene;
  const accounts = members.map(({ account }) => account);
  const rows = async <T>(service: string, statement: string, values: readonly unknown[]) =>
    (await system.query(system.databases.get(service) as string, statement, values)) as unknown as readonly T[];
  const imageRows = await rows<Evidence["imageRows"][number]>(
    "images",
    "select id, account_id as account, title from images where account_id = any ($1)",
    [accounts],
  );
  const webhooks = await rows<Evidence["webhooks"][number]>(
    "webhook-ingest",
    "select source_id as source, delivery_id as delivery, id as received from received_deliveries where source_id = any ($1)",
    [members.map(({ source }) => source.id)],
  );
  const keys = await rows<{ id: string }>(
    "account",
    "select id from api_keys where account_id = any ($1) and revoked_at is not null",
    [accounts],
  );
  const publications = await rows<Evidence["publications"][number]>(
    "webhook-delivery",
    `select account_id as account, event_id as event, count(*)::int as deliveries from deliveries
     where account_id = any ($1) and event_type = $2 group by account_id, event_id, endpoint_id`,
    [accounts, publishedType.name],
  );
  const replays = await rows<FinalReplay>(
    "webhook-delivery",
    "select id, account_id as account, status, total, replayed from replays where account_id = any ($1)",
    [accounts],
  );
  const revisions = await rows<Revision>(
    "config",
    "select revision::text, value #>> '{}' as value from property_revisions where name = $1 order by revision",
    [overriddenProperty],
  );
  return {
    imageRows,
    publications,
    replays,
    revisions,
    images: await readImages(scene, imageRows),
    accounts: Object.fromEntries(await Promise.all(members.map(readAccount))),
    webhooks,
    revokedKeys: keys.map(({ id }) => id),
    overrides: await readOverrides(scene),
    flags: await readFlags(scene),
  };
}

/** Reads every known image and every row by GET, with the digest of its bytes. */
async function readImages({ members, history }: Scene, rows: Evidence["imageRows"]) {
  const uploads = history.entries.filter(({ op, type }) => op === "upload" && type === "ok");
  const ids = [...new Set([...uploads.map(({ value }) => value?.image as string), ...rows.map(({ id }) => id)])];
  const owners = new Map(rows.map(({ id, account }) => [id, account]));
  const images: Record<string, FinalImage> = {};
  const readNext = async (): Promise<void> => {
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
      const owner = members.find(({ account }) => account === owners.get(id as string));
      const image = await readImage(owner ? [owner] : members, id);
      if (image) images[id] = image;
    }
  };
  await Promise.all(Array.from({ length: lanes }, readNext));
  return images;
}

async function readImage(owners: readonly Member[], id: string): Promise<FinalImage | null> {
  for (const { account, http } of owners) {
    const reply = await http(`/images/${id}`);
    if (reply?.status !== 200) continue;
    const original = await http(`/images/${id}/original`);
    const sha256 = original?.status === 200 ? createHash("sha256").update(original.bytes).digest("hex") : null;
    return { account, title: reply.json.title, status: reply.json.status, sha256 };
  }
  return null;
}

async function readAccount({ account, http }: Member) {
  const [mine, settings] = await Promise.all([http("/api/account/"), http("/api/account/settings/")]);
  const settled = settings?.status === 200 ? settingsText(settings.json) : "unreadable";
  return [account, { name: mine?.json?.display_name ?? "unreadable", settings: settled }] as const;
}

/** Reads the database's override, and the value of each instance. */
export async function readOverrides({ system }: Pick<Scene, "system">): Promise<Agreement> {
  const [row] = await system.query(
    system.databases.get("config") as string,
    "select value #>> '{}' as value, revision::text from property_overrides where name = $1",
    [overriddenProperty],
  );
  const serving = system.instances.filter(({ program }) => servedBy(program.service).length > 0);
  const instances = serving.map(async ({ name, program }) => {
    const manage = createHttp(program.managementUrl, system.administratorKey);
    const reply = await manage(`/management/env/${overriddenProperty}`);
    const value = reply?.json?.property?.value;
    return [name, value === undefined ? null : String(value)] as const;
  });
  return {
    database: row ? { value: row.value, revision: row.revision } : null,
    instances: Object.fromEntries(await Promise.all(instances)),
  };
}

/** Reads the database's flag, and its value at each instance that evaluates flags. */
export async function readFlags({ system }: Pick<Scene, "system">): Promise<Agreement> {
  const [row] = await system.query(
    system.databases.get("config") as string,
    "select definition #>> '{variants,0,value}' as value, revision::text from flags where key = $1",
    [ledgerFlag],
  );
  const serving = system.instances.filter(({ program }) => servedBy(program.service).includes("config"));
  const instances = serving.map(async ({ name, program }) => {
    const ask = createHttp(program.url, system.administratorKey);
    const body = { context: { targetingKey: "acc_ledger" } };
    const value = (await ask(`/ofrep/v1/evaluate/flags/${ledgerFlag}`, { body }))?.json?.value;
    return [name, value === undefined ? null : String(value)] as const;
  });
  return {
    database: row ? { value: row.value, revision: row.revision } : null,
    instances: Object.fromEntries(await Promise.all(instances)),
  };
}
