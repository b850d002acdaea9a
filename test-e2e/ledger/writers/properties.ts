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
