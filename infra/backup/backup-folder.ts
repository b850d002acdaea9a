import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { link, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { PassThrough, Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import { createZstdCompress, createZstdDecompress } from "node:zlib";
import { Decrypter, Encrypter } from "age-encryption";

/** Bytes by their number and hash, in hex. */
export interface Digest {
  readonly bytes: number;
  readonly sha256: string;
}

/** A file of a backup: its size and hash on disk, and those of what it holds, which differ when it is encrypted. */
export interface BackupFile extends Digest {
  /** Path below the folder of the backup; it ends in `.age` when the file is encrypted. */
  readonly path: string;
  readonly content: Digest;
}

/** Keys of backups in the form of age (age-encryption.org/v1): anybody can encrypt for a recipient, its identity decrypts. */
export interface BackupKeys {
  readonly recipients: readonly string[];
  readonly identities: readonly string[];
}

/** The backup is damaged or incomplete. */
export class BackupDamaged extends Error {
  override readonly name = "BackupDamaged";
}

const encrypted = ".age";

export class BackupFolder {
  readonly path: string;
  /** Without recipients, what is written stays as it is. */
  readonly keys: BackupKeys;

  constructor(path: string, keys: BackupKeys) {
    this.path = path;
    this.keys = keys;
  }

  /** Writes a file from a source, encrypted if there are recipients, and syncs it to the disk. */
  async write(name: string, source: Readable): Promise<BackupFile> {
    const isEncrypted = this.keys.recipients.length > 0;
    const path = isEncrypted ? name + encrypted : name;
    const file = join(this.path, path);
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const [content, onDisk] = [countBytes(), countBytes()];
    const counted = content.through(source);
    const written = isEncrypted ? onDisk.through(await this.#encrypt(counted)) : counted;
    await pipeline(written, createWriteStream(file, { flags: "wx", mode: 0o600, flush: true }));
    const held = content.digest();
    return { path, ...(isEncrypted ? onDisk.digest() : held), content: held };
  }

  /** Writes a compressed file with the output of the work; returns the file and the result of the work. */
  async writeCompressed<T>(
    name: string,
    work: (target: Writable) => Promise<T>,
  ): Promise<{ readonly file: BackupFile; readonly result: T }> {
    const target = new PassThrough();
    const written = this.write(name, target.pipe(createZstdCompress()));
    const fail = (error: Error) => target.destroy(error);
    written.catch(fail);
    try {
      const result = await work(target);
      target.end();
      return { file: await written, result };
    } catch (error) {
      fail(error as Error);
      throw await written.then(
        () => error,
        (cause: unknown) => cause ?? error,
      );
    }
  }

  /** Takes over a file of another backup, which from then on both have; false where the disk cannot. */
  async linkFrom(other: BackupFolder, { path }: BackupFile): Promise<boolean> {
    const file = join(this.path, path);
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    return link(join(other.path, path), file).then(
      () => true,
      () => false,
    );
  }

  /** Reads what a file holds. A failure of the file fails the stream. @throws BackupDamaged without its identity */
  async read({ path }: BackupFile): Promise<Readable> {
    const stored = createReadStream(join(this.path, path));
    return path.endsWith(encrypted) ? this.#decrypt(stored) : stored;
  }

  /** Reads a file of `writeCompressed`. */
  async readCompressed(file: BackupFile): Promise<Readable> {
    const target = createZstdDecompress();
    pipeline(await this.read(file), target).catch((error: Error) => target.destroy(error));
    return target;
  }

  /** Compares a file with its size and hash, and what it holds where an identity is known. @throws BackupDamaged */
  async verify(file: BackupFile): Promise<void> {
    const { path } = file;
    await this.#compare(createReadStream(join(this.path, path)), file, path);
    if (!path.endsWith(encrypted) || this.keys.identities.length === 0) return;
    await this.#compare(await this.read(file), file.content, path);
  }

  async #compare(source: Readable, { bytes, sha256 }: Digest, path: string): Promise<void> {
    const counted = countBytes();
    try {
      for await (const _ of counted.through(source));
    } catch (error) {
      const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
      if (isMissing) throw new BackupDamaged(`${path} is missing in ${this.path}`);
      throw error;
    }
    const found = counted.digest();
    if (found.bytes !== bytes || found.sha256 !== sha256)
      throw new BackupDamaged(`${path} in ${this.path} is damaged: take another backup`);
  }

  async #encrypt(source: AsyncIterable<Buffer>): Promise<Readable> {
    const encrypter = new Encrypter();
    for (const recipient of this.keys.recipients) encrypter.addRecipient(recipient);
    return fromWeb(await encrypter.encrypt(toWeb(Readable.from(source))));
  }

  async #decrypt(source: Readable): Promise<Readable> {
    const { identities } = this.keys;
    if (identities.length === 0)
      throw new BackupDamaged(`${this.path} is encrypted: give its identity as backup.identities`);
    const decrypter = new Decrypter();
    for (const identity of identities) decrypter.addIdentity(identity);
    try {
      return fromWeb(await decrypter.decrypt(toWeb(source)));
    } catch (cause) {
      source.destroy();
      throw new BackupDamaged(`a file of ${this.path} cannot be decrypted with these identities`, { cause });
    }
  }
}

/** Counts and hashes what passes through. */
function countBytes() {
  const hash = createHash("sha256");
  let bytes = 0;
  return {
    async *through(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
      for await (const chunk of chunks) {
        hash.update(chunk);
        bytes += chunk.length;
        yield chunk as Buffer;
      }
    },
    digest: (): Digest => ({ bytes, sha256: hash.digest("hex") }),
  };
}

// The two declarations of the same web streams, Node's and the browser's, do not know each other.
const toWeb = (source: Readable) => Readable.toWeb(source) as unknown as globalThis.ReadableStream<Uint8Array>;
const fromWeb = (source: globalThis.ReadableStream<Uint8Array>) =>
  Readable.fromWeb(source as unknown as ReadableStream<Uint8Array>);
