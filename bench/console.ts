import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { brotliDecompressSync, gzipSync } from "node:zlib";
import { eventually, openBrowser } from "@signalbox/testing";
import { createClient } from "../test-e2e/journey/client.ts";
import { removeData, startEmbeddedSystem } from "../test-e2e/systems/embedded-system.ts";
import { rounded } from "./bench-parts.ts";
import { type BenchResult, most } from "./history.ts";

const attemptsMin = 10_000;
const perSecond = 200;
const tailSeconds = 600;
/** A phone of the middle class on a slow network. */
const slow = { cpu: 4, bytesPerSecond: 1_600_000 / 8, latencyMs: 40 };
const firstContentTries = 5;
const filters = ["order.paid", "order.sent", "order.*", "order.none", "order.paid"];
const archive = new URL("../services/gateway/assets/console.json.br", import.meta.url);

type Send = ReturnType<typeof createClient>;
type Browser = Awaited<ReturnType<typeof openBrowser>>;
type Page = Awaited<ReturnType<Browser["newPage"]>>;

/** The console in Chromium: its bytes, its first content, a filter over many attempts, and a live tail. */
export async function run({ seconds = tailSeconds }: { readonly seconds?: number } = {}): Promise<BenchResult> {
  await using opened = new AsyncDisposableStack();
  const receiver = await startSink();
  opened.defer(() => receiver.close());
  const system = await startEmbeddedSystem({
    properties: {
      "webhook-delivery.outbound.allow": "127.0.0.1:*",
      "webhook-delivery.attempts.published": "all",
      // The bench measures the work, not the rate limit.
      "http.rate-limit.credential.burst": "1000000",
      "http.rate-limit.credential.requests": "1000000",
      "http.rate-limit.account.requests": "1000000",
    },
  });
  opened.defer(() => removeData(system));
  opened.defer(async () => void (await system.stop()));
  const send = createClient(system.baseUrl, system.apiKey);
  await send("/api/v1/webhooks/endpoints", { body: { url: receiver.url, event_types: ["order.*"] } });
  for (let count = 0; count < attemptsMin; count += 100) await publish(send, 100);
  while (receiver.count() < attemptsMin) await sleep(100);

  const browser = await openBrowser();
  opened.defer(() => browser.close());
  const sizes = await scriptSizes();
  const firstMs = await firstContent(browser, system.baseUrl);
  const page = await signedIn(browser, system);
  const filterMs = await slowestFilter(page);
  const tail = await followTail(page, send, seconds);
  const figures = [
    most("console: script of the start", 170, sizes.start, "KiB"),
    most("console: more script of a page", 60, sizes.page, "KiB"),
    most("console: first content, CPU slowed 4 times, 1.6 Mbit/s", 1_200, firstMs, "ms"),
    most("console: a filter over 10,000 attempts answers", 100, filterMs, "ms"),
    most(`console: longest task of a tail of ${perSecond}/s`, 50, tail.longestMs, "ms"),
    most("console: its memory grows by", 4, tail.grownMiB, "MiB"),
  ];
  return { rows: [{ ...tail, attempts: receiver.count(), seconds }], figures };
}

/** A receiver that keeps nothing. */
async function startSink() {
  let count = 0;
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      count++;
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    count: () => count,
    close: () => new Promise<void>((resolve) => void server.close(() => resolve()).closeAllConnections()),
  };
}

async function publish(send: Send, count: number): Promise<void> {
  const body = Array.from({ length: count }, (_, at) => ({
    type: at % 2 === 0 ? "order.paid" : "order.sent",
    data: { at },
  }));
  const { status } = await send("/api/v1/webhooks/events", { body });
  if (status !== 202) throw new Error(`events were answered ${status}`);
}

/** Compressed bytes of the script that a start loads, and of the largest other file, in KiB. */
async function scriptSizes() {
  const { files } = JSON.parse(brotliDecompressSync(await readFile(archive)).toString()) as {
    files: Record<string, string>;
  };
  const scripts = Object.entries(files).filter(([name]) => name.endsWith(".js"));
  const kib = (of: typeof scripts) => of.map(([, text]) => gzipSync(text).length / 1024);
  const isStart = ([name]: readonly [string, string]) => files["index.html"]?.includes(name);
  return {
    start: rounded(kib(scripts.filter(isStart)).reduce((sum, one) => sum + one, 0)),
    page: rounded(Math.max(...kib(scripts.filter((one) => !isStart(one))))),
  };
}

