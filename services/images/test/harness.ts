import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { answerFromPrincipal, internalTokenHeader, type Principal } from "@signalbox/auth";
import { type EventName, type Scope, scopes, topics } from "@signalbox/contracts";
import { randomId } from "@signalbox/core";
import {
  decodeEvent,
  type EventLog,
  eventNameOf,
  openEventLog,
  publishEvents,
  type ReceivedEvent,
} from "@signalbox/events";
import { encodePrincipal, principalHeader } from "@signalbox/graphql";
import { openObjectStore } from "@signalbox/storage";
import { eventually, type TestContext, testContext, testDatabase } from "@signalbox/testing";
import { properties } from "../src/properties.ts";
import { createService } from "../src/service.ts";

type Overrides = NonNullable<Parameters<typeof testContext<typeof properties>>[2]>;

const internalToken = "internal-token-of-the-images-tests-01";

interface SendOptions {
  readonly headers?: Record<string, string>;
  readonly json?: unknown;
  readonly body?: RequestInit["body"];
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: each test asserts the members it reads.
  readonly body: any;
}

/** Someone with an account of their own. The token says who they are, to the stand-in for the account service. */
export interface Person {
  readonly accountId: string;
  readonly authorization: string;
}

/** The images service on a database, an event log and a blob folder of its own, spoken to over HTTP. */
export interface Harness {
  readonly context: TestContext<typeof properties>;
  readonly url: string;
  readonly blobsFolder: string;
  readonly stagingFolder: string;
  readonly eventLog: EventLog;
  person(granted?: readonly Scope[]): Person;
  send(who: Person | null, method: string, path: string, options?: SendOptions): Promise<Answer>;
  upload(who: Person, file: Buffer, fields?: Record<string, string | string[]>, filename?: string): Promise<Answer>;
  graphql(who: Person, query: string, variables?: object): Promise<Answer["body"]>;
  /** The events of an account so far, in the order of the log, once `count` of them are there. */
  eventsOf(accountId: string, count: number): Promise<ReceivedEvent<EventName>[]>;
  /** Says something on the log that another service would say. */
  publish(...events: Parameters<typeof publishEvents>[1]): Promise<void>;
  /** What is in the blob store. */
  blobKeys(): Promise<string[]>;
  close(): Promise<void>;
}

