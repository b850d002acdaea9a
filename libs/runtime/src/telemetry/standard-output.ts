import { writeSync } from "node:fs";
import { KiB } from "@signalbox/core";

export interface LogDestination {
  write(line: string): void;
  flush?(): void;
}

let opened: LogDestination | undefined;

/**
 * Creates the standard output of a whole process: two writers would cut each other's lines in half when a pipe accepts
 * only part of one. The lines of one turn of the event loop are one write, in order, and a flush leaves nothing behind.
 */
export function standardOutput(): LogDestination {
  opened ??= createBatchingOutput((bytes) => writeSync(1, bytes));
  return opened;
}

const heldMax = 64 * KiB;

function createBatchingOutput(write: (bytes: Buffer) => number): LogDestination {
  let held = "";
  let isScheduled = false;
  const flush = () => {
    isScheduled = false;
    const text = held;
    held = "";
    if (text !== "") writeAll(write, Buffer.from(text));
  };
  return {
    write: (line) => {
      held += line;
      if (held.length >= heldMax) flush();
      else if (!isScheduled) {
        isScheduled = true;
        setImmediate(flush);
      }
    },
    flush,
  };
}

function writeAll(write: (bytes: Buffer) => number, bytes: Buffer): void {
  let rest = bytes;
  while (rest.length > 0) {
    try {
      rest = rest.subarray(write(rest));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // The reader is slow and the pipe does not block: wait a moment rather than spin.
      if (code === "EAGAIN") Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
      // The reader is gone; losing lines is better than ending the process for them.
      else if (code === "EPIPE" || code === "EBADF" || code === "EIO") return;
      else throw error;
    }
  }
}
