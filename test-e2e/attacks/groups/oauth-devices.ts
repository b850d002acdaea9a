import { type Answer, expectStatus } from "../../journey/client.ts";
import { type Attack, control } from "../runner/attack.ts";
import type { IssuingScene, SignedIn } from "../scene/issuing-scene.ts";
import { createTurns } from "./group.ts";
import { isTokens, noTokens, tokenRow } from "./oauth-grants.ts";
import { tokenMutations } from "./oauth-tables.ts";

type Visitor = SignedIn["visitor"];

/** A device's request, with the form that asks for its tokens. */
interface Device {
  readonly userCode: string;
  readonly link: string;
  readonly form: Readonly<Record<string, string>>;
}

const client_id = "cli";
const grant_type = "urn:ietf:params:oauth:grant-type:device_code";

/** Types a code, and presses the button of the page that follows, with what `more` changes. */
async function connect(visitor: Visitor, { userCode, link }: Device, more: Record<string, string> = {}): Promise<void> {
  const asked = await visitor.submit(await visitor.open(link), { user_code: userCode });
  await visitor.submit(asked, more);
}

/** Devices that nobody connected, and codes of a connected one in other hands. Each row has its own device. */
export async function deviceRows(scene: IssuingScene): Promise<Attack[]> {
  const { post } = scene;
  const { visitor } = await scene.signIn();
  // The pages of one browser share the token against forgery, as tabs do, so the rows take turns.
  const inTurn = createTurns();
  const begin = async (): Promise<Device> => {
    const asked = await post("device-authorization", { client_id, scope: "openid account:read" });
    const { user_code: userCode, device_code, verification_uri: link } = expectStatus(asked, 200).json;
    return { userCode, link, form: { grant_type, client_id, device_code } };
  };
  const connected = async (by: Visitor = visitor): Promise<Device> => {
    const device = await begin();
    await inTurn(() => connect(by, device));
    return device;
  };
  const honest = control<Answer>({
    what: "a device whose person typed the code and pressed the button",
    attempt: async () => post("token", (await connected()).form),
    judge: isTokens,
    planted: noTokens,
  });
  const row = (what: string, attempt: () => Promise<Answer>) =>
    tokenRow({ what: `a device ${what}`, control: honest, attempt });

  const unconnected: Readonly<Record<string, (device: Device) => Promise<unknown>>> = {
    "that nobody has heard of": async () => null,
    "whose link was opened": ({ link, userCode }) => visitor.open(`${link}?user_code=${userCode}`),
    "whose code was typed": async ({ link, userCode }) =>
      visitor.submit(await visitor.open(link), { user_code: userCode }),
    "that was turned down": (device) => connect(visitor, device, { abort: "yes" }),
    "whose button another site pressed": (device) => connect(visitor, device, { xsrf: "0".repeat(48) }),
    "whose button was pressed without a session": ({ userCode }) =>
      post("device", { user_code: userCode, confirm: "yes", xsrf: "x" }),
  };
  const forms: Readonly<Record<string, (form: Device["form"], userCode: string) => Record<string, string>>> = {
    "of another application": (form) => ({ ...form, client_id: "other" }),
    "of another application with the grant": (form) => ({ ...form, client_id: "desk-cli" }),
    "of nobody": ({ client_id: _id, ...form }) => form,
    "by the code that its person typed": (form, userCode) => ({ ...form, device_code: userCode }),
    "by a code for the browser": ({ device_code = "", ...form }) => ({
      ...form,
      grant_type: "authorization_code",
      code: device_code,
      code_verifier: "a".repeat(43),
      redirect_uri: "http://127.0.0.1/back",
    }),
    ...Object.fromEntries(
      Object.entries(tokenMutations).map(([what, mutate]) => [
        `by a code ${what}`,
        (form: Device["form"]) => ({ ...form, device_code: mutate(form.device_code ?? "") }),
      ]),
    ),
  };
  // A second use ends everything from the person's sign-in, so each row has its own person.
  const repeated = async (times: number): Promise<Answer> => {
    const { form } = await connected((await scene.signIn()).visitor);
    const answers = await Promise.all(Array.from({ length: times }, () => post("token", form)));
    const again = await post("token", form);
    return answers.filter(({ status }) => status === 200).length > 1 ? (answers[0] as Answer) : again;
  };
  return [
    ...Object.entries(unconnected).map(([what, act]) =>
      row(what, async () => {
        const device = await begin();
        await inTurn(() => act(device));
        return post("token", device.form);
      }),
    ),
    ...Object.entries(forms).map(([what, change]) =>
      row(what, async () => {
        const { form, userCode } = await connected();
        return post("token", change(form, userCode));
      }),
    ),
    row("whose tokens were given", () => repeated(1)),
    row("that asks ten times at once", () => repeated(10)),
  ];
}
