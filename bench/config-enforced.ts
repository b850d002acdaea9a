import { setTimeout as sleep } from "node:timers/promises";
import { removeData, startEmbeddedSystem } from "../test-e2e/systems/embedded-system.ts";
import { startEnginesSystem } from "../test-e2e/systems/engines-system.ts";
import type { System } from "../test-e2e/systems/system.ts";
import { percentile, rounded } from "./bench-parts.ts";

const changes = 60;
const [less, more] = [50, 60];
/** A list of every service that has one, requested with a length between the two limits. */
const lists = ["/images", "/api/account/api-keys/", "/api/v1/webhooks/endpoints", "/api/v1/webhooks/sources"].map(
  (path) => `${path}?limit=${(less + more) / 2}`,
);
const mutation = `mutation($input: SetPropertyInput!) { setProperty(input: $input) { override { revision } errors { message } } }`;

interface Enforced {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Measures the time from the answer to a change until every service enforces it. */
export async function measureEnforced(mode: "embedded" | "Kafka"): Promise<Enforced> {
  const properties = {
    "http.rate-limit.credential.requests": "1000000",
    "http.rate-limit.credential.burst": "1000000",
    "http.rate-limit.account.requests": "1000000",
  };
  if (mode === "Kafka") {
    const system = await startEnginesSystem({ properties });
    try {
      return await measure(system);
    } finally {
      await system.close();
    }
  }
  const system = await startEmbeddedSystem({ properties });
  try {
    return await measure(system);
  } finally {
    await system.stop();
    await removeData(system);
  }
}

async function measure({ baseUrl, apiKey }: System): Promise<Enforced> {
  const headers = { "x-api-key": apiKey, "content-type": "application/json" };
  const tookMs: number[] = [];
  let expectedRevision = "0";
  for (let at = 0; at < changes; at++) {
    const value = at % 2 === 0 ? less : more;
    const wanted = value === less ? 400 : 200;
    const input = { name: "limits.maxPageSize", value, expectedRevision };
    const changed = fetch(`${baseUrl}/graphql`, {
      method: "POST",
      headers,
      body: JSON.stringify({ query: mutation, variables: { input } }),
    });
    const { data } = (await (await changed).json()) as { data: { setProperty: { override: { revision: string } } } };
    const fromMs = performance.now();
    expectedRevision = data.setProperty.override.revision;
    await Promise.all(
      lists.map(async (path) => {
        for (let status = 0; status !== wanted; await sleep(5)) {
          const answer = await fetch(baseUrl + path, { headers });
          await answer.arrayBuffer();
          status = answer.status;
        }
      }),
    );
    tookMs.push(performance.now() - fromMs);
  }
  const warm = tookMs.slice(10);
  return { p50Ms: rounded(percentile(warm, 0.5)), p99Ms: rounded(percentile(warm, 0.99)) };
}
