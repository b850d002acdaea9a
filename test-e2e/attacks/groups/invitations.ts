import { createFormVisitor, eventually } from "@signalbox/testing";
import { expectStatus } from "../../journey/client.ts";
import { type Attack, attack, control } from "../runner/attack.ts";
import type { IssuingScene, SignedIn, Visitor } from "../scene/issuing-scene.ts";

const path = "/api/v1/invitations/";

/** An answer, and the invitation after it. */
interface Evidence {
  readonly status: number;
  readonly url: string;
  readonly text: string;
  readonly invitation: string;
}

interface Invited {
  readonly id: string;
  readonly link: string;
}

/** Uses of links of invitations by those whom they are not for. */
export async function invitationRows(scene: IssuingScene, person: SignedIn, stranger: SignedIn): Promise<Attack[]> {
  const { send, administrator, system, mailbox } = scene;
  const headers = { ...administrator };
  const byLink = async (): Promise<Invited> => {
    const { id, url } = expectStatus(await send(path, { headers, body: { role: "viewer" } }), 201).json;
    return { id, link: url };
  };
  const { id } = expectStatus(
    await send(path, { headers, body: { address: person.address, role: "admin" } }),
    201,
  ).json;
  const link = await eventually(() => {
    const texts = mailbox.mails.filter(({ to }) => to === person.address).map(({ text }) => text);
    return texts.map((text) => /^http.*\/invitations\/.*$/m.exec(text)?.[0]).find(Boolean) ?? null;
  });
  const mailed: Invited = { id, link };
  const look = async ({ id }: Invited, { status, url, text }: Awaited<ReturnType<Visitor["open"]>>) => {
    const { json } = expectStatus(await send(`${path}${id}`, { headers }), 200);
    return { status, url: url.href, text, invitation: json.status } satisfies Evidence;
  };
  const accountOf = async ({ headers: own }: SignedIn): Promise<string> =>
    expectStatus(await send("/api/account/", { headers: { ...own } }), 200).json.id;
  const ids = { person: await accountOf(person), stranger: await accountOf(stranger) };

  const ended = await byLink();
  await send(`${path}${ended.id}`, { method: "DELETE", headers });
  const replaced = await byLink();
  expectStatus(await send(`${path}${replaced.id}/resend`, { method: "POST", headers }), 200);
  const open = await byLink();
  const post = (visitor: Visitor, one: Invited, fields: Record<string, string>, target = one.link) =>
    visitor.post(target, fields).then((seen) => look(one, seen));
  const get = (visitor: Visitor, one: Invited, target = one.link) =>
    visitor.open(target).then((seen) => look(one, seen));

  const accepts = control<Evidence>({
    what: "the invited person accepts by the button",
    attempt: () => post(person.visitor, mailed, { step: "accept", account: ids.person }),
    judge: ({ status, invitation }) =>
      status === 200 && invitation === "accepted" ? null : `${status}, ${invitation}`,
    planted: [{ status: 200, url: link, text: "", invitation: "open" }],
  });
  const anonymous = createFormVisitor(system.baseUrl);
  const [, folder = "", token = ""] = /^(.*\/)([^/]+)$/.exec(open.link) ?? [];
  const tries: Readonly<Record<string, () => Promise<Evidence>>> = {
    "a scanner opens the link": () => get(anonymous, open),
    "a signed-in browser opens the link": () => get(stranger.visitor, open),
    "the form without a session": () => post(anonymous, open, { step: "accept", account: ids.person }),
    "the form for another account than the session's": () =>
      post(stranger.visitor, open, { step: "accept", account: ids.person }),
    "the form without an account": () => post(stranger.visitor, open, { step: "accept" }),
    "a forwarded mail, with the account of the reader": () =>
      post(stranger.visitor, mailed, { step: "accept", account: ids.stranger }),
    "a forwarded mail, opened": () => get(stranger.visitor, mailed),
    "the form in a query": () => get(stranger.visitor, open, `${open.link}?step=accept&account=${ids.stranger}`),
    "a revoked link": () => post(stranger.visitor, ended, { step: "accept", account: ids.stranger }),
    "a link that was sent again": () => post(stranger.visitor, replaced, { step: "accept", account: ids.stranger }),
    "a link with another end": () =>
      post(stranger.visitor, open, { step: "accept", account: ids.stranger }, `${open.link}x`),
    "a link in capitals": () =>
      post(stranger.visitor, open, { step: "accept", account: ids.stranger }, folder + token.toUpperCase()),
    "a guessed link of the first administrator": () =>
      get(anonymous, open, `${system.baseUrl}/oauth/first-link/sbx_link_${"A".repeat(22)}`),
    "a form to a guessed link of the first administrator": () =>
      post(
        stranger.visitor,
        open,
        { step: "address", name: "Eve", address: stranger.address },
        `${system.baseUrl}/oauth/first-link/sbx_link_x`,
      ),
    "the link of an invitation as one of the first administrator": () =>
      get(stranger.visitor, open, `${system.baseUrl}/oauth/first-link/${token}`),
    "a state that leads elsewhere": () =>
      get(stranger.visitor, open, `${system.baseUrl}/oauth/invitations?state=${encodeURIComponent("//evil.example/")}`),
  };
  return Object.entries(tries).map(([what, attempt]) =>
    attack<Evidence>({
      what: `invitation: ${what}`,
      must: "accept nothing and lead nowhere else",
      repeat: `${what}: ${open.link}`,
      control: accepts,
      attempt,
      judge: ({ status, url, text, invitation }) =>
        invitation === "accepted" || status >= 500 || !url.startsWith(system.baseUrl) || text.includes("<script")
          ? `${status} at ${url}, and the invitation is ${invitation}`
          : null,
      planted: [
        { status: 200, url: link, text: "", invitation: "accepted" },
        { status: 200, url: "https://evil.example/", text: "", invitation: "open" },
        { status: 500, url: link, text: "", invitation: "open" },
      ],
    }),
  );
}
