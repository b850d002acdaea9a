import type { ServiceParts } from "@signalbox/runtime";
import { eventually } from "./eventually.ts";
import { serveListener } from "./serve-listener.ts";
import type { TestContext } from "./test-context.ts";

export interface ServedService {
  readonly url: string;
  readonly internalUrl: string;
  /** Closes the listeners, then the context, as a process does at its end. */
  close(): Promise<void>;
}

/**
 * Serves the public and the internal listener of a service, each on a free port, and waits until the service has
 * started.
 */
export async function serveService(
  context: Pick<TestContext<never>, "health" | "close">,
  parts: ServiceParts,
): Promise<ServedService> {
  const [open, internal] = await Promise.all([serveListener(parts.public), serveListener(parts.internal)]);
  await eventually(async () => (await context.health.report()).startup.status === "up", {
    message: "the service has started",
  });
  return {
    url: open.url,
    internalUrl: internal.url,
    close: async () => {
      await Promise.all([open.close(), internal.close()]);
      await context.close();
    },
  };
}
