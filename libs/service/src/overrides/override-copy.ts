import { hkdfSync } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { FlagDefinition } from "@signalbox/contracts";
import { randomId } from "@signalbox/core";
import type { OverrideChange, OverrideSet } from "@signalbox/runtime";
import { createSealer, type Sealer } from "@signalbox/storage";
import { z } from "zod";
import type { FlagSet } from "../flags/flag-set.ts";

/** A change with the secrecy of its property, which decides how it is stored. */
export interface ClassifiedChange extends OverrideChange {
  readonly secrecy: "public" | "internal" | "sensitive";
}

export interface ClassifiedOverrides extends OverrideSet {
  readonly changes: Readonly<Record<string, ClassifiedChange>>;
  readonly flags: readonly ReturnType<FlagSet["entries"]>[number][];
}

/** The overrides of the last run, for a start while the event log is away. */
export interface OverrideCopy {
  /** Reads the copy; null when there is none, or none that is readable. */
  read(): Promise<ClassifiedOverrides | null>;
  /** Replaces the copy atomically: a reader, or a start after a crash, finds the old or the new one. */
  write(overrides: ClassifiedOverrides): Promise<void>;
}

interface Place {
  /** The process that owns it. */
  readonly service: string;
  readonly directory: string;
  /** The keys that seal sensitive values; without one these are left out. */
  readonly keys: readonly string[];
}

const Change = z.object({ revision: z.int().positive(), set: z.boolean() });
const Copy = z.object({
  revision: z.int().nonnegative(),
  changes: z.record(
    z.string(),
    z.union([
      z.object({ ...Change.shape, secrecy: z.enum(["public", "internal"]), value: z.json() }),
      z.object({ ...Change.shape, secrecy: z.literal("sensitive"), sealed: z.string() }),
    ]),
  ),
  flags: z
    .array(z.object({ key: z.string(), revision: z.int().positive(), definition: FlagDefinition.nullable() }))
    .default([]),
});
type Copy = z.output<typeof Copy>;

/** Keeps the overrides in a file that only this user can read. */
export function createOverrideCopy({ service, directory, keys }: Place): OverrideCopy {
  const folder = resolve(directory);
  const path = join(folder, `overrides.${service}.json`);
  const sealer = keys.length > 0 ? createSealer(keys) : null;
  const placeOf = (name: string) => ({ service, table: "overrides", row: name });

  return {
    async read() {
      const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return null;
        throw error;
      });
      if (text === null) return null;
      const { revision, changes, flags } = Copy.parse(JSON.parse(text));
      const opened = Object.entries(changes).map(([name, change]) => [name, open(change, sealer, placeOf(name))]);
      return { revision, changes: Object.fromEntries(opened), flags };
    },

    async write({ revision, changes, flags }) {
      const sealed = Object.entries(changes).flatMap(([name, change]) => {
        const kept = seal(change, sealer, placeOf(name));
        return kept === null ? [] : [[name, kept]];
      });
      const copy = { revision, changes: Object.fromEntries(sealed), flags: [...flags] } satisfies Copy;
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const draft = `${path}.${randomId("draft")}`;
      await writeFile(draft, `${JSON.stringify(copy, null, 2)}\n`, { mode: 0o600, flag: "wx" });
      await rename(draft, path);
    },
  };
}

/** Returns the keys that seal a service's copy: its own, or one derived from the shared token. */
export function copyKeysOf(configuration: { knows(name: string): boolean; get(name: string): unknown }): string[] {
  if (configuration.knows("secrets.keys")) return configuration.get("secrets.keys") as string[];
  if (!configuration.knows("internal.token")) return [];
  return (configuration.get("internal.token") as string[]).map((token) => {
    const made = (purpose: string, bytes: number) =>
      Buffer.from(hkdfSync("sha256", token, "", `signalbox override copy ${purpose}`, bytes));
    return `${made("id", 8).toString("hex")}:${made("key", 32).toString("base64")}`;
  });
}

type Kept = Copy["changes"][string];
type SealedPlace = Parameters<Sealer["seal"]>[1];

function seal(change: ClassifiedChange, sealer: Sealer | null, place: SealedPlace): Kept | null {
  const { revision, set, secrecy, value } = change;
  if (secrecy !== "sensitive") return { revision, set, secrecy, value: (value ?? null) as never };
  if (sealer === null) return null;
  return { revision, set, secrecy, sealed: sealer.seal(JSON.stringify(value ?? null), place) };
}

function open(kept: Kept, sealer: Sealer | null, place: SealedPlace): ClassifiedChange {
  if (kept.secrecy !== "sensitive") return kept;
  if (sealer === null) throw new Error(`the override of ${place.row} is sealed and there is no key`);
  const { sealed, ...change } = kept;
  return { ...change, value: JSON.parse(sealer.open(sealed, place).toString("utf8")) };
}
