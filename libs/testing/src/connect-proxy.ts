import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";

/** A proxy for CONNECT tunnels, on 127.0.0.1. */
export interface ConnectProxy {
  readonly port: number;
  /** Every requested tunnel, oldest first. */
  readonly asked: { readonly target: string; readonly authorization: string | undefined }[];
  /** Answer sent instead of a tunnel; null for a tunnel. */
  refusal: string | null;
  close(): void;
}

/** Starts a real proxy that answers CONNECT and records the requests. */
export async function startConnectProxy(): Promise<ConnectProxy> {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy()).once("close", () => sockets.delete(socket));
    return socket;
  };
  const server = createServer((_request, response) => void response.writeHead(405).end());
  const proxy: ConnectProxy = {
    port: 0,
    asked: [],
    refusal: null,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
  server.on("connection", keep);
  server.on("connect", (request, client: Socket, head) => {
    const target = request.url ?? "";
    proxy.asked.push({ target, authorization: request.headers["proxy-authorization"] });
    if (proxy.refusal !== null) return void client.end(proxy.refusal);
    const { hostname, port } = new URL(`http://${target}`);
    const upstream = keep(connect(Number(port), hostname));
    upstream.once("connect", () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      upstream.write(head);
      upstream.pipe(client).pipe(upstream);
    });
    upstream.once("close", () => client.destroy());
    client.once("close", () => upstream.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return Object.assign(proxy, { port: (server.address() as AddressInfo).port });
}
