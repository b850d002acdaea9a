import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { KiB, seconds } from "@signalbox/core";
import type { ServiceParts } from "@signalbox/runtime";
import { eventually } from "./eventually.ts";
import type { TestContext } from "./test-context.ts";

export interface ServedListener {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Serves a listener on a free port of 127.0.0.1, as a service's process does. */
export async function serveListener(
  listener: RequestListener | undefined,
  upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void,
): Promise<ServedListener> {
  if (!listener) throw new Error("the service has no such listener");
  // Longer than a client keeps a connection, as services do: one that both end at once loses its request.
  const server = createServer({ keepAliveTimeout: seconds(75), maxHeaderSize: 80 * KiB }, listener);
  const upgraded = new Set<Duplex>();
  if (upgrade) {
    server.on("upgrade", (request, socket, head) => {
      upgraded.add(socket);
      socket.once("close", () => upgraded.delete(socket));
      upgrade(request, socket, head);
    });
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    close: async () => {
      server.closeAllConnections();
      for (const socket of upgraded) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

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
