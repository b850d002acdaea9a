import { type Scene, untilStopped, type Writer } from "../scene.ts";

/** A property of every HTTP service, whose limit no request here reaches. */
export const overriddenProperty = "limits.maxRequestBytes";

/** An administrator who overrides one property, each time from the revision that was read. */
export const properties: Writer = {
  name: "properties",
  run: async (scene) => {
    const random = scene.random.fork("properties");
    // No two rounds set the same value.
    let value = random.between(1_000_000, 16_000_000);
    await untilStopped(scene, random, [150, 500], async () => {
      const revision = await readRevision(scene);
      if (revision === null) return;
      value++;
      const done = scene.history.begin("properties", "set-property", { value: String(value), expected: revision });
      const reply = await scene.administrator("/graphql", {
        body: {
          query: `mutation ($input: SetPropertyInput!) {
            setProperty(input: $input) { override { revision } errors { message } } }`,
          variables: { input: { name: overriddenProperty, value, expectedRevision: revision } },
        },
      });
      const payload = reply?.json?.data?.setProperty;
      const set = payload?.override?.revision;
      if (set !== undefined) return done("ok", { revision: set });
      // A refused field has its reason in the payload; any other error may be an outage after the commit.
      done(payload?.errors?.length > 0 ? "fail" : "info", { errors: reply?.json?.errors, status: reply?.status });
    });
  },
};

async function readRevision({ administrator }: Scene): Promise<string | null> {
  const reply = await administrator("/graphql", { body: { query: "{ properties { name override { revision } } }" } });
  const all: { name: string; override: { revision: string } | null }[] | undefined = reply?.json?.data?.properties;
  const found = all?.find(({ name }) => name === overriddenProperty);
  return found === undefined ? null : (found.override?.revision ?? "0");
}

/** A flag with the same value for every caller. */
export const ledgerFlag = "ledger.round";

/** An administrator who replaces one flag, each time from the revision that was read. */
export const flags: Writer = {
  name: "flags",
  run: async (scene) => {
    const random = scene.random.fork("flags");
    // No two rounds set the same value.
    let value = random.between(1_000_000, 16_000_000);
    await untilStopped(scene, random, [200, 700], async () => {
      const revision = await readFlagRevision(scene);
      if (revision === null) return;
      value++;
      const done = scene.history.begin("flags", "set-flag", { value: String(value), expected: revision });
      const reply = await scene.administrator("/graphql", {
        body: {
          query: `mutation ($input: SetFlagInput!) { setFlag(input: $input) { flag { revision } errors { message } } }`,
          variables: { input: { ...flagOf(value), expectedRevision: revision, reason: "ledger" } },
        },
      });
      const payload = reply?.json?.data?.setFlag;
      const set = payload?.flag?.revision;
      if (set !== undefined) return done("ok", { revision: set });
      // As with properties: a refused field has its reason in the payload.
      done(payload?.errors?.length > 0 ? "fail" : "info", { errors: payload?.errors ?? reply?.json?.errors });
    });
  },
};

const flagOf = (value: number) => ({
  key: ledgerFlag,
  state: "enabled",
  type: "integer",
  owner: "ledger",
  variants: [{ name: "now", value }],
  default: "now",
  off: "now",
});

async function readFlagRevision({ administrator }: Scene): Promise<string | null> {
  const reply = await administrator("/graphql", { body: { query: "{ flags { key revision } }" } });
  // Null when the field failed.
  const all: { key: string; revision: string }[] | null | undefined = reply?.json?.data?.flags;
  return all ? (all.find(({ key }) => key === ledgerFlag)?.revision ?? "0") : null;
}
