import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface Balancer {
  readonly port: number;
  close(): Promise<void>;
}

/** Balances like a Kubernetes Service: gives each connection to one of the accepting ports, in turn. */
export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  const open = new Set<Socket>();
  let turn = 0;
  const server = createServer((client) => {
    turn++;
    open.add(client);
    client.on("error", () => client.destroy()).on("close", () => open.delete(client));
    join(client, [...ports.slice(turn % ports.length), ...ports.slice(0, turn % ports.length)]);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function join(client: Socket, [port, ...others]: readonly number[]): void {
  if (port === undefined) return void client.destroy();
  const target = connect({ port, host: "127.0.0.1" });
  let isConnected = false;
  target.once("connect", () => {
    isConnected = true;
    client.pipe(target).pipe(client);
  });
  target.on("error", () => (isConnected ? client.destroy() : join(client, others)));
  client.on("close", () => target.destroy());
}
