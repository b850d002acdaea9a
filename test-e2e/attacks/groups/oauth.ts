import { createFormVisitor } from "@signalbox/testing";
import type { Answer } from "../../journey/client.ts";
import { type Attack, attack, type Control, control, type Finding } from "../runner/attack.ts";
import { plantedAnswer, shown } from "../runner/http-attack.ts";
import {
  type Application,
  applications,
  exchange,
  type IssuingScene,
  newCode,
  type SignedIn,
} from "../scene/issuing-scene.ts";
import type { Group } from "./group.ts";

/** The built-in issuer from the view of an application and of a stranger. */
export const oauth: Group = {
  name: "oauth",
  atOnce: 4,
  async rows(scenes) {
    const scene = await scenes.issuing();
    const person = await scene.signIn();
    return [
      ...authorizationRows(scene, person),
      ...codeRows(scene, person),
      ...refreshRows(scene),
      ...providerRows(scene, person),
    ];
  },
};

/** The page at which a browser has arrived. */
interface Arrival {
  readonly status: number;
  readonly url: string;
  readonly text: string;
}

const at = (url: string, text = "", status = 302): Arrival => ({ status, url, text });

/** Any script but the one of passkeys. */
const foreignScript = /<script(?! src="[^"]+\/passkeys\.js" defer>)/;

/** Finds a code or a token, and every address but `homes`. */
const givesNothing =
  (homes: readonly string[]) =>
  ({ status, url, text }: Arrival): Finding => {
    const isGiven = /[?#&](code|access_token|id_token)=/.test(url) || /[?#&"](code|access_token|id_token)=/.test(text);
    const isElsewhere = !homes.some((home) => url.startsWith(home));
    return isGiven || isElsewhere || status >= 500 || foreignScript.test(text)
      ? `${status} at ${url}: ${text.slice(0, 200)}`
      : null;
  };

/** Authorization requests, in a signed-in browser, that differ from the application's. */
function authorizationRows(scene: IssuingScene, { visitor }: SignedIn): Attack[] {
  const { baseUrl } = scene.system;
  const visit = async (url: URL): Promise<Arrival> => {
    const seen = await visitor.open(url);
    return { status: seen.status, url: seen.url.href, text: seen.text };
  };
  return [applications.console, applications.cli].flatMap((application: Application) => {
    const [registered] = application.redirect_uris;
    const honest = control<Arrival>({
      what: `the request of ${application.name}`,
      attempt: async () => visit(scene.authorization(application).url),
      judge: ({ url }) => (url.startsWith(registered) && url.includes("code=") ? null : url),
      planted: [at(`${baseUrl}/oauth/x`), at("https://evil.example/?code=x")],
    });
    const row = (what: string, more: Readonly<Record<string, string>>, homes: readonly string[]): Attack => {
      const { url } = scene.authorization(application, more);
      return attack<Arrival>({
        what: `${application.name}: ${what}`,
        must: "lead to no code, and to nobody else",
        repeat: `open ${url.href} in a browser that is signed in`,
        control: honest,
        attempt: () => visit(url),
        judge: givesNothing(homes),
        planted: [
          at(`${registered}?code=x`),
          at("https://evil.example/"),
          at(`${baseUrl}/x`, "<script>"),
          at(`${baseUrl}/x`, "", 500),
        ],
      });
    };
    return [
      ...Object.entries(redirectMutations).map(([what, mutate]) =>
        row(`a redirect ${what}`, { redirect_uri: mutate(registered) }, [baseUrl]),
      ),
      // Errors may go to the application itself.
      ...Object.entries(authorizationMutations).map(([what, more]) => row(what, more, [baseUrl, registered])),
    ];
  });
}

/** Redirect URIs that differ from the registered one. */
const redirectMutations: Readonly<Record<string, (registered: string) => string>> = {
  "of a stranger with the path": (uri) => `https://evil.example${new URL(uri).pathname}`,
  "with a slash more": (uri) => `${uri}/`,
  "with a part of the path": (uri) => uri.slice(0, -1),
  "with a query": (uri) => `${uri}?next=https://evil.example`,
  "with a fragment": (uri) => `${uri}#evil`,
  "with coded dots in the path": (uri) => `${uri}/%2e%2e/evil`,
  "with a coded letter": (uri) => uri.replace("back", "%62ack"),
  "with a capital letter in the path": (uri) => uri.replace("back", "Back"),
  "with a user": (uri) => uri.replace("//", "//evil.example@"),
  "with its host as the beginning of another": (uri) => uri.replace("/back", ".evil.example/back"),
  "with its host as the end of another": (uri) => uri.replace("://", "://evil"),
  "with a backslash": (uri) => uri.replace("/back", "\\@evil.example/back"),
  "with another scheme": (uri) => uri.replace(/^https?/, "ftp"),
  "with script": () => "javascript:alert(1)//https://console.example/back",
  "of the issuer itself": () => "/oauth/authorize",
  "without a scheme": (uri) => uri.replace(/^https?:/, ""),
  "with a line break behind it": (uri) => `${uri}\r\nlocation: https://evil.example`,
  "with U+0000": (uri) => `${uri}\0.evil.example`,
  "that is two": (uri) => `${uri} https://evil.example/`,
  "of another application": (uri) =>
    uri.includes("console") ? "https://other.example/back" : "https://console.example/back",
  "of a name for this machine": () => "http://localhost/back",
};

/** Authorization parameters that must not lead to a code, with the change. */
const authorizationMutations: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "no challenge": { code_challenge: "", code_challenge_method: "" },
  "a challenge of no method": { code_challenge_method: "" },
  "a short challenge": { code_challenge: "abc" },
  "the response type token": { response_type: "token" },
  "the response type code id_token": { response_type: "code id_token" },
  "the response mode fragment": { response_mode: "fragment.jwt" },
  "the response mode web_message": { response_mode: "web_message" },
  "a request object elsewhere": { request_uri: "http://127.0.0.1:9/request.jwt" },
  "a registration": { registration: '{"redirect_uris":["https://evil.example/"]}' },
  "no application": { client_id: "" },
  "an audience of a stranger": { resource: "https://evil.example/" },
  "a hint that is no token": { id_token_hint: "a.b.c" },
  "an unknown prompt": { prompt: "evil" },
};

