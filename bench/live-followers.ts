/** Run by `live.ts`: many subscribers in a process of their own, each on a connection of its own. */
const [url = "", query = ""] = process.argv.slice(2);
const openAtOnce = 100;

interface Opened {
  readonly tokens: readonly string[];
  readonly each: number;
}

/** A change carries its publishing time, so that no look-up is needed. */
let tookMs: number[] = [];
let opened = 0;

function open(token: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = new WebSocket(url, "graphql-transport-ws");
  socket.addEventListener("open", () =>
    socket.send(JSON.stringify({ type: "connection_init", payload: { authorization: `Bearer ${token}` } })),
  );
  socket.addEventListener("error", reject);
  socket.addEventListener("close", ({ code }) => reject(new Error(`a connection was closed with ${code}`)));
  socket.addEventListener("message", ({ data }) => {
    const text = String(data);
    if (text.includes('"connection_ack"')) {
      socket.send(JSON.stringify({ id: "1", type: "subscribe", payload: { query } }));
      opened++;
      resolve();
    } else if (text.includes('"next"')) {
      const fromMs = Number(/"changed":\["(\d+(?:\.\d+)?)"/.exec(text)?.[1]);
      tookMs.push(performance.timeOrigin + performance.now() - fromMs);
    } else if (text.includes('"ping"')) socket.send('{"type":"pong"}');
    else throw new Error(`a subscription has ended: ${text}`);
  });
  return promise;
}

process.on("message", async (message: Opened | "report") => {
  if (message === "report") {
    process.send?.({ tookMs });
    tookMs = [];
    return;
  }
  const all = message.tokens.flatMap((token) => Array<string>(message.each).fill(token));
  for (let at = 0; at < all.length; at += openAtOnce) await Promise.all(all.slice(at, at + openAtOnce).map(open));
  process.send?.({ opened });
});
