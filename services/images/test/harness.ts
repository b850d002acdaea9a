import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Clock } from "@signalbox/core";
import { publishEvents } from "@signalbox/events";
import { openObjectStore } from "@signalbox/storage";
import {
  createSender,
  createSubgraphClient,
  type EventReader,
  eventLogDatabase,
  internalToken,
  readEvents,
  type Send,
  type SubgraphClient,
  serveService,
  serviceDatabase,
  startAccountStandIn,
  type TestAnswer,
  type TestContext,
  type TestPerson,
  testContext,
  testEventLog,
} from "@signalbox/testing";
import { properties } from "../src/properties.ts";
import { createService } from "../src/service.ts";

type Overrides = NonNullable<Parameters<typeof testContext<typeof properties>>[2]>;

/** The images service on a database, an event log and a blob folder of its own, called over HTTP. */
export interface Harness {
  readonly context: TestContext<typeof properties>;
  readonly url: string;
  readonly blobsFolder: string;
  readonly stagingFolder: string;
  readonly send: Send;
  upload(
    who: TestPerson,
    file: Buffer,
    fields?: Record<string, string | string[]>,
    filename?: string,
  ): Promise<TestAnswer>;
  /** Sends an operation as the gateway does. */
  readonly graphql: SubgraphClient;
  /** Waits for `count` events of an account and returns all so far, in the order of the log. */
  readonly eventsOf: EventReader["eventsOf"];
  /** The same for audit events. */
  readonly auditOf: EventReader["eventsOf"];
  /** Publishes events of other services on the log. */
  publish(...events: Parameters<typeof publishEvents>[1]): Promise<void>;
  /** Lists the keys in the blob store. */
  blobKeys(): Promise<string[]>;
  putBlob(key: string, bytes: Buffer): Promise<void>;
  close(): Promise<void>;
}

export async function startImages(
  overrides: Overrides = {},
  options: { readonly clock?: Clock } = {},
): Promise<Harness> {
  const [database, events, account, folder] = await Promise.all([
    serviceDatabase("images"),
    eventLogDatabase(),
    startAccountStandIn(),
    mkdtemp(join(tmpdir(), "signalbox-images-test-")),
  ]);
  const context = testContext(
    "images",
    properties,
    {
      "database.url": database.url,
      "events.url": events.url,
      "blobs.url": `file:${folder}`,
      "cache.url": "memory:",
      "secrets.keys": `k1:${Buffer.alloc(32, 3).toString("base64")}`,
      "internal.token": internalToken,
      "account.internal-url": account.url,
      "http.strict-responses": true,
      "images.import.allow": "127.0.0.1:*",
      "images.upload.directory": folder,
      ...overrides,
    },
    options,
  );
  const eventLog = await testEventLog(context.configuration.get("events.url"), context);
  const service = await serveService(context, await createService(context));
  const audit = await readEvents(eventLog, { ...context, instance: `${context.instance}-audit` }, [
    "signalbox.audit.v1",
  ]);
  const { eventsOf } = await readEvents(eventLog, context, ["signalbox.image.v1", "signalbox.image-render.v1"]);
  const [url, accessKey, secretKey] = (["blobs.url", "blobs.access-key", "blobs.secret-key"] as const).map((name) =>
    context.configuration.get(name),
  );
  const blobs = await openObjectStore({
    ...context,
    url: url ?? "",
    accessKey: accessKey ?? null,
    secretKey: secretKey ?? null,
  });
  const send = createSender(service.url);

  return {
    context,
    url: service.url,
    blobsFolder: folder,
    stagingFolder: folder,
    send,
    upload(who, file, fields = {}, filename = "photo.jpg") {
      const form = new FormData();
      for (const [name, values] of Object.entries(fields))
        for (const value of [values].flat()) form.append(name, value);
      form.append("file", new Blob([new Uint8Array(file)]), filename);
      return send(who, "POST", "/images", { body: form });
    },
    graphql: createSubgraphClient(service.internalUrl),
    eventsOf,
    auditOf: audit.eventsOf,
    publish: (...drafts) => publishEvents({ ...context, eventLog, service: "account" }, drafts),
    putBlob: async (key, bytes) => void (await blobs.put(key, bytes, { size: bytes.length, contentType: "image/png" })),
    async blobKeys() {
      const keys = [];
      for (const prefix of ["originals/", "renditions/"]) {
        const { objects } = await blobs.list(prefix, { limit: 1000 });
        keys.push(...objects.map(({ key }) => key));
      }
      return keys;
    },
    async close() {
      await service.close();
      await Promise.all([database.close(), events.close(), account.close(), rm(folder, { recursive: true })]);
    },
  };
}

/** The folder of this service's migrations. */
export const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));
