import { createFormVisitor, createSoftwareAuthenticator, passkeyOptionsOf } from "@signalbox/testing";
import { type Attack, attack, control } from "../runner/attack.ts";
import { applications, type IssuingScene } from "../scene/issuing-scene.ts";
import { createTurns } from "./group.ts";
import { type Arrival, at, givesNothing } from "./oauth-arrivals.ts";

/** Departures of a use of a passkey from what a browser and a device do. The counter stands higher than 1. */
const forgeries: Readonly<Record<string, object>> = {
  "for another origin": { origin: "https://evil.example" },
  "for an origin that begins alike": { origin: "http://localhost.evil.example" },
  "for another relying party": { rpId: "evil.example" },
  "for another port of the host": { origin: "http://localhost:1" },
  "for another challenge": { challenge: "AAAA" },
  "that verified nobody": { flags: 0x01 },
  "without a person": { flags: 0x04 },
  "of another ceremony": { type: "webauthn.create" },
  "signed with another key": { otherKey: true },
  "for another account": { userHandle: Buffer.from("acc_another").toString("base64url") },
  "whose counter went back": { counter: 1 },
  "whose counter is gone": { counter: 0 },
};

/** Sign-ins by passkeys of other origins and relying parties, copies of one, and uses that were seen before. */
export async function passkeyRows(scene: IssuingScene): Promise<Attack[]> {
  const { baseUrl } = scene.system;
  const { visitor } = await scene.signIn();
  const authenticator = createSoftwareAuthenticator(new URL(baseUrl).origin);
  const enrol = await visitor.open(`${baseUrl}/oauth/passkeys`);
  await visitor.submit(enrol, { name: "Device", response: authenticator.create(passkeyOptionsOf(enrol)) });
  // A use that is overtaken by a later one looks like a copy, so the rows take turns.
  const inTurn = createTurns();

  const signInPage = async () => {
    const browser = createFormVisitor(baseUrl);
    return { browser, shown: await browser.open(scene.authorization().url) };
  };
  type SignInPage = Awaited<ReturnType<typeof signInPage>>;
  const post = async ({ browser, shown }: SignInPage, response: string): Promise<Arrival> => {
    const seen = await browser.submit(shown, { response }, "passkey");
    return { status: seen.status, url: seen.url.href, text: seen.text };
  };
  const used = (page: SignInPage, forgery: object = {}) => authenticator.use(passkeyOptionsOf(page.shown), forgery);
  const attempt = (act: (page: SignInPage) => Promise<Arrival>) => () => inTurn(async () => act(await signInPage()));

  const honest = control<Arrival>({
    what: "a passkey for its own page, in its turn",
    attempt: attempt((page) => post(page, used(page))),
    judge: ({ url }) => (url.startsWith(applications.console.redirect_uris[0]) && url.includes("code=") ? null : url),
    planted: [at(`${baseUrl}/oauth/x`), at("https://evil.example/?code=x")],
  });
  const row = (what: string, act: (page: SignInPage) => Promise<Arrival>): Attack =>
    attack<Arrival>({
      what: `a passkey ${what}`,
      must: "sign nobody in",
      repeat: `sign in at ${baseUrl}/oauth with a passkey ${what}`,
      control: honest,
      attempt: attempt(act),
      judge: givesNothing([baseUrl]),
      planted: [
        at(`${applications.console.redirect_uris[0]}?code=x`),
        at("https://evil.example/"),
        at(`${baseUrl}/x`, "", 500),
      ],
    });
  return [
    ...Object.entries(forgeries).map(([what, forgery]) => row(what, (page) => post(page, used(page, forgery)))),
    row("whose use on another page was seen", async (page) => {
      const victim = await signInPage();
      return post(page, used(victim));
    }),
    row("whose use is sent again", async (page) => {
      const response = used(page);
      await post(page, response);
      return post(page, response);
    }),
    row("whose use is sent by a browser without the sign-in's cookie", async (page) =>
      post({ browser: createFormVisitor(baseUrl), shown: page.shown }, used(page)),
    ),
    row("that nobody has added", async (page) =>
      post(page, createSoftwareAuthenticator(new URL(baseUrl).origin).use(passkeyOptionsOf(page.shown))),
    ),
  ];
}
