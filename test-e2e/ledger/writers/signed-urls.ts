import { createHttp, outcomeOf, type Reply } from "../http.ts";
import { type Scene, untilStopped, type Writer } from "../scene.ts";
import { servedBy } from "../witnesses/reads.ts";

interface SignedUrl {
  readonly path: string;
  readonly key: string;
  readonly signedAt: number;
}

/** Each is opened at every instance, in every turn. */
const keptMax = 5;
/** Four turns are enough to sign with a key, and to see its URLs end two rotations later. */
const turnsOfKey = 4;

/** An owner who signs URLs and rotates the key, and readers of the URLs. */
export const signedUrls: Writer = {
  name: "signed-urls",
  run: async (scene) => {
    let kept: SignedUrl[] = [];
    let turns = 0;
    await untilStopped(scene, scene.random.fork("signed-urls"), [200, 600], async () => {
      if (++turns % turnsOfKey === 0) await rotate(scene);
      const signed = await sign(scene, turns);
      if (signed) kept = [...kept, signed].slice(-keptMax);
      await Promise.all(kept.map((one) => openEverywhere(scene, one)));
    });
  },
};

const ownerOf = ({ members }: Scene) => members.at(-1) as Scene["members"][number];

async function rotate(scene: Scene): Promise<void> {
  const { account, owner } = ownerOf(scene);
  const done = scene.history.begin("signed-urls", "rotate-signing-key", { account });
  const reply = await owner("/images/signing-keys/rotate", { method: "POST" });
  done(outcomeOf(reply), { key: reply?.json?.id, former: reply?.json?.secrets?.[1]?.id, status: reply?.status });
}

async function sign(scene: Scene, turn: number): Promise<SignedUrl | null> {
  const { account, http, images } = ownerOf(scene);
  const done = scene.history.begin("signed-urls", "sign-url", { account });
  // A new width makes a new URL.
  const body = { width: 4 + (turn % 8), expires_in_seconds: 3_600 };
  const reply = await http(`/images/${images[0]}/signed-urls`, { body });
  const { pathname, search, searchParams } = new URL(reply?.json?.url ?? "http://none");
  const key = searchParams.get("signature")?.split(".")[1];
  done(outcomeOf(reply), { key, status: reply?.status });
  return key === undefined ? null : { path: pathname + search, key, signedAt: scene.history.now() };
}

async function openEverywhere({ system, history, members }: Scene, { path, key, signedAt }: SignedUrl): Promise<void> {
  const account = members.at(-1)?.account;
  const serving = system.instances.filter(({ program }) => servedBy(program.service).includes("images"));
  await Promise.all(
    serving.map(async ({ name, program }) => {
      const done = history.begin("signed-urls", "open-url", { account, key, signedAt, instance: name });
      const reply = await createHttp(program.url)(path, { timeoutMs: 5_000 });
      done("ok", { verdict: verdictOf(reply) });
    }),
  );
}

/** An image that cannot be rendered right now is no verdict about the URL. */
function verdictOf(reply: Reply | null): "let in" | "refused" | "nothing" {
  if (reply?.status === 403) return "refused";
  return reply?.status === 200 ? "let in" : "nothing";
}
