import { expectStatus } from "../../journey/client.ts";
import { type Attack, attack, control } from "../runner/attack.ts";
import { type Application, applications, type IssuingScene, type SignedIn } from "../scene/issuing-scene.ts";
import { type Arrival, at, givesNothing } from "./oauth-arrivals.ts";
import { tokenMutations } from "./oauth-tables.ts";

/** Pushed authorization requests (RFC 9126) that were used, belong to another application, or never existed. */
export function pushedRequestRows(scene: IssuingScene, { visitor }: SignedIn): Attack[] {
  const { baseUrl } = scene.system;
  const own = applications.console;
  const push = async (application: Application = own): Promise<string> => {
    const form = Object.fromEntries(scene.authorization(application).url.searchParams);
    return expectStatus(await scene.post("pushed-request", form), 201).json.request_uri;
  };
  const visit = async (parameters: Readonly<Record<string, string>>, browser = visitor): Promise<Arrival> => {
    const seen = await browser.open(`${baseUrl}/oauth/authorize?${new URLSearchParams(parameters)}`);
    return { status: seen.status, url: seen.url.href, text: seen.text };
  };
  const use = (request_uri: string, more: Readonly<Record<string, string>> = {}) =>
    visit({ client_id: own.client_id, request_uri, ...more });

  const honest = control<Arrival>({
    what: "a pushed request of the application",
    attempt: async () => use(await push()),
    judge: ({ url }) => (url.startsWith(own.redirect_uris[0]) && url.includes("code=") ? null : url),
    planted: [at(`${baseUrl}/oauth/x`), at("https://evil.example/?code=x")],
  });
  const row = (what: string, attempt: () => Promise<Arrival>, asker: Application = own): Attack =>
    attack<Arrival>({
      what: `a pushed request ${what}`,
      must: "lead to no code, and to nobody else",
      repeat: `POST /oauth/pushed-request, then open ${baseUrl}/oauth/authorize with one ${what}`,
      control: honest,
      attempt,
      // An error may go to the application that asks.
      judge: givesNothing([baseUrl, asker.redirect_uris[0]]),
      planted: [at("https://evil.example/"), at(`${own.redirect_uris[0]}?code=x`), at(`${baseUrl}/x`, "", 500)],
    });
  const twice = async (others: number): Promise<Arrival> => {
    const request = await push();
    const seen = await Promise.all(Array.from({ length: others }, () => use(request)));
    const again = await use(request);
    const given = seen.filter(({ url }) => url.includes("code="));
    return given.length > 1 ? (given[0] as Arrival) : again;
  };
  const urn = "urn:ietf:params:oauth:request_uri:";
  return [
    row("that was used", () => twice(1)),
    row("that ten tabs use at once", () => twice(10)),
    row("of another application", async () => use(await push(applications.other))),
    row(
      "that another application shows as its own",
      async () => visit({ client_id: applications.other.client_id, request_uri: await push() }),
      applications.other,
    ),
    row("without an application", async () => visit({ request_uri: await push() })),
    row("that was guessed", () => use(`${urn}${"A".repeat(43)}`)),
    row("without an id", () => use(urn)),
    row("at another host", () => use("https://evil.example/request.jwt")),
    row("in a file", () => use("file:///etc/passwd")),
    row("beside a request object", async () => use(await push(), { request: "eyJhbGciOiJub25lIn0.e30." })),
    ...Object.entries(tokenMutations).map(([what, mutate]) => row(what, async () => use(mutate(await push())))),
  ];
}
