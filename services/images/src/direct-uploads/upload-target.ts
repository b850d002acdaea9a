import type { Readable } from "node:stream";
import type { DigestCheck } from "../uploads/expect-digest.ts";
import type { DirectUpload } from "./direct-upload.ts";

/** How a client sends the bytes of an upload. */
export interface SendingTerms {
  readonly method: "PATCH" | "PUT";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Where the bytes of uploads wait until they are judged. */
export interface UploadTarget {
  /** What the client is told; the URL is of use until the upload expires. */
  termsOf(upload: DirectUpload, now: Date): SendingTerms;
  /** Bytes that have arrived. */
  receivedOf(upload: DirectUpload): Promise<number>;
  /** The bytes that have arrived; null when there are none. */
  read(upload: DirectUpload): Promise<Readable | null>;
  /** Removing what is not there is fine. */
  remove(upload: DirectUpload): Promise<void>;
  /** Takes a piece. Absent where the bytes go past this service. */
  readonly append?: (upload: DirectUpload, piece: Piece) => Promise<Appended>;
}

/** Some bytes of an upload, as a request brings them. */
export interface Piece {
  /** How many bytes come before it. */
  readonly offset: number;
  readonly source: Readable;
  /** A piece that fails it is dropped. */
  readonly digest: DigestCheck;
}

export type Appended =
  | { readonly outcome: "appended"; readonly received: number }
  /** So many bytes are there: the piece belongs elsewhere, or another request was quicker. */
  | { readonly outcome: "other-offset"; readonly received: number };
