import { connect } from "node:net";

/**
 * Run by `config.ts`: many followers of a stream in a process of their own, as plain sockets, which take little memory.
 */
const [url = "", count = "0", authorization = ""] = process.argv.slice(2);
const { hostname, port, pathname } = new URL(url);
const request = `GET ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: ${authorization}\r\nAccept: text/event-stream\r\n\r\n`;
const openAtOnce = 200;

interface Wanted {
  readonly text: string;
  readonly tookMs: number[];
  readonly fromMs: number;
}

let wanted: Wanted | null = null;
let opened = 0;

function open(): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect(Number(port), hostname, () => socket.write(request));
  let isOpen = false;
  socket.setEncoding("latin1").on("error", reject);
  socket.on("close", () => reject(new Error("a stream has ended")));
  socket.on("data", (text: string | Buffer) => {
    if (!isOpen && String(text).includes(": connected")) {
      isOpen = true;
      opened++;
      resolve();
    }
    if (wanted === null || !String(text).includes(wanted.text)) return;
    wanted.tookMs.push(performance.timeOrigin + performance.now() - wanted.fromMs);
    if (wanted.tookMs.length < opened) return;
    process.send?.({ tookMs: wanted.tookMs });
    wanted = null;
  });
  return promise;
}

process.on("message", ({ text }: { text: string }) => {
  wanted = { text, tookMs: [], fromMs: performance.timeOrigin + performance.now() };
  process.send?.({ ready: true });
});
for (let left = Number(count); left > 0; left -= openAtOnce) {
  await Promise.all(Array.from({ length: Math.min(openAtOnce, left) }, open));
}
process.send?.({ opened });
