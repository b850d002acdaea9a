import type { Headers } from "../../audit/world.ts";
import { type Attack, attack, type Control, control } from "../runner/attack.ts";
import { httpControl, succeeds } from "../runner/http-attack.ts";
import { allowances, type IssuingScene } from "../scene/issuing-scene.ts";
import { beyond, type Counted, countAnswers, countBurst, shared, within } from "./counted.ts";
import { address, disguiseRows, read } from "./disguises.ts";
import type { Group } from "./group.ts";
import { sizeRows } from "./sizes.ts";

/** More requests than allowed, in every disguise. The last group, because it uses up the allowances of this address. */
export const limits: Group = {
  name: "limits",
  atOnce: 2,
  async rows(scenes) {
    const [trusting, issuing] = [await scenes.trusting(), await scenes.issuing()];
    return [...(await sizeRows(trusting)), ...disguiseRows(issuing), ...failureRows(issuing), ...raceRows(issuing)];
  },
};

const guesses: Readonly<Record<string, (at: number) => Headers>> = {
  "wrong keys": (at) => ({ "x-api-key": `sbx_dev_${at}` }),
  "wrong tokens": (at) => ({ authorization: `Bearer ${at}.a.b` }),
  "wrong passwords": (at) => ({ authorization: `Basic ${Buffer.from(`u:${at}`).toString("base64")}` }),
  "wrong keys from other addresses": (at) => ({
    "x-api-key": `sbx_dev_${at}`,
    "x-forwarded-for": address(at),
    forwarded: `for=${address(at)}`,
    "cf-connecting-ip": address(at),
  }),
};

/** Guesses from one address, which are counted together; a valid key is accepted all the same. */
function failureRows({ send, administrator }: IssuingScene): Attack[] {
  const knows = httpControl({
    send,
    path: "/api/v1/config",
    request: { headers: { ...administrator } },
    what: "a right key after many wrong ones",
    judge: succeeds,
  });
  return Object.entries(guesses).map(([what, headers]) =>
    attack<Counted>({
      what: `guesses: ${what}`,
      must: `be refused after ${allowances.failedSignIns}`,
      repeat: `${allowances.failedSignIns + 30} requests with ${what}`,
      control: knows,
      attempt: () =>
        countBurst(allowances.failedSignIns, () =>
          countAnswers(
            async (at) => (await send(read(at), { headers: { ...headers(at) } })).status,
            allowances.failedSignIns + 30,
            429,
          ),
        ),
      judge: within(allowances.failedSignIns, shared),
      planted: beyond(allowances.failedSignIns, shared),
    }),
  );
}

/** Several concurrent requests for the last place. */
function raceRows(scene: IssuingScene): Attack[] {
  const { send } = scene;
  const create = async (path: string, headers: Headers, at: number) =>
    (await send(path, { headers: { ...headers }, body: { name: `racing ${at}`, scopes: ["account:read"] } })).status;
  const one: Control = control<number>({
    what: "one key of somebody",
    attempt: async () => create("/api/account/api-keys/", (await scene.signIn()).headers, 0),
    judge: (status) => (status === 201 ? null : `${status}`),
    planted: [409, 429],
  });
  return [
    attack<Counted>({
      what: "twenty keys at once",
      must: `be refused after ${allowances.apiKeys}`,
      repeat: "POST /api/account/api-keys/ twenty times at once",
      control: one,
      attempt: async () => {
        const { headers } = await scene.signIn();
        return countAnswers((at) => create("/api/account/api-keys/", headers, at), 20, 409);
      },
      judge: within(allowances.apiKeys),
      planted: beyond(allowances.apiKeys),
    }),
  ];
}
