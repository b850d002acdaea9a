import { randomUUID } from "node:crypto";
import { chmod, mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { homedir, platform } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Failure } from "./failures.ts";

/** A sign-in by a person. The refresh token is good once; each use gives the next one. */
export interface SignIn {
  readonly kind: "sign-in";
  readonly issuer: string;
  readonly clientId: string;
  readonly accessToken: string;
  readonly expiresAtMs: number;
  readonly refreshToken: string | null;
}

/** One deployment with a credential for it. */
export interface Profile {
  readonly url: string;
  readonly credential: SignIn | { readonly kind: "api-key"; readonly apiKey: string };
}

interface ProfileFile {
  readonly current: string;
  readonly profiles: Readonly<Record<string, Profile>>;
}

export const noProfiles: ProfileFile = { current: "default", profiles: {} };

export const profileName = /^[a-z0-9][a-z0-9._-]{0,63}$/i;

/** Returns the path of the profiles, by the rules of XDG. */
export function profilePath(environment: Readonly<Record<string, string | undefined>>): string {
  const { XDG_CONFIG_HOME: home } = environment;
  return join(home?.startsWith("/") ? home : join(homedir(), ".config"), "signalbox", "profiles.json");
}

export type Profiles = ReturnType<typeof createProfiles>;

/** Keeps the profiles in a file that only its owner can read. */
export function createProfiles(path: string) {
  return {
    path,
    read: () => readProfiles(path),

    /** Changes the file alone: another command waits. Returns what the change returned beside the new content. */
    async change<T>(make: (file: ProfileFile) => Promise<readonly [ProfileFile, T]>): Promise<T> {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const unlock = await lock(`${path}.lock`);
      try {
        const before = await readProfiles(path);
        const [after, result] = await make(before);
        if (after !== before) await writeProfiles(path, after);
        return result;
      } finally {
        await unlock();
      }
    },
  };
}

/** Returns the file with another content of one profile; null removes it. */
export function withProfile(file: ProfileFile, name: string, profile: Profile | null): ProfileFile {
  const { [name]: _before, ...others } = file.profiles;
  return { ...file, profiles: profile === null ? others : { ...others, [name]: profile } };
}

async function readProfiles(path: string): Promise<ProfileFile> {
  const found = await stat(path).catch(nullIfMissing);
  if (found === null) return noProfiles;
  if (platform() !== "win32" && (found.mode & 0o077) !== 0) {
    throw new Failure(`Other users may read ${path}, which holds credentials. Run: chmod 600 ${path}`);
  }
  try {
    const { current, profiles } = JSON.parse(await readFile(path, "utf8"));
    if (typeof current === "string" && typeof profiles === "object" && profiles !== null) return { current, profiles };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new Failure(`${path} is damaged. Remove it and run: signalbox login`);
}

/** Replaces the file in one step, so that a reader sees the old content or the new. */
async function writeProfiles(path: string, file: ProfileFile): Promise<void> {
  const next = `${path}.${randomUUID()}`;
  const handle = await open(next, "wx", 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(file, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  // A umask cannot widen the mode, and a strange one could have narrowed it.
  await chmod(next, 0o600);
  await rename(next, path);
}

/** Longer than a refresh takes: the lock of a killed command is removed afterwards. */
const staleLockMs = 30_000;
const lockStepMs = 50;

async function lock(path: string): Promise<() => Promise<void>> {
  for (;;) {
    const handle = await open(path, "wx", 0o600).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "EEXIST") return null;
      throw error;
    });
    if (handle !== null) {
      const { mtimeMs } = await handle.stat();
      await handle.close();
      return async () => {
        // Only its own: another command may have judged this one dead.
        if ((await stat(path).catch(nullIfMissing))?.mtimeMs === mtimeMs) await rm(path, { force: true });
      };
    }
    const found = await stat(path).catch(nullIfMissing);
    if (found !== null && (await ageOf(found.mtimeMs, `${path}.${randomUUID()}`)) > staleLockMs) {
      await rm(path, { force: true });
    } else {
      await sleep(lockStepMs);
    }
  }
}

/** Returns the age of a file by the clock of its file system, which may be another machine's. */
async function ageOf(mtimeMs: number, probe: string): Promise<number> {
  const handle = await open(probe, "wx", 0o600);
  const { mtimeMs: nowMs } = await handle.stat();
  await handle.close();
  await rm(probe, { force: true });
  return nowMs - mtimeMs;
}

function nullIfMissing(error: NodeJS.ErrnoException): null {
  // A folder on the way that is a file holds nothing either.
  if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
  throw error;
}