export async function startImages(overrides: Overrides = {}): Promise<Harness> {
  const [database, events, folder] = await Promise.all([
    testDatabase(),
    testDatabase(),
    mkdtemp(join(tmpdir(), "signalbox-images-test-")),
  ]);
  const account = await listen(answerPrincipals);
  const context = testContext("images", properties, {
    "database.url": database.url,
    "events.url": events.url,
    "blobs.url": `file:${folder}`,
    "cache.url": "memory:",
    "internal.token": internalToken,
    "account.internal-url": account.url,
    "http.strict-responses": true,
    "images.import.allow": "127.0.0.1:*",
    "images.upload.directory": folder,
    ...overrides,
  });
  const eventLog = await openEventLog(context.configuration.get("events.url"), {
    ...context,
    clientId: "images-tests",
  });
  await eventLog.ensureTopics(topics);
  const parts = await createService(context);
  const [open, internal] = [await listen(parts.public), await listen(parts.internal)];
  const received = await readEverything(eventLog, context.instance);
  await eventually(async () => (await context.health.report()).startup.status === "up");
  const [url, accessKey, secretKey] = (["blobs.url", "blobs.access-key", "blobs.secret-key"] as const).map((name) =>
    context.configuration.get(name),
  );
  const blobs = await openObjectStore({
    ...context,
    url: url ?? "",
    accessKey: accessKey ?? null,
    secretKey: secretKey ?? null,
  });

  const sendTo = async (who: Person | null, method: string, path: string, options: SendOptions = {}) => {
    const { headers = {}, json, body } = options;
    const response = await fetch(open.url + path, {
      method,
      headers: {
        ...(who && { authorization: who.authorization }),
        ...(json !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(json !== undefined && { body: JSON.stringify(json) }),
      ...(body !== undefined && { body, duplex: "half" }),
    } as RequestInit);
    return answerOf(response);
  };

  return {
    context,
    url: open.url,
    blobsFolder: folder,
    stagingFolder: folder,
    eventLog,
    person(granted = scopes) {
      const accountId = randomId("acc");
      const authorization = `Bearer ${Buffer.from(JSON.stringify({ accountId, granted })).toString("base64url")}`;
      return { accountId, authorization };
    },
    send: sendTo,
    upload(who, file, fields = {}, filename = "photo.jpg") {
      const form = new FormData();
      for (const [name, values] of Object.entries(fields))
        for (const value of [values].flat()) form.append(name, value);
      form.append("file", new Blob([new Uint8Array(file)]), filename);
      return sendTo(who, "POST", "/images", { body: form });
    },
    async graphql({ accountId }, query, variables = {}) {
      const response = await fetch(`${internal.url}/graphql`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          [internalTokenHeader]: internalToken,
          [principalHeader]: encodePrincipal(principalOf(accountId, scopes)),
        },
        body: JSON.stringify({ query, variables }),
      });
      return response.json();
    },
    eventsOf: (accountId, count) =>
      eventually(() => {
        const own = received.filter((event) => event.accountId === accountId);
        return own.length >= count && own;
      }),
    publish: (...drafts) => publishEvents({ ...context, eventLog, service: "account" }, drafts),
    async blobKeys() {
      const keys = [];
      for (const prefix of ["originals/", "renditions/"]) {
        const { objects } = await blobs.list(prefix, { limit: 1000 });
        keys.push(...objects.map(({ key }) => key));
      }
      return keys;
    },
    async close() {
      await Promise.all([open.close(), internal.close()]);
      await context.close();
      await Promise.all([database.close(), events.close(), account.close(), rm(folder, { recursive: true })]);
    },
  };
}

/** The folder of this service's migrations. */
export const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));

function principalOf(accountId: string, granted: readonly Scope[]): Principal {
  const credential = { kind: "token", id: `sub:${accountId}`, authTimeMs: null } as const;
  return { accountId, state: "active", epoch: 0, scopes: new Set(granted), roles: [], credential, expiresAt: null };
}

/** Stands in for the account service, in its own protocol: the token itself says whose it is. */
const answerPrincipals: RequestListener = (request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const { value } = JSON.parse(Buffer.concat(chunks).toString()) as { value: string };
    response.setHeader("content-type", "application/json");
    try {
      const { accountId, granted } = JSON.parse(Buffer.from(value, "base64url").toString());
      response.end(JSON.stringify(answerFromPrincipal(principalOf(accountId, granted))));
    } catch {
      response.writeHead(422).end(JSON.stringify({ error: { message: "unknown" } }));
    }
  });
};

async function readEverything(log: EventLog, instance: string): Promise<ReceivedEvent<EventName>[]> {
  const received: ReceivedEvent<EventName>[] = [];
  await log.broadcast({
    service: "images-tests",
    instance,
    topics: ["signalbox.image.v1", "signalbox.image-render.v1"],
    from: "start",
    onRecord: (record) => {
      const name = eventNameOf(record.headers);
      if (name) received.push(decodeEvent(name, record));
    },
  });
  return received;
}

async function answerOf(response: Response): Promise<Answer> {
  const bytes = Buffer.from(await response.arrayBuffer());
  const isJson = response.headers.get("content-type")?.includes("json") && bytes.length > 0;
  return {
    status: response.status,
    headers: response.headers,
    bytes,
    body: isJson ? JSON.parse(bytes.toString()) : null,
  };
}

export async function listen(listener: RequestListener | undefined) {
  if (!listener) throw new Error("the service has no such listener");
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
