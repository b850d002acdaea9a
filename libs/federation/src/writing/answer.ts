import type { FieldNode, GraphQLFormattedError } from "graphql";
import type { ErrorMarks, Path } from "../subgraphs/missing.ts";
import type { Loss } from "../subgraphs/subgraph-port.ts";

/** A field that a loss has cost, which may have made an object around it null. */
interface Lost {
  readonly loss: Loss;
  readonly path: Path;
}

/** The state of an answer while it is written: the present path, and the errors. */
export class Answer {
  readonly marks: ErrorMarks;
  /** Path of the value that is being written, in the client's names. */
  readonly path: (string | number)[] = [];
  readonly text = new JsonText();
  objects = 0;
  /** Number of objects that describe the schema. */
  introspected = 0;
  readonly #errors: GraphQLFormattedError[] = [];
  readonly #lost: Lost[] = [];
  /** One loss for all invalid values of a subgraph. */
  readonly #flaws = new Map<string, Loss>();

  /** Resolves `__schema` and `__type`. */
  readonly introspect: (field: FieldNode) => unknown;

  constructor(marks: ErrorMarks, introspect: (field: FieldNode) => unknown) {
    this.marks = marks;
    this.introspect = introspect;
  }

  /** Adds an error of a subgraph, which has its own message. */
  addError(error: GraphQLFormattedError, rest: Path): void {
    const path = [...this.path, ...rest];
    const { path: _path, ...pathless } = error;
    // An error of the whole operation has no path: an empty one names no field.
    this.#errors.push(path.length === 0 ? pathless : { ...error, path });
  }

  lose(loss: Loss): void {
    this.#lost.push({ loss, path: [...this.path] });
  }

  /** Reports a value that its type does not allow, or that must not be missing. */
  flaw(subgraph: string, reason: string): void {
    const known = this.#flaws.get(subgraph);
    const loss = known ?? { code: "INTERNAL", subgraph, reason };
    this.#flaws.set(subgraph, loss);
    this.lose(loss);
  }

  get lossCount(): number {
    return this.#lost.length;
  }

  /**
   * The last loss since then has made this object, or list, null. It is reported for all of them at its own path: the
   * others lost fields that the client no longer sees.
   */
  absorb(lossCount: number): void {
    this.#lost.splice(lossCount, Math.max(0, this.#lost.length - lossCount - 1));
  }

  get flawedSubgraphs(): readonly string[] {
    return [...this.#flaws.keys()];
  }

  /** Returns all errors: one for each null that a loss has caused, at the field at fault, and those of the subgraphs. */
  get errors(): GraphQLFormattedError[] {
    const errors = [...this.#errors];
    const seen = new Set(errors.map(({ path }) => path?.join()));
    for (const { loss, path } of this.#lost) {
      const place = path.join();
      const where = path.length === 0 ? {} : { path };
      if (!seen.has(place)) errors.push({ message: loss.reason, ...where, extensions: { code: loss.code, loss } });
      seen.add(place);
    }
    return errors;
  }
}

/** Number of pieces that are joined at once: the list stays small, and a text of few long parts is fast to read. */
const piecesMax = 512;

/**
 * JSON text under construction. Pieces stay separate until there are many: joined one by one, each would cost an object
 * of its own. A part that turns out to be null is cut off again.
 */
export class JsonText {
  /** Length in characters. */
  length = 0;
  #joined = "";
  /** Only the first `#count` are valid; those behind were joined or cut off. */
  readonly #pieces: string[] = [];
  #count = 0;

  add(piece: string): void {
    if (this.#count === piecesMax) this.#join();
    this.#pieces[this.#count++] = piece;
    this.length += piece.length;
  }

  /** Cuts the text back to this length. */
  cut(length: number): void {
    while (this.length > length && this.#count > 0) this.length -= this.#pieces[--this.#count]?.length ?? 0;
    if (this.length > length) this.#joined = this.#joined.slice(0, length);
    this.length = length;
  }

  toString(): string {
    this.#join();
    return this.#joined;
  }

  #join(): void {
    this.#joined += this.#pieces.slice(0, this.#count).join("");
    this.#count = 0;
  }
}
