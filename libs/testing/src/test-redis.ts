import { connect } from "node:net";
import { endpointOf } from "./test-engines.ts";

export interface TestRedis {
  /** Includes the number of an empty database for this test. */
  readonly url: string;
}

/** The number that `infra/engines/redis` sets up; number 0 counts the used ones. */
const databases = 4096;

/** Reserves an empty database of the shared Redis. After 4,095 of them, the oldest is emptied and reused. */
export async function testRedis(): Promise<TestRedis> {
  const { url } = await endpointOf("redis");
  const { hostname, port } = new URL(url);
  const count = Number((await command(hostname, Number(port), "INCR signalbox:test-databases")).slice(1));
  const database = 1 + (count % (databases - 1));
  await command(hostname, Number(port), `SELECT ${database}\r\nFLUSHDB`);
  return { url: `${url}/${database}` };
}

/** Inline commands of the Redis protocol, one answer line each. */
function command(host: string, port: number, text: string): Promise<string> {
  const expected = text.split("\r\n").length;
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect({ host, port }, () => socket.write(`${text}\r\n`));
    socket.setTimeout(5_000, () => socket.destroy(new Error(`Redis on ${host}:${port} does not answer`)));
    socket.once("error", reject);
    socket.on("data", (bytes) => {
      answer += bytes.toString();
      if (/(^|\n)-/.test(answer)) socket.destroy(new Error(`Redis refuses ${text}: ${answer}`));
      else if (answer.split("\r\n").length > expected) {
        socket.end();
        resolve(answer.trim());
      }
    });
  });
}