const isTokens = (answer: Answer): Finding =>
  answer.status === 200 && typeof answer.json.access_token === "string" ? null : shown(answer);
const noTokens = [plantedAnswer(400, { error: "invalid_grant" }), plantedAnswer(200)];

/** A row at the token endpoint. */
const tokenRow = (what: string, by: Control, attempt: () => Promise<Answer>): Attack =>
  attack<Answer>({
    what,
    must: "give no token",
    repeat: `POST /oauth/token: ${what}`,
    control: by,
    attempt,
    judge: (answer) => {
      const { status, json } = answer;
      const isRefused = status >= 400 && status < 500 && typeof json?.error === "string";
      return isRefused && json.access_token === undefined ? null : shown(answer);
    },
    planted: [plantedAnswer(200, { access_token: "x" }), plantedAnswer(500), plantedAnswer(400)],
  });

type Form = Record<string, string>;

/** Codes in other hands, or twice. Each row has its own code. */
function codeRows(scene: IssuingScene, { visitor }: SignedIn): Attack[] {
  const { post, authorization } = scene;
  const own = applications.console;
  const given = async (by = visitor, more: Readonly<Form> = {}): Promise<Form> => {
    const asked = authorization(own, more);
    return { ...exchange(own, asked.verifier), code: await newCode(by, asked) };
  };
  const honest = control<Answer>({
    what: "a code with its verifier",
    attempt: async () => post("token", await given()),
    judge: isTokens,
    planted: noTokens,
  });
  const changes: Readonly<Record<string, Form>> = {
    "with an empty verifier": { code_verifier: "" },
    "with another verifier": { code_verifier: "a".repeat(43) },
    "by another application": { client_id: "other" },
    "by another application with its redirect": { client_id: "other", redirect_uri: "https://other.example/back" },
    "by nobody": { client_id: "" },
    "with another redirect": { redirect_uri: "https://evil.example/" },
    "for another audience": { resource: "https://evil.example/" },
    "that was made up": { code: "A".repeat(43) },
  };
  return [
    ...Object.entries(changes).map(([what, change]) =>
      tokenRow(`a code ${what}`, honest, async () => post("token", { ...(await given()), ...change })),
    ),
    tokenRow("a code for account:admin of an owner", honest, async () =>
      post("token", await given(visitor, { scope: "account:admin" })),
    ),
    // A second use ends everything from the person's sign-in, so this row has its own person.
    tokenRow("a code used ten times at once", honest, async () => {
      const form = await given((await scene.signIn()).visitor);
      const answers = await Promise.all(Array.from({ length: 10 }, () => post("token", form)));
      const good = answers.filter(({ status }) => status === 200);
      return good.length > 1 ? (good[0] as Answer) : post("token", form);
    }),
  ];
}

