import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";

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
  const server = createServer(listener);
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
