import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { enginesFolder } from "@signalbox/infra/engines/engine-folders.ts";
import { engineNamed } from "@signalbox/infra/engines/engines.ts";
import { freePort } from "@signalbox/infra/engines/free-port.ts";
import { newClusterId } from "@signalbox/infra/engines/kafka/kafka.ts";
import { startOwnEngine } from "@signalbox/infra/engines/own-engines.ts";
import { createTcpProxy, type TcpProxy } from "@signalbox/testing";
import type { KafkaCluster } from "./ledger-system.ts";
import { mountDisk } from "./mount-disk.ts";

const nodes = [1, 2, 3];
const brokerDiskBytes = 1_024 * 2 ** 20;
const unmount = promisify(execFile);

/** The ports of a broker: for callers, for callers behind its proxy, and for the other controllers. */
interface Ports {
  readonly direct: number;
  readonly proxied: number;
  readonly controller: number;
}

export interface LedgerKafka extends KafkaCluster {
  readonly url: string;
  /** The same brokers through proxies, one for each. */
  readonly proxiedUrl: string;
  readonly proxies: readonly TcpProxy[];
  close(): Promise<void>;
}

/** Starts three nodes, each broker and controller, with three replicas of which two must be in sync. */
export async function startKafkaCluster(): Promise<LedgerKafka> {
  await using opened = new AsyncDisposableStack();
  await engineNamed("kafka").fetch();
  const ports = await Promise.all(
    nodes.map(async (): Promise<Ports> => {
      const [direct = 0, proxied = 0, controller = 0] = await Promise.all([freePort(), freePort(), freePort()]);
      return { direct, proxied, controller };
    }),
  );
  const proxies = await Promise.all(ports.map(({ proxied }) => createTcpProxy({ port: proxied })));
  for (const proxy of proxies) opened.defer(() => proxy.close());
  // Started together: none of them serves before two of them can elect a controller.
  const clusterId = newClusterId();
  const controllerPorts = ports.map(({ controller }) => controller);
  const firstFolder = join(enginesFolder, "own", `kafka-${process.pid}-${crypto.randomUUID().slice(0, 8)}`);
  const disk = await mountDisk(join(firstFolder, "data"), brokerDiskBytes);
  let isMounted = disk !== null;
  const unmountDisk = async () => {
    if (isMounted) await unmount("umount", ["--lazy", join(firstFolder, "data")]);
    isMounted = false;
  };
  opened.defer(unmountDisk);
  const started = await Promise.all(
    ports.map((own, index) =>
      startOwnEngine(engineNamed("kafka"), {
        ...(index === 0 && { folder: firstFolder }),
        port: own.direct,
        member: { id: index + 1, clusterId, controllerPorts, copies: ports.length },
        configure: withProxied(own, proxies[index]?.port as number),
      }),
    ),
  );
  for (const broker of started) opened.defer(() => broker.close());
  // Before the brokers close, who delete their folders; the first one unmounts what a failed start has left.
  opened.defer(unmountDisk);
  const addresses = ports.map(({ direct }) => `127.0.0.1:${direct}`);
  const closes = opened.move();
  return {
    url: `kafka://${addresses.join(",")}`,
    proxiedUrl: `kafka://${proxies.map(({ port }) => `127.0.0.1:${port}`).join(",")}`,
    addresses,
    proxies,
    brokers: started,
    disk,
    controller: () => leaderAmong(started),
    close: () => closes.disposeAsync(),
  };
}

/** Adds the listener behind the proxy. */
const withProxied =
  ({ proxied }: Ports, advertisedPort: number) =>
  (properties: string): string =>
    properties
      .replace(/^listeners=.*$/m, `$&,PROXIED://127.0.0.1:${proxied}`)
      .replace(/^advertised\.listeners=.*$/m, `$&,PROXIED://127.0.0.1:${advertisedPort}`)
      .replace(/^listener\.security\.protocol\.map=.*$/m, "$&,PROXIED:PLAINTEXT");

/** Brokers name any of them as the controller; the quorum's own state is in the folder of each. */
async function leaderAmong(brokers: readonly { readonly folder: string }[]): Promise<number> {
  const states = await Promise.all(
    brokers.map(async ({ folder }) => {
      const text = await readFile(join(folder, "data", "__cluster_metadata-0", "quorum-state"), "utf8");
      return JSON.parse(text) as { leaderId: number; leaderEpoch: number };
    }),
  );
  const newest = states.reduce((one, other) => (other.leaderEpoch > one.leaderEpoch ? other : one));
  if (!nodes.includes(newest.leaderId)) throw new Error(`no controller in ${JSON.stringify(states)}`);
  return newest.leaderId - 1;
}
