import { outcomeOf } from "../http.ts";
import { type Member, type Scene, untilStopped, type Writer } from "../scene.ts";

/** Gives each of the six images the titles n-1, n-2, …; each image has one such writer. */
export const numberedTitles: Writer = {
  name: "numbered-titles",
  run: async (scene) => {
    const each = scene.members.flatMap((member) => member.images.map((image) => ({ member, image })));
    await Promise.all(each.map(({ member, image }) => numberTitles(scene, member, image)));
  },
};

async function numberTitles(scene: Scene, { http, account }: Member, image: string): Promise<void> {
  const name = `titles of ${image}`;
  let number = 0;
  await untilStopped(scene, scene.random.fork(name), [200, 800], async () => {
    const title = `n-${++number}`;
    const done = scene.history.begin(name, "patch-image", { account, image, number, title });
    const reply = await http(`/images/${image}`, { method: "PATCH", body: { title } });
    done(outcomeOf(reply), { status: reply?.status, request: reply?.requestId });
  });
}

/** Two writers who change the name of one account, each based only on what it has read. */
export const rivals: Writer = {
  name: "rivals",
  run: async (scene) => {
    const [member] = scene.members as [Member];
    await Promise.all(["left", "right"].map((side) => rename(scene, member, side)));
  },
};

async function rename(scene: Scene, { http, account }: Member, side: string): Promise<void> {
  let number = 0;
  await untilStopped(scene, scene.random.fork(`rivals/${side}`), [80, 400], async () => {
    const read = await http("/api/account/");
    if (read?.status !== 200 || read.etag === undefined) return;
    const name = `${side} ${++number}`;
    const done = scene.history.begin(side, "patch-account", { account, name, base: read.json.display_name });
    const headers = { "if-match": read.etag };
    const reply = await http("/api/account/", { method: "PATCH", headers, body: { display_name: name } });
    done(outcomeOf(reply), { status: reply?.status });
  });
}

/** Settings repeat only after three thousand changes, or a long round would mistake two for one. */
const timezones = Intl.supportedValuesOf("timeZone").slice(0, 397);
const locales = ["en", "de", "fr", "es", "it", "ja", "nl", "pl"];

/** Changes the settings of one account in a fixed order. */
export const settings: Writer = {
  name: "settings",
  run: async (scene) => {
    const { http, account } = scene.members[1] as Member;
    let number = 0;
    await untilStopped(scene, scene.random.fork("settings"), [200, 800], async () => {
      number++;
      const timezone = timezones[number % timezones.length] as string;
      const locale = locales[Math.floor(number / timezones.length) % locales.length] as string;
      const product_updates = number % 2 === 1;
      const body = { timezone, locale, notifications: { product_updates } };
      const done = scene.history.begin("settings", "patch-settings", { account, number, settings: settingsText(body) });
      const reply = await http("/api/account/settings/", { method: "PATCH", body });
      done(outcomeOf(reply), { status: reply?.status });
    });
  },
};

interface Settings {
  readonly timezone: string;
  readonly locale: string;
  readonly notifications: { readonly product_updates: boolean };
}

/** Settings as one text, for comparison. */
export const settingsText = ({ timezone, locale, notifications }: Settings): string =>
  `${timezone} ${locale} ${notifications.product_updates}`;
