import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { answerFromPrincipal } from "@signalbox/auth";
import { draft, eventOf } from "@signalbox/contracts";
import { openEventLog, publishEvents } from "@signalbox/events";
import { eventually, testPerson } from "@signalbox/testing";
import { benchParts, percentile, rounded } from "./bench-parts.ts";
import { serveOwnGraph } from "./gateway-graphs.ts";
import { residentMiB, startOurs } from "./gateway-systems.ts";
import { most } from "./history.ts";

const accounts = 500;
/** Number of subscribers per account, each on a connection of its own. */
const subscribersEach = 10;
const pagesPerSecond = 50;
const query = "subscription { imageChanged { cursor changed image { id title } } }";

const persons = new Map(Array.from({ length: accounts }, () => testPerson()).map((person) => [person.token, person]));

/** Answers `POST /internal/principals`, and announcements, which are requested without a body, with none. */
function principalAnswer(body: string): string {
  if (body === "") return '{"unannounced":false}';
  const person = persons.get((JSON.parse(body) as { value: string }).value);
  return person ? JSON.stringify(answerFromPrincipal(person.principal)) : "{}";
}

export async function run() {
  await using opened = new AsyncDisposableStack();
  const graph = await serveOwnGraph(principalAnswer);
  opened.defer(() => graph.close());
  const gateway = await startOurs(graph);
  opened.defer(() => gateway.close());
  const parts = { ...benchParts(), service: "images" as const };
  const eventLog = await openEventLog(gateway.eventsUrl, { clientId: "bench", ...parts });
  opened.defer(() => eventLog.close());
  const url = gateway.url.replace("http", "ws");
  const followers = fork(fileURLToPath(new URL("./live-followers.ts", import.meta.url)), [url, query]);
  opened.defer(() => void followers.kill());

  const beforeMiB = await residentMiB(gateway.pid);
  followers.send({ tokens: [...persons.keys()], each: subscribersEach });
  const [{ opened: subscribers }] = (await once(followers, "message")) as [{ opened: number }];
  const kibEach = rounded((((await residentMiB(gateway.pid)) - beforeMiB) * 1_024) / subscribers);
  const report = async () => {
    followers.send("report");
    return ((await once(followers, "message")) as [{ tookMs: number[] }])[0].tookMs;
  };
  const measure = async (eventsPerSecond: number, seconds: number) => {
    const published = await publishFor({ ...parts, eventLog }, eventsPerSecond, seconds);
    const tookMs: number[] = [];
    await eventually(
      async () => {
        for (const each of await report()) tookMs.push(each);
        return tookMs.length >= published * subscribersEach;
      },
      { timeoutMs: 120_000, message: "every subscriber received every event" },
    );
    const times = { p50Ms: rounded(percentile(tookMs, 0.5)), p99Ms: rounded(percentile(tookMs, 0.99)) };
    return { eventsPerSecond, received: tookMs.length, ...times, residentMiB: await residentMiB(gateway.pid) };
  };
  // The first second compiles.
  await measure(50, 1);
  const rows = [await measure(50, 20), await measure(500, 10)];
  return {
    rows: rows.map((row) => ({ subscribers, kibEach, ...row })),
    figures: [
      ...rows.map(({ eventsPerSecond, p99Ms }) =>
        most(`commit to client at ${eventsPerSecond} events/s, p99`, 250, p99Ms, "ms"),
      ),
      most("memory of an idle subscriber", 20, kibEach, "KiB"),
    ],
  };
}

/** Publishes changes of images at an even rate, one account after the other, and returns their number. */
async function publishFor(
  publisher: Parameters<typeof publishEvents>[0],
  eventsPerSecond: number,
  durationSeconds: number,
): Promise<number> {
  const owners = [...persons.values()];
  const pages = durationSeconds * pagesPerSecond;
  const perPage = eventsPerSecond / pagesPerSecond;
  const startedMs = performance.now();
  const committed: Promise<void>[] = [];
  for (let page = 0; page < pages; page++) {
    await sleep(Math.max(0, startedMs + (page * 1_000) / pagesPerSecond - performance.now()));
    const drafts = Array.from({ length: perPage }, (_, at) => {
      const { accountId } = owners[(page * perPage + at) % owners.length] as (typeof owners)[number];
      const id = accountId.replace("acc_", "img_");
      const changed = [String(performance.timeOrigin + performance.now())];
      const data = { ...eventOf("image.updated").example, id, changed } as never;
      return draft("image.updated", { subject: id, accountId, data });
    });
    committed.push(publishEvents(publisher, drafts));
  }
  await Promise.all(committed);
  return pages * perPage;
}