/** Refresh tokens in other hands, or for more. */
function refreshRows({ post, signIn }: IssuingScene): Attack[] {
  let owner: Promise<SignedIn> | null = null;
  const given = async (): Promise<Form> => {
    owner ??= signIn();
    return { grant_type: "refresh_token", client_id: "desk", refresh_token: (await owner).tokens.refresh_token ?? "" };
  };
  const honest = control<Answer>({
    what: "a refresh token by its application",
    attempt: async () => post("token", await given()),
    judge: isTokens,
    planted: noTokens,
  });
  const changes: Readonly<Record<string, Form>> = {
    "by another application": { client_id: "other" },
    "by a native application": { client_id: "desk-cli" },
    "by nobody": { client_id: "" },
    "for more than was granted": { scope: "openid account:read account:admin" },
    "for another scope": { scope: "images:write" },
    "that was made up": { refresh_token: "A".repeat(43) },
  };
  return Object.entries(changes).map(([what, change]) =>
    tokenRow(`a refresh token ${what}`, honest, async () => post("token", { ...(await given()), ...change })),
  );
}

/** A person at an identity provider, as its ID token says. */
type Claims = Readonly<Record<string, unknown>>;

/** Sign-ins with an identity provider that would take somebody else's account. */
function providerRows(scene: IssuingScene, victim: SignedIn): Attack[] {
  const { system, provider, send } = scene;
  const home = applications.console.redirect_uris[0];
  type Browser = SignedIn["visitor"];

  /** Follows the link of a new sign-in to the provider; returns the answer that it would send. */
  async function ask(browser: Browser, claims: Claims, more: Readonly<Record<string, string>> = {}): Promise<URL> {
    const { text, url } = await browser.open(scene.authorization(applications.console, { prompt: "login" }).url);
    const [, link = ""] = /href="([^"]*\/with\/corp)"/.exec(text) ?? [];
    const write = (right: Claims) => provider.signer.sign({ sub: crypto.randomUUID(), ...right, ...claims });
    return provider.redirect((await browser.open(new URL(link, url))).url, write, more);
  }
  const stranger = (): Browser => createFormVisitor(system.baseUrl);
  const arrive = async (browser: Browser, answer: URL): Promise<Arrival> => {
    const { status, url, text } = await browser.open(answer);
    return { status, url: url.href, text };
  };
  const own = (): Claims => ({ email: `${crypto.randomUUID()}@example.org` });
  const ofVictim = async (): Promise<Claims> => {
    const { json } = await send("/api/account/", { headers: victim.headers });
    return { email: json.contact_address };
  };
  const honest = control<Arrival>({
    what: "a sign-in with the provider",
    attempt: async () => {
      const browser = stranger();
      return arrive(browser, await ask(browser, own()));
    },
    judge: ({ url }) => (url.startsWith(home) && url.includes("code=") ? null : url),
    planted: [at(`${system.baseUrl}/oauth/x`)],
  });
  const row = (what: string, attempt: () => Promise<Arrival>): Attack =>
    attack<Arrival>({
      what: `an identity provider: ${what}`,
      must: "lead to no code of the account",
      repeat: `sign in with the provider corp: ${what}`,
      control: honest,
      attempt,
      // The address of a refused answer has the provider's own code.
      judge: ({ status, url, text }) =>
        url.startsWith(system.baseUrl) && status < 500 && !foreignScript.test(text) ? null : `${status} at ${url}`,
      planted: [at(`${home}?code=x`), at("https://evil.example/"), at(`${system.baseUrl}/x`, "", 500)],
    });
  const claimed = async (more: Claims = {}) => {
    const browser = stranger();
    return { browser, page: await arrive(browser, await ask(browser, { ...(await ofVictim()), ...more })) };
  };
  const press = async (step: string): Promise<Arrival> => {
    const { browser, page } = await claimed();
    const form = { ...page, url: new URL(page.url), headers: new Headers() };
    const { status, url, text } = await browser.submit(form, { step }, "address");
    return { status, url: url.href, text };
  };
  return [
    row("the verified address of somebody else", async () => (await claimed()).page),
    row("the unverified address of somebody else", async () => (await claimed({ email_verified: false })).page),
    row("a consent before the owner has signed in", () => press("connect")),
    row("a refused consent before the owner has signed in", () => press("skip")),
    row("an answer planted in the browser of somebody else", async () =>
      arrive(victim.visitor, await ask(stranger(), own())),
    ),
    row("an answer that is repeated", async () => {
      const browser = stranger();
      const answer = await ask(browser, own());
      await arrive(browser, answer);
      return arrive(browser, answer);
    }),
    row("an answer with the state of another sign-in", async () => {
      const browser = stranger();
      const other = await ask(stranger(), own());
      const answer = await ask(browser, own());
      answer.searchParams.set("state", other.searchParams.get("state") ?? "");
      return arrive(browser, answer);
    }),
    row("an answer of another provider", async () => {
      const browser = stranger();
      return arrive(browser, await ask(browser, own(), { iss: "https://evil.example" }));
    }),
    row("an ID token for another sign-in", async () => {
      const browser = stranger();
      return arrive(browser, await ask(browser, { ...own(), nonce: "other" }));
    }),
  ];
}
