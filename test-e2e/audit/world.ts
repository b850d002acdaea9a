import assert from "node:assert/strict";
import {
  createMailbox,
  createOidcIssuer,
  createReceiver,
  eventually,
  type Mailbox,
  readFixture,
  serveListener,
} from "@signalbox/testing";
import { type Answer, type ClientRequest, createClient, expectStatus } from "../journey/client.ts";
import { discoverApplication, openidProperties, signInAsNewcomer } from "../journey/use-openid-client.ts";
import { openStuckMessages, type StuckMessages } from "../operations/stuck-messages.ts";
import type { System } from "../systems/system.ts";
import { trusting } from "../systems/trusted-people.ts";

export type Headers = Readonly<Record<string, string>>;

/** A person who has just signed in, with their own account. */
export interface Person {
  readonly id: string;
  readonly headers: Headers;
  /** Verified contact address. */
  readonly address: string;
}

/** The world that the writes of the walk need. */
export interface World {
  /** Sends a request. */
  tryTo(headers: Headers, path: string, request?: ClientRequest): Promise<Answer>;
  /** Sends a request and expects it to succeed. */
  send(headers: Headers, path: string, request?: ClientRequest): Promise<Answer>;
  /** Creates a person; with the built-in issuer returns the administrator. */
  person(): Promise<Person>;
  /** Creates a person who has signed in with a browser at the built-in issuer. */
  signIn(): Promise<Headers>;
  /** Creates a person who accepts the invitation of a link, and has signed in like that. */
  join(invitation: string): Promise<Headers>;
  readonly administrator: Headers;
  /** Headers of another administrator, of the trusted issuer. */
  secondAdministrator(): Headers;
  /** Signs a valid token of an unused login. */
  freshToken(): string;
  /** Waits for `count` mails to the address, and returns the code and the link path of the newest. */
  mailTo(address: string, count?: number): Promise<{ readonly code: string; readonly link: string }>;
  readonly photo: Buffer;
  /** Address of the photo for imports. */
  readonly photoUrl: string;
  /** A receiver that answers webhooks with 410. */
  readonly goneUrl: string;
  /** Opens the maker of messages that need an operator. */
  stuck(): Promise<StuckMessages>;
}

/** What a world is made of besides its system. */
type Around = Pick<
  World,
  "person" | "signIn" | "join" | "secondAdministrator" | "freshToken" | "photo" | "photoUrl" | "goneUrl"
> & {
  readonly mailbox: Mailbox;
};

/** The client that the recipes of writes need. What it opens ends with the stack. */
export function worldOf(opened: AsyncDisposableStack, system: System, { mailbox, ...around }: Around): World {
  const { tryTo, send } = clientOf(system);
  let stuck: Promise<StuckMessages> | undefined;
  return {
    ...around,
    tryTo,
    send,
    administrator: { "x-api-key": system.apiKey },
    async mailTo(address, count = 1) {
      const { text } = await eventually(() => mailbox.mailTo(address, count));
      const [, code = ""] = /^ {4}(\d{8})$/m.exec(text) ?? [];
      const [link = ""] = /https?:\/\/\S+\/contact-links\/\S+/.exec(text) ?? [];
      return { code, link: link && new URL(link).pathname };
    },
    stuck: () =>
      (stuck ??= openStuckMessages(system).then((one) => {
        opened.defer(() => one.close());
        return one;
      })),
  };
}

function clientOf({ baseUrl }: System): Pick<World, "tryTo" | "send"> {
  const client = createClient(baseUrl);
  const tryTo: World["tryTo"] = (headers, path, request = {}) =>
    client(path, { ...request, headers: { ...request.headers, ...headers } });
  return {
    tryTo,
    async send(headers, path, request) {
      const answer = await tryTo(headers, path, request);
      assert.ok(answer.status < 300, `${path}: ${answer.status} ${answer.bytes}`);
      assert.equal(answer.json?.errors, undefined, `${path}: ${answer.bytes}`);
      return answer;
    },
  };
}

/** Opens the servers that a system needs, starts it, and returns the world. */
export async function openWorld(
  opened: AsyncDisposableStack,
  start: (properties: Readonly<Record<string, string>>) => Promise<System>,
  { hasOwnIssuer = false }: { readonly hasOwnIssuer?: boolean } = {},
): Promise<World> {
  const [issuer, mailbox, photo, receiver] = await Promise.all([
    createOidcIssuer(),
    createMailbox(),
    readFixture("photo.jpg"),
    createReceiver(),
  ]);
  const source = await serveListener((_request, response) => void response.end(photo));
  for (const one of [issuer, mailbox, receiver, source]) opened.defer(() => one.close());
  receiver.answer({ status: 410 });
  const system = await start({
    ...(hasOwnIssuer ? openidProperties(mailbox) : { ...trusting(issuer), "mail.url": mailbox.url }),
    "images.import.allow": "127.0.0.1:*",
    "webhook-delivery.outbound.allow": "127.0.0.1:*",
    "webhook-ingest.outbound.allow": "127.0.0.1:*",
  });
  const { send } = clientOf(system);
  const tokenOf = (claims: object) => {
    const { sub = crypto.randomUUID() } = claims as { sub?: string };
    const auth_time = Math.floor(Date.now() / 1000);
    return issuer.sign({ sub, jti: crypto.randomUUID(), auth_time, ...claims }, { expiresInSeconds: 900 });
  };

  const signIn = async (invitation?: string) => {
    const scope = "openid account:read account:write account:security";
    const tokens = await signInAsNewcomer(system, await discoverApplication(system), mailbox, scope, invitation);
    return { authorization: `Bearer ${tokens.access_token}` };
  };

  return worldOf(opened, system, {
    mailbox,
    secondAdministrator: () => ({ authorization: `Bearer ${tokenOf({ roles: ["admin"] })}` }),
    freshToken: () => tokenOf({}),
    async person() {
      const address = `${crypto.randomUUID()}@example.org`;
      if (hasOwnIssuer) {
        const headers = { "x-api-key": system.apiKey };
        return { id: (await send(headers, "/api/account/")).json.id, headers, address };
      }
      const headers = { authorization: `Bearer ${tokenOf({ email: address, email_verified: true })}` };
      const { id } = expectStatus(await send(headers, "/api/account/"), 200).json;
      return { id, headers, address };
    },
    signIn: () => signIn(),
    join: (invitation) => signIn(invitation),
    photo,
    photoUrl: `${source.url}/photo.jpg`,
    goneUrl: receiver.url,
  });
}
