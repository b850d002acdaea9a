import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { repositoryFolder } from "@signalbox/infra/engines/engine-folders.ts";
import { startBalancer } from "../ledger/systems/balancer.ts";
import { Instance } from "../ledger/systems/instance.ts";
import { called, services } from "./engines-system.ts";
import { environmentOf, runCommand } from "./service-process.ts";
import { freePorts, type SecureListener, startEdge } from "./start-nginx.ts";
import type { Keep } from "./system.ts";

type Service = (typeof services)[number];
export type Side = (typeof sides)[number];
type Listener = (typeof listeners)[number];
type Properties = Readonly<Record<string, string>>;

const sides = [1, 2] as const;
const listeners = ["http", "internal", "management"] as const;

interface TwoOfEachOptions {
  readonly keep: Keep;
  /** Address of the event log, for its operator. */
  readonly eventsUrl: string;
  /** Properties of every process, besides addresses and secrets. */
  readonly shared: Properties;
  /** More variables of every process. */
  readonly variables?: Properties;
  /** Addresses of the engines for an instance of one side. */
  readonly engines: (service: Service, side: Side) => Properties;
  /** A listener of the edge with TLS, which callers then use; plain HTTP when absent. */
  readonly secure?: SecureListener;
  /** Folder of the code that starts first; this repository when absent. */
  readonly folder?: string;
}

export interface TwoOfEach {
  readonly edge: { readonly url: string; readonly folder: string };
  readonly instances: readonly Instance[];
  readonly administratorKey: string;
  /** Starts the code of another folder in place of an ended instance, and waits until it is ready. */
  replace(instance: Instance, folder: string): Promise<Instance>;
}

/**
 * Starts two instances of each service behind nginx, and a balancer for the internal listeners of each, as in a
 * cluster.
 */
export async function startTwoOfEach(options: TwoOfEachOptions): Promise<TwoOfEach> {
  const { keep, eventsUrl, shared, variables = {}, engines, folder = repositoryFolder, secure } = options;
  const { portOf, edge, internalUrls } = await openWays(keep, secure);
  const given = {
    ...shared,
    ...internalUrls,
    "internal.token": randomBytes(32).toString("base64url"),
    "secrets.keys": `k1:${randomBytes(32).toString("base64")}`,
    "http.base-url": edge.url,
    "http.trusted-proxies": "127.0.0.1",
  };
  const start = (service: Service, side: Side, code: string): Instance =>
    new Instance({
      name: `${service}-${side}`,
      service,
      script: join(code, "services", service, "src/main.ts"),
      args: [],
      environment: {
        ...variables,
        ...environmentOf({
          ...given,
          ...engines(service, side),
          "http.port": String(portOf(service, side, "http")),
          "internal.port": String(portOf(service, side, "internal")),
          "management.server.port": String(portOf(service, side, "management")),
        }),
      },
      url: `http://127.0.0.1:${portOf(service, side, "http")}`,
      managementUrl: `http://127.0.0.1:${portOf(service, side, "management")}`,
    });
  await runCommand(join(folder, "infra/kafka/topics.ts"), [`--events.url=${eventsUrl}`]);
  const instances = everyInstance((service, side) => start(service, side, folder));
  keep({ close: async () => void (await Promise.all(instances.map((one) => one.kill()))) });
  await Promise.all(instances.map((one) => one.ready()));
  const { environment = {} } = instances.find(({ program }) => program.service === "account")?.program ?? {};
  const administratorKey = await runCommand(join(folder, "services/account/src/first-key-cli.ts"), [], environment);
  return {
    edge,
    instances,
    administratorKey,
    async replace(former, code) {
      const [service, side] = [former.program.service as Service, former.name.endsWith("-1") ? 1 : 2] as const;
      const next = start(service, side, code);
      instances[instances.indexOf(former)] = next;
      await next.ready();
      return next;
    },
  };
}

const everyInstance = <T>(make: (service: Service, side: Side) => T): T[] =>
  services.flatMap((service) => sides.map((side) => make(service, side)));

/** Opens the ports of all instances, the edge, and a balancer for each internal listener. */
async function openWays(keep: Keep, secure: SecureListener | undefined) {
  const names = everyInstance((service, side) => listeners.map((listener) => `${service}-${side} ${listener}`)).flat();
  const ports = await freePorts(names);
  const portOf = (service: Service, side: Side, listener: Listener) =>
    ports.get(`${service}-${side} ${listener}`) as number;
  const upstreams = services.map((service) => [
    service,
    sides.map((side) => `127.0.0.1:${portOf(service, side, "http")}`),
  ]);
  const plain = keep(await startEdge(Object.fromEntries(upstreams), secure));
  const edge = { folder: plain.folder, url: secure ? `https://localhost:${secure.port}` : plain.url };
  const internalUrls: Record<string, string> = {};
  for (const service of called) {
    const balancer = keep(await startBalancer(sides.map((side) => portOf(service, side, "internal"))));
    internalUrls[`${service}.internal-url`] = `http://127.0.0.1:${balancer.port}`;
  }
  return { portOf, edge, internalUrls };
}
