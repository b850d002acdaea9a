import type { FieldNode, GraphQLFormattedError } from "graphql";
import type { ErrorMarks, Path } from "../running/missing.ts";
import type { Loss } from "../running/subgraph-port.ts";
import { JsonText } from "./json-text.ts";

/** A null that a loss has left in the answer. */
interface Lost {
  readonly loss: Loss;
  path: Path;
}

/** What is known of an answer while it is written: where the writing is, and what went wrong. */
export class Answer {
  readonly marks: ErrorMarks;
  /** The path of what is being written, by the client's names. */
  readonly path: (string | number)[] = [];
  /** What is written of it. */
  readonly text = new JsonText();
  /** How many objects there are. */
  objects = 0;
  readonly #errors: GraphQLFormattedError[] = [];
  readonly #lost: Lost[] = [];
  /** One loss for all values of a subgraph that are not what they should be. */
  readonly #flaws = new Map<string, Loss>();

  /** Answers `__schema` and `__type`. */
  readonly introspect: (field: FieldNode) => unknown;

  constructor(marks: ErrorMarks, introspect: (field: FieldNode) => unknown) {
    this.marks = marks;
    this.introspect = introspect;
  }

  /** An error of a subgraph, which says itself what it is about. */
  tell(error: GraphQLFormattedError, rest: Path): void {
    this.#errors.push({ ...error, path: [...this.path, ...rest] });
  }

  lose(loss: Loss): void {
    this.#lost.push({ loss, path: [...this.path] });
  }

  /** A value that its type does not allow, or that may not be missing. */
  flaw(subgraph: string, reason: string): void {
    const known = this.#flaws.get(subgraph);
    const loss = known ?? { code: "INTERNAL", subgraph, reason };
    this.#flaws.set(subgraph, loss);
    this.lose(loss);
  }

  get lossCount(): number {
    return this.#lost.length;
  }

  /** What was lost below here has cost this object, or list: the client finds null here. */
  absorb(lossCount: number): void {
    for (const lost of this.#lost.slice(lossCount)) lost.path = [...this.path];
  }

  get flawedSubgraphs(): readonly string[] {
    return [...this.#flaws.keys()];
  }

  /** All errors: one for each null that a loss has left, and those of the subgraphs. */
  get errors(): GraphQLFormattedError[] {
    const errors = [...this.#errors];
    const seen = new Set(errors.map(({ path }) => path?.join()));
    for (const { loss, path } of this.#lost) {
      const place = path.join();
      if (!seen.has(place)) errors.push({ message: loss.reason, path, extensions: { code: loss.code, loss } });
      seen.add(place);
    }
    return errors;
  }
}
