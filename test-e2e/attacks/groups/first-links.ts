import { sql } from "@signalbox/storage";
import { createFormVisitor, createSoftwareAuthenticator, passkeyOptionsOf } from "@signalbox/testing";
import { openAt } from "../../systems/search-databases.ts";
import { type Attack, attack, type Control, control } from "../runner/attack.ts";
import type { IssuingScene, Visitor } from "../scene/issuing-scene.ts";
import { createTurns } from "./group.ts";

/** The last page of a browser, and what there is after it. */
export interface FirstLinkEvidence {
  readonly status: number;
  readonly text: string;
  /** True when the browser is signed in. */
  readonly isSignedIn: boolean;
  /** True when the link still leads to the sign-in. */
  readonly isOpen: boolean;
}

/** Finds a browser that a link has signed in, or a link that was used up without anybody. */
export const givesNobody =
  (linkStays: boolean) =>
  ({ status, text, isSignedIn, isOpen }: FirstLinkEvidence): string | null =>
    isSignedIn || status >= 500 || (linkStays && !isOpen)
      ? `${status}, ${isSignedIn ? "signed in" : "not signed in"}, ${isOpen ? "open" : "ended"}: ${text.slice(-200)}`
      : null;

const expire = sql("", "update first_links set expires_at = now() where used_at is null");

/** A browser with a device that makes passkeys. */
interface Person {
  readonly visitor: Visitor;
  readonly authenticator: ReturnType<typeof createSoftwareAuthenticator>;
}

/** Links of the first administrator that were used, have ended, or were opened by somebody who reads mails. */
export function firstLinkRows(scene: IssuingScene): Attack[] {
  const { system, mailbox } = scene;
  const { baseUrl } = system;
  const { origin } = new URL(baseUrl);
  // A new link ends the one before, so the rows take turns.
  const inTurn = createTurns();
  const person = (): Person => ({
    visitor: createFormVisitor(baseUrl),
    authenticator: createSoftwareAuthenticator(origin),
  });
  const typed = async ({ visitor }: Person, link: string) => {
    const address = `${crypto.randomUUID()}@example.org`;
    const asked = await visitor.submit(await visitor.open(link), { name: "Eve", address }, "address");
    const [, code = ""] = /^ {4}(\d{8})$/m.exec((await mailbox.mailTo(address)).text) ?? [];
    return () => visitor.submit(asked, { code }, "code");
  };
  const byCode = async (one: Person, link: string) => (await typed(one, link))();
  const shown = async ({ visitor, authenticator }: Person, link: string, forgery: object = {}) => {
    const asked = await visitor.open(link);
    return { asked, response: authenticator.create(passkeyOptionsOf(asked), forgery) };
  };
  const sent = ({ visitor }: Person, { asked, response }: Awaited<ReturnType<typeof shown>>) =>
    visitor.submit(asked, { response }, "new-passkey");
  const byPasskey = async (one: Person, link: string, forgery: object = {}) =>
    sent(one, await shown(one, link, forgery));
  const end = async () => {
    const pool = openAt(system.databaseUrl("account"));
    await pool.query(expire);
    await pool.close();
  };

  type Act = (eve: Person, link: string) => Promise<{ readonly status: number; readonly text: string }>;
  const attempt = (act: Act) => () =>
    inTurn(async (): Promise<FirstLinkEvidence> => {
      const [eve, link] = [person(), await system.firstLink()];
      const { status, text } = await act(eve, link);
      const home = await eve.visitor.open(`${baseUrl}/oauth`);
      const again = await createFormVisitor(baseUrl).open(link);
      return { status, text, isSignedIn: home.text.includes("You are signed in"), isOpen: again.status === 200 };
    });
  const honest = (what: string, act: Act): Control =>
    control<FirstLinkEvidence>({
      what,
      attempt: attempt(act),
      judge: ({ isSignedIn, isOpen, status }) =>
        isSignedIn && !isOpen ? null : `${status}, ${isSignedIn ? "open" : "not signed in"}`,
      planted: [
        { status: 200, text: "", isSignedIn: true, isOpen: true },
        { status: 410, text: "", isSignedIn: false, isOpen: false },
      ],
    });
  const code = honest("the first administrator types name, address and code", byCode);
  const passkey = honest("the first administrator makes a passkey", (eve, link) => byPasskey(eve, link));

  const row = (what: string, by: Control, act: Act, linkStays = false): Attack =>
    attack<FirstLinkEvidence>({
      what: `first link: ${what}`,
      must: linkStays ? "sign nobody in, and use nothing up" : "sign nobody in",
      repeat: `npm start -- --link, then ${what}`,
      control: by,
      attempt: attempt(act),
      judge: givesNobody(linkStays),
      planted: [
        { status: 200, text: "", isSignedIn: true, isOpen: !linkStays },
        { status: 500, text: "", isSignedIn: false, isOpen: true },
        ...(linkStays ? [{ status: 200, text: "", isSignedIn: false, isOpen: false }] : []),
      ],
    });

  const scanned =
    (method: string, headers: Record<string, string> = {}) =>
    async (_eve: Person, link: string) => {
      const form = method === "POST" ? { body: new URLSearchParams({ name: "Eve", address: "eve@example.org" }) } : {};
      const seen = await fetch(link, { method, headers, ...form });
      return { status: seen.status, text: await seen.text() };
    };
  const forged: Readonly<Record<string, object>> = {
    "for another origin": { origin: "https://evil.example" },
    "for another relying party": { rpId: "evil.example" },
    "for an origin that begins alike": { origin: `${origin}.evil.example` },
    "for another challenge": { challenge: "AAAA" },
    "that verified nobody": { flags: 0x01 },
    "of another ceremony": { type: "webauthn.get" },
  };
  return [
    row("used before", code, async (eve, link) => {
      await byCode(person(), link);
      return eve.visitor.open(link);
    }),
    row("used before its passkey came", passkey, async (eve, link) => {
      const late = await shown(eve, link);
      await byPasskey(person(), link);
      return sent(eve, late);
    }),
    row("used while the code of another browser was under way", code, async (eve, link) => {
      const late = await typed(eve, link);
      await byPasskey(person(), link);
      return late();
    }),
    row("expired while its form was open, by code", code, async (eve, link) => {
      const late = await typed(eve, link);
      await end();
      return late();
    }),
    row("expired while its form was open, by passkey", passkey, async (eve, link) => {
      const late = await shown(eve, link);
      await end();
      return sent(eve, late);
    }),
    row("replaced by a newer one", code, async (eve, link) => {
      const late = await typed(eve, link);
      await system.firstLink();
      return late();
    }),
    row("opened by a scanner of mail", code, scanned("GET"), true),
    row("asked for its head by a scanner of mail", code, scanned("HEAD"), true),
    row("fetched ahead by a browser", code, scanned("GET", { "sec-purpose": "prefetch" }), true),
    row("posted to by another site", code, scanned("POST", { "sec-fetch-site": "cross-site" }), true),
    ...Object.entries(forged).map(([what, forgery]) =>
      row(`a passkey ${what}`, passkey, (eve, link) => byPasskey(eve, link, forgery), true),
    ),
    row(
      "a passkey that was made for the page of another browser",
      passkey,
      async (eve, link) => {
        const { response } = await shown(person(), link);
        return sent(eve, { asked: await eve.visitor.open(link), response });
      },
      true,
    ),
    row(
      "the form and the passkey of another browser",
      passkey,
      async (eve, link) => sent(eve, await shown(person(), link)),
      true,
    ),
  ];
}
