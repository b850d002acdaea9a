import type { FieldNode, GraphQLFormattedError } from "graphql";
import type { ErrorMarks, Path } from "../subgraphs/missing.ts";
import type { Loss } from "../subgraphs/subgraph-port.ts";
import { JsonText } from "./json-text.ts";

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
  /** The text so far. */
  readonly text = new JsonText();
  /** Number of objects written. */
  objects = 0;
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
