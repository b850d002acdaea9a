import { connect } from "node:net";
import process from "node:process";

/**
 * Run by `config-system.ts`: many followers of a stream in a process of their own, as plain sockets, which take little
 * memory.
 */
const [url = "", count = "0", authorization = ""] = process.argv.slice(2);
const { hostname, port, pathname } = new URL(url);
const request = `GET ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: ${authorization}\r\nAccept: text/event-stream\r\n\r\n`;
const openAtOnce = 200;

let wanted: { readonly text: string; readonly fromMs: number } | null = null;
let tookMs: number[] = [];

function open(): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect(Number(port), hostname, () => socket.write(request));
  socket.setEncoding("latin1").on("error", reject);
  socket.on("close", () => reject(new Error("a stream has ended")));
  socket.on("data", (data: string | Buffer) => {
    const text = String(data);
    if (text.includes(": connected")) resolve();
    if (wanted === null || !text.includes(wanted.text)) return;
    tookMs.push(performance.now() - wanted.fromMs);
    if (tookMs.length < Number(count)) return;
    process.send?.(tookMs);
    wanted = null;
  });
  return promise;
}

process.on("message", (text: string) => {
  wanted = { text, fromMs: performance.now() };
  tookMs = [];
  process.send?.("ready");
});
for (let left = Number(count); left > 0; left -= openAtOnce)
  await Promise.all(Array.from({ length: Math.min(openAtOnce, left) }, open));
process.send?.("opened");
process.on("disconnect", () => process.exit(0));
