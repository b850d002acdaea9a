import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { credentialFrom, type Principal, principalProtocol } from "@signalbox/auth";
import { type EventName, topics } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import { decodeEvent, type EventLog, eventNameOf, openEventLog, type ReceivedEvent } from "@signalbox/events";
import { clientAddressHeader, encodePrincipal, principalHeader } from "@signalbox/http";
import type { ServiceParts } from "@signalbox/runtime";
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
  /** Moved by hand; the system's by default. */
  readonly clock?: Clock;
  /** Further members of the issuer's entry in `auth.issuers`. */
  readonly issuer?: object;
}

type Overrides = NonNullable<Parameters<typeof testContext<typeof properties>>[2]>;

/** Client address of GraphQL operations, as the gateway forwards it. */
export const addressBehindGateway = "203.0.113.9";
const internalToken = "internal-token-of-the-account-tests-01";

/** The account service on its own database and event log, driven over HTTP. */
export interface Harness {
  readonly context: TestContext<typeof properties>;
  readonly issuer: OidcIssuer;
  /** Receives every mail of the service. */
  readonly mailbox: Mailbox;
  /** Address of the public listener. */
  readonly url: string;
  /** Decides about a reader of the management `env`. */
  readonly authorizeManagement: NonNullable<ServiceParts["authorizeManagement"]>;
  /** Sends a request to the public listener. A body other than a string is sent as JSON. */
  send(method: string, path: string, options?: SendOptions): Promise<Answer>;
  /** Sends a request to the internal listener, with the internal token. */
  sendInternal(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Sends an operation as the gateway does, with the verified principal; null for an anonymous caller. */
  query(headers: Record<string, string> | null, text: string, variables?: object): Promise<Answer["body"]>;
  /** Headers of a person who has just signed in, with their own account. */
  person(claims?: Record<string, unknown>): { authorization: string };
  firstKey(): Promise<string>;
  /** The principal of these headers, as the gateway would forward it. */
  principalOf(headers: Record<string, string>): Promise<Principal>;
  /** The address and token by which another service looks up principals. */
  readonly principals: { readonly url: string; readonly token: string };
  /** The events of an account, those with these names if any are given, in log order, once there are `count` of them. */
  eventsOf(accountId: string | null, count: number, ...names: EventName[]): Promise<ReceivedEvent<EventName>[]>;
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
    createOidcIssuer({ algorithm: "ES256" }),
  ]);
  const mailbox = await createMailbox();
  const given = {
    "database.url": database.url,
    "events.url": events.url,
    "internal.token": internalToken,
    "mail.url": mailbox.url,
    "secrets.keys": `test:${Buffer.alloc(32, 7).toString("base64")}`,
    "auth.issuers": JSON.stringify([
      { name: "corp", issuer: issuer.issuer, audience: issuer.audience, "roles-claim": "roles", ...options.issuer },
    ]),
    "account.issuer.enabled": false,
    "http.strict-responses": true,
    // Tests change one account thirty times at once: on a busy machine the last would be told to try again.
    "database.lock-timeout": 30_000,
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
    authorizeManagement: (...reader) =>
      parts.authorizeManagement?.(...reader) ?? Promise.reject(new Error("no reader")),
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
    eventsOf: (accountId, count, ...names) =>
      eventually(() => {
        const own = received.filter(
          (event) => event.accountId === accountId && (names.length === 0 || names.includes(event.name)),
        );
        return own.length >= count && own;
      }),
    async close() {
      await Promise.all([open.close(), internal.close()]);
      await context.close();
      await Promise.all([database.close(), events.close(), issuer.close(), mailbox.close()]);
    },
  };
}

/** The principal of these headers according to the account service. */
async function principalOf(headers: Record<string, string>, sendInternal: Harness["sendInternal"]): Promise<Principal> {
  const credential = credentialFrom(headers);
  if (!credential) throw new Error("these headers carry no credential");
  const { status, body } = await sendInternal(principalProtocol.principalsPath, credential);
  if (status !== 200) throw new Error(`the principal of these headers was answered ${status}: ${JSON.stringify(body)}`);
  return principalProtocol.principalFromAnswer(body);
}

/** Reads all records of the log, as any consumer would. */
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
