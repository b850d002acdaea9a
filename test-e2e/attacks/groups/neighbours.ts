import { keepUp, type Neighbour, neighbours as situations } from "../../neighbours/neighbours.ts";
import { type Attack, attack, control, type Finding } from "../runner/attack.ts";
import type { TrustingScene } from "../scene/trusting-scene.ts";
import type { Group } from "./group.ts";

/** One account that makes another one wait. One situation at a time, or they would be each other's neighbours. */
export const neighbours: Group = {
  name: "neighbours",
  atOnce: 1,
  async rows(scenes) {
    const scene = await scenes.trusting();
    return situations.map((situation) => rowOf(scene, situation));
  },
};

/** The longest wait of the quiet account, alone and beside the busy one. */
interface Waits {
  readonly quietMs: number;
  readonly besideMs: number;
}

const asks = 5;

/**
 * Far above what is promised, which `npm run bench -- neighbours` measures: the test machine is busy itself. A loop that
 * is blocked, or a queue that is not shared, takes longer.
 */
const waitsLittle = ({ quietMs, besideMs }: Waits): Finding =>
  besideMs <= 20 * quietMs + 2_000 ? null : `${Math.round(besideMs)} ms instead of ${Math.round(quietMs)} ms`;

function rowOf({ send, world, receiver, silent, person }: TrustingScene, { name, load, ask }: Neighbour): Attack {
  const place = { send, photo: world.photo, receiver, silentUrl: silent.url };
  const alone = async () => slowestOf(await ask(place, (await person()).headers));
  return attack<Waits>({
    what: name,
    must: "leave the requests of another account as they are",
    repeat: "npm run bench -- neighbours",
    control: control<number>({
      what: `the quiet account alone (${name})`,
      attempt: alone,
      judge: (slowestMs) => (Number.isFinite(slowestMs) ? null : "no answer"),
      planted: [Number.NaN],
    }),
    async attempt() {
      const asked = await ask(place, (await person()).headers);
      const quietMs = await slowestOf(asked);
      await using _load = keepUp(await load(place, (await person()).headers));
      return { quietMs, besideMs: await slowestOf(asked) };
    },
    judge: waitsLittle,
    planted: [
      { quietMs: 10, besideMs: 5_000 },
      { quietMs: 100, besideMs: 30_000 },
    ],
  });
}

/** Asks several times in turn, and returns the longest wait. */
async function slowestOf(ask: () => Promise<unknown>): Promise<number> {
  let slowestMs = 0;
  for (let at = 0; at < asks; at++) {
    const startedMs = performance.now();
    await ask();
    slowestMs = Math.max(slowestMs, performance.now() - startedMs);
  }
  return slowestMs;
}
