import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { credentialFrom, type Principal, principalFromAnswer, principalsPath } from "@signalbox/auth";
import type { EventName } from "@signalbox/contracts";
import { topics } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import { decodeEvent, type EventLog, eventNameOf, openEventLog, type ReceivedEvent } from "@signalbox/events";
import { clientAddressHeader, encodePrincipal, principalHeader } from "@signalbox/graphql";
import {
  createMailbox,
  createOidcIssuer,
  eventLogDatabase,
  eventually,
  type Mailbox,
  type OidcIssuer,
  serviceDatabase,
  type TestContext,
  testContext,
} from "@signalbox/testing";
import { createFirstKey } from "../src/first-key.ts";
import { properties } from "../src/properties.ts";
import { createService } from "../src/service.ts";

interface Options {
  /** Moves by hand; by default the system's. */
  readonly clock?: Clock;
}

type Overrides = NonNullable<Parameters<typeof testContext<typeof properties>>[2]>;

/** Where GraphQL operations come from, as the gateway tells. */
export const addressBehindGateway = "203.0.113.9";
const internalToken = "internal-token-of-the-account-tests-01";

/** The account service on a database and an event log of its own, spoken to over HTTP. */
export interface Harness {
  readonly context: TestContext<typeof properties>;
  readonly issuer: OidcIssuer;
  /** Gets every mail that the service sends. */
  readonly mailbox: Mailbox;
  /** Where the public listener is. */
  readonly url: string;
  /** Sends a request to the public listener. A body that is no text is sent as JSON. */
  send(method: string, path: string, options?: SendOptions): Promise<Answer>;
  /** Sends a request to the internal listener, with the internal token. */
  sendInternal(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Sends an operation as the gateway does: with the principal it has verified. Null for an anonymous caller. */
  query(headers: Record<string, string> | null, text: string, variables?: object): Promise<Answer["body"]>;
  /** Headers of a person who signed in just now, with an account of their own. */
  person(claims?: Record<string, unknown>): { authorization: string };
  firstKey(): Promise<string>;
  /** Who the account service says it is, as the gateway would send it along. */
  principalOf(headers: Record<string, string>): Promise<Principal>;
  /** How another service asks who is calling. */
  readonly principals: { readonly url: string; readonly token: string };
  /** The events of an account so far, in the order of the log, once `count` of them are there. */
  eventsOf(accountId: string, count: number): Promise<ReceivedEvent<EventName>[]>;
  close(): Promise<void>;
}

interface SendOptions {
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: each test asserts the members it reads.
  readonly body: any;
}

export async function startAccount(overrides: Overrides = {}, options: Options = {}): Promise<Harness> {
  const [database, events, issuer] = await Promise.all([
    serviceDatabase("account"),
    eventLogDatabase(),
    createOidcIssuer(),
  ]);
  const mailbox = await createMailbox();
  const given = {
    "database.url": database.url,
    "events.url": events.url,
    "internal.token": internalToken,
    "mail.url": mailbox.url,
    "secrets.keys": `test:${Buffer.alloc(32, 7).toString("base64")}`,
    "auth.issuers": JSON.stringify([
      { name: "corp", issuer: issuer.issuer, audience: issuer.audience, "roles-claim": "roles" },
    ]),
    "http.strict-responses": true,
    ...overrides,
  };
  const context = testContext("account", properties, given, options);
  const log = await openEventLog(context.configuration.get("events.url"), { ...context, clientId: "account-tests" });
  await log.ensureTopics(topics);
  const parts = await createService(context);
  const [open, internal] = [await listen(parts.public), await listen(parts.internal)];
  const received = await readEverything(log, context.instance);
  await eventually(async () => (await context.health.report()).startup.status === "up");

  const sendInternal: Harness["sendInternal"] = (path, body, headers = {}) =>
    send(internal.url, "POST", path, { body, headers: { "x-signalbox-internal-token": internalToken, ...headers } });

  return {
    context,
    issuer,
    mailbox,
    url: open.url,
    send: (method, path, options) => send(open.url, method, path, options),
    sendInternal,
    async query(headers, text, variables = {}) {
      const forwarded = headers ? { [principalHeader]: encodePrincipal(await principalOf(headers, sendInternal)) } : {};
      const from = { [clientAddressHeader]: addressBehindGateway };
      return (await sendInternal("/graphql", { query: text, variables }, { ...forwarded, ...from })).body;
    },
    person: (claims = {}) => {
      const now = Math.floor(context.clock.nowMs() / 1000);
      const times = { auth_time: now, iat: now, exp: now + 7200 };
      return { authorization: `Bearer ${issuer.sign({ sub: crypto.randomUUID(), ...times, ...claims })}` };
    },
    principalOf: (headers) => principalOf(headers, sendInternal),
    firstKey: () => createFirstKey(context),
    principals: { url: internal.url, token: internalToken },
    eventsOf: (accountId, count) =>
      eventually(() => {
        const own = received.filter((event) => event.accountId === accountId);
        return own.length >= count && own;
      }),
    async close() {
      await Promise.all([open.close(), internal.close()]);
      await context.close();
      await Promise.all([database.close(), events.close(), issuer.close(), mailbox.close()]);
    },
  };
}

/** Who the account service says it is. */
async function principalOf(headers: Record<string, string>, sendInternal: Harness["sendInternal"]): Promise<Principal> {
  const credential = credentialFrom(headers);
  if (!credential) throw new Error("these headers carry no credential");
  return principalFromAnswer((await sendInternal(principalsPath, credential)).body);
}

/** What every test may look at: all records of the log, as any consumer would read them. */
async function readEverything(log: EventLog, instance: string): Promise<ReceivedEvent<EventName>[]> {
  const received: ReceivedEvent<EventName>[] = [];
  await log.broadcast({
    service: "account-tests",
    instance,
    topics: ["signalbox.account.v1", "signalbox.access.v1"],
    from: "start",
    onRecord: (record) => {
      const name = record.value && eventNameOf(record.headers);
      if (name) received.push(decodeEvent(name, record));
    },
  });
  return received;
}

async function send(url: string, method: string, path: string, { headers = {}, body }: SendOptions = {}) {
  const response = await fetch(url + path, {
    method,
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  const read = isJson ? JSON.parse(text) : text;
  return { status: response.status, headers: response.headers, body: text === "" ? null : read };
}

async function listen(listener: RequestListener | undefined) {
  if (!listener) throw new Error("the service has no such listener");
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
