import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

export interface ServedListener {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Serves a listener on a free port of 127.0.0.1, as the process that runs a service does. */
export async function serveListener(listener: RequestListener | undefined): Promise<ServedListener> {
  if (!listener) throw new Error("the service has no such listener");
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
