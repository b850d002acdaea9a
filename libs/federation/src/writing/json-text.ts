/** So many pieces are joined at once: the list stays small, and a text of few long parts is read quickly. */
const piecesMax = 512;

/**
 * JSON in the making. Pieces are kept apart until there are many: joined one by one, each would cost an object of its own. What has
 * turned out to be null is cut off again.
 */
export class JsonText {
  /** How long it is, in characters. */
  length = 0;
  #joined = "";
  /** The first of them count; what stands behind was joined or cut off. */
  readonly #pieces: string[] = [];
  #count = 0;

  add(piece: string): void {
    if (this.#count === piecesMax) this.#join();
    this.#pieces[this.#count++] = piece;
    this.length += piece.length;
  }

  /** Takes back what came after it was that long. */
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