/** The median time until a browser that has nothing yet shows something. */
async function firstContent(browser: Browser, baseUrl: string): Promise<number> {
  const tries: number[] = [];
  for (let nth = 0; nth < firstContentTries; nth++) {
    const context = await browser.newContext();
    const page = await context.newPage();
    const devtools = await context.newCDPSession(page);
    await devtools.send("Network.enable");
    const { bytesPerSecond: throughput, latencyMs: latency } = slow;
    const network = { offline: false, latency, downloadThroughput: throughput, uploadThroughput: throughput };
    await devtools.send("Network.emulateNetworkConditions", network);
    await devtools.send("Emulation.setCPUThrottlingRate", { rate: slow.cpu });
    await page.goto(`${baseUrl}/console/`);
    // Evaluated from outside: the policy of the page allows no text that becomes a script.
    const paint = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null";
    tries.push(await eventually(() => page.evaluate<number | null>(paint)));
    await context.close();
  }
  return rounded(tries.toSorted((a, b) => a - b)[Math.floor(tries.length / 2)] ?? Number.NaN);
}

/** Opens the deliveries with the key of the deployment. */
async function signedIn(
  browser: Browser,
  system: { readonly baseUrl: string; readonly apiKey: string },
): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.goto(`${system.baseUrl}/console/webhooks/deliveries`);
  await page.getByLabel("Or an API key").fill(system.apiKey);
  await page.getByRole("button", { name: "Use the key" }).click();
  await page.getByRole("status", { name: "Updates: live" }).waitFor();
  await page.getByRole("table", { name: "Deliveries" }).waitFor();
  return page;
}

/** The longest time from a key to the next picture, while filters are typed and applied. */
async function slowestFilter(page: Page): Promise<number> {
  await page.evaluate(`window.inputs = [];
    new PerformanceObserver((list) => { for (const { duration } of list.getEntries()) inputs.push(duration); })
      .observe({ type: "event", durationThreshold: 16 })`);
  for (const filter of filters) {
    await page.getByLabel("Event type").fill("");
    await page.getByLabel("Event type").pressSequentially(filter);
    const answered = page.waitForResponse("**/api/v1/webhooks/deliveries?**");
    await page.keyboard.press("Enter");
    await answered;
  }
  await page.getByLabel("Event type").fill("");
  await page.keyboard.press("Enter");
  await page.getByRole("table", { name: "Deliveries" }).waitFor();
  // Shorter ones are not reported.
  return rounded(await page.evaluate<number>("Math.max(16, ...inputs)"));
}

/** Publishes at an even pace and watches the page. */
async function followTail(page: Page, send: Send, seconds: number) {
  await page.evaluate(`window.tasks = []; window.sinceMs = 0;
    new PerformanceObserver((list) => tasks.push(...list.getEntries())).observe({ type: "longtask" })`);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Performance.enable");
  const heapMiB = async () => {
    await devtools.send("HeapProfiler.collectGarbage");
    const { metrics } = await devtools.send("Performance.getMetrics");
    return (metrics.find(({ name }) => name === "JSHeapUsedSize")?.value ?? Number.NaN) / 1024 / 1024;
  };
  const startedMs = performance.now();
  const everyMs = 100;
  let beforeMiB = Number.NaN;
  for (let nth = 0; nth < (seconds * 1_000) / everyMs; nth++) {
    // Full after a tenth of the time: what grows from then on is never given back.
    if (nth === Math.floor((seconds * 100) / everyMs)) {
      beforeMiB = await heapMiB();
      // The collection of garbage was a long task of ours, which is reported later.
      await page.evaluate("sinceMs = performance.now()");
    }
    await publish(send, (perSecond * everyMs) / 1_000);
    await sleep(Math.max(0, startedMs + (nth + 1) * everyMs - performance.now()));
  }
  const long = await page.evaluate<number[]>(
    "tasks.filter(({ startTime }) => startTime >= sinceMs).map(({ duration }) => duration)",
  );
  const shown = await page.getByRole("table", { name: "Deliveries" }).getByRole("row").count();
  return {
    longestMs: rounded(Math.max(0, ...long)),
    longTasks: long.length,
    grownMiB: rounded((await heapMiB()) - beforeMiB),
    rowsShown: shown,
  };
}
