import { expectStatus } from "../../journey/client.ts";
import { type Attack, attack, type Control, control } from "../runner/attack.ts";
import { type Application, applications, type IssuingScene, type SignedIn } from "../scene/issuing-scene.ts";
import { firstLinkRows } from "./first-links.ts";
import type { Group } from "./group.ts";
import { invitationRows } from "./invitations.ts";
import { issuedTokenRows } from "./issued-tokens.ts";
import { type Arrival, at, givesNothing } from "./oauth-arrivals.ts";
import { deviceRows } from "./oauth-devices.ts";
import { clientRows, codeRows, refreshRows } from "./oauth-grants.ts";
import { authorizationMutations, type ClientSecret, redirectMutations } from "./oauth-tables.ts";
import { pushedRequestRows } from "./pushed-requests.ts";

/** The built-in issuer from the view of an application, a program and a stranger. */
export const oauth: Group = {
  name: "oauth",
  atOnce: 4,
  async rows(scenes) {
    const scene = await scenes.issuing();
    const [person, stranger] = [await scene.signIn(), await scene.signIn()];
    const [client, other] = [await makeClient(scene, person), await makeClient(scene, stranger)];
    return [
      ...authorizationRows(scene, person),
      ...(await codeRows(scene, person)),
      ...(await deviceRows(scene)),
      ...clientRows(scene, client, other),
      ...refreshRows(scene),
      ...(await issuedTokenRows(scene, person)),
      ...(await invitationRows(scene, person, stranger)),
      ...pushedRequestRows(scene, person),
      ...firstLinkRows(scene),
    ];
  },
};

/** Creates a program that acts for a person's account. */
async function makeClient({ send }: IssuingScene, { headers }: SignedIn): Promise<ClientSecret> {
  const body = { name: "robot", scopes: ["account:read"] };
  const { client_id: id, client_secret: secret } = expectStatus(
    await send("/api/account/clients/", { headers: { ...headers }, body }),
    201,
  ).json;
  return { id, secret };
}

/** Authorization requests, in a signed-in browser, that differ from the application's. */
function authorizationRows(scene: IssuingScene, { visitor }: SignedIn): Attack[] {
  const { baseUrl } = scene.system;
  const visit = async (url: URL): Promise<Arrival> => {
    const seen = await visitor.open(url);
    return { status: seen.status, url: seen.url.href, text: seen.text };
  };
  const honest = new Map<Application, Control>(
    [applications.console, applications.cli].map((application) => [
      application,
      control<Arrival>({
        what: `the request of ${application.name}`,
        attempt: async () => visit(scene.authorization(application).url),
        judge: ({ url }) => (url.startsWith(application.redirect_uris[0]) && url.includes("code=") ? null : url),
        planted: [at(`${baseUrl}/oauth/x`), at("https://evil.example/?code=x")],
      }),
    ]),
  );
  const row = (
    application: Application,
    what: string,
    more: Record<string, string>,
    homes: readonly string[],
  ): Attack => {
    const { url } = scene.authorization(application, more);
    return attack<Arrival>({
      what: `${application.name}: ${what}`,
      must: "lead to no code, and to nobody else",
      repeat: `open ${url.href} in a browser that is signed in`,
      control: honest.get(application) as Control,
      attempt: () => visit(url),
      judge: givesNothing(homes),
      planted: [
        at("https://evil.example/?code=x"),
        at(`${application.redirect_uris[0]}?code=x`),
        at("https://evil.example/"),
        at(`${baseUrl}/x`, "<script>"),
        at(`${baseUrl}/x`, "", 500),
      ],
    });
  };
  return [applications.console, applications.cli].flatMap((application) => [
    ...Object.entries(redirectMutations).map(([what, mutate]) =>
      row(application, `a redirect ${what}`, { redirect_uri: mutate(application.redirect_uris[0]) }, [baseUrl]),
    ),
    // Errors may go to the application itself.
    ...Object.entries(authorizationMutations).map(([what, more]) =>
      row(application, what, more, [baseUrl, application.redirect_uris[0]]),
    ),
  ]);
}
