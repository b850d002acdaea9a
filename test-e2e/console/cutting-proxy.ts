import { connect, createServer, type Socket } from "node:net";

/** A way to a deployment that breaks off and is mended by hand. */
export interface CuttingProxy {
  /** Breaks every connection, and refuses others. */
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

/** Listens on a port and passes every byte on to another one of this machine. */
export async function startCuttingProxy(port: number, target: number): Promise<CuttingProxy> {
  const open = new Set<Socket>();
  let isCut = false;
  const server = createServer((from) => {
    if (isCut) return void from.destroy();
    const to = connect(target, "127.0.0.1");
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      open.add(one);
      one.pipe(other);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        open.delete(one);
        other.destroy();
      });
    }
  });
  // A browser may take `localhost` for either address.
  await new Promise<void>((resolve) => server.listen(port, "::", resolve));
  const cut = () => {
    isCut = true;
    for (const socket of open) socket.destroy();
  };
  return {
    cut,
    mend() {
      isCut = false;
    },
    close: () => {
      cut();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
